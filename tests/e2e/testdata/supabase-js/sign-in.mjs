// Signs in, refreshes, asks and signs out as a web app with the official client does, and prints what
// came of it as one JSON object. Node 20 has no WebSocket of its own, which the client insists on.
import { createClient } from "@supabase/supabase-js";
import ws from "ws";

const { SUPABASE_URL: url, EMAIL: email, PASSWORD: password, QUESTION: question } = process.env;
const options = { auth: { persistSession: false, autoRefreshToken: false }, realtime: { transport: ws } };
const client = createClient(url, "sb_publishable_e2e", options);

const need = ({ data, error }, step) => {
  if (error) throw new Error(`${step}: ${error.code ?? error.message}`);
  return data;
};

const signedIn = need(await client.auth.signInWithPassword({ email, password }), "sign in");
const user = need(await client.auth.getUser(), "user").user;
const claims = need(await client.auth.getClaims(), "claims").claims;
const refreshed = need(await client.auth.refreshSession(), "refresh");

const response = await fetch(`${url}/v1/ask`, {
  method: "POST",
  headers: {
    Accept: "application/json",
    Authorization: `Bearer ${refreshed.session.access_token}`,
    "Content-Type": "application/json",
  },
  body: JSON.stringify({ question }),
});
const answer = await response.json();

need(await client.auth.signOut(), "sign out");
const again = await client.auth.refreshSession({ refresh_token: refreshed.session.refresh_token });
const wrong = await createClient(url, "sb_publishable_e2e", options).auth.signInWithPassword({ email, password: "wrong" });

console.log(JSON.stringify({
  email: user.email,
  role: claims.app_metadata.tenant_role,
  swapped: refreshed.session.refresh_token !== signedIn.session.refresh_token,
  outcome: answer.outcome,
  answer: answer.answer,
  afterSignOut: again.error?.code ?? null,
  wrongPassword: wrong.error?.code ?? null,
}));
