package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	supabase "github.com/supabase-community/supabase-go"
)

// A client is made for each person: signing in changes it.
func TestSignIn_SupabaseGoWorksUnchanged(t *testing.T) {
	t.Parallel()
	email := "rep@" + skeinwick + ".example"
	client, err := supabase.NewClient(doorstep.url, "sb_publishable_e2e", nil)
	if err != nil {
		t.Fatal(err)
	}
	session, err := client.SignInWithEmailPassword(email, doorstep.password(email))
	if err != nil {
		t.Fatal(err)
	}
	client.UpdateAuthSession(session)
	user, err := client.Auth.GetUser()
	if err != nil || user.Email != email || user.ID != session.User.ID {
		t.Errorf("user %+v, %v", user, err)
	}
	refreshed, err := client.RefreshToken(session.RefreshToken)
	if err != nil || refreshed.AccessToken == "" || refreshed.RefreshToken == session.RefreshToken {
		t.Fatalf("refreshed %v, swapped %v", err, refreshed.RefreshToken != session.RefreshToken)
	}
	doorstep.told.add(session.AccessToken, refreshed.AccessToken)
	rep := person{t: t, server: doorstep, email: email, brand: skeinwick, token: refreshed.AccessToken}
	if a := rep.ask("What is the monthly fee for Threadlight 300?"); a.Outcome != "answered" {
		t.Errorf("outcome %s", a.Outcome)
	}
	client.UpdateAuthSession(refreshed)
	if err := client.Auth.Logout(); err != nil {
		t.Fatal(err)
	}
	if _, err := client.RefreshToken(refreshed.RefreshToken); err == nil {
		t.Error("a refresh token outlives its session")
	}
	fresh, err := supabase.NewClient(doorstep.url, "sb_publishable_e2e", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []struct{ email, password string }{
		{email, "wrong"}, {"nobody@" + skeinwick + ".example", doorstep.password(email)},
	} {
		if _, err := fresh.SignInWithEmailPassword(wrong.email, wrong.password); err == nil || !strings.Contains(err.Error(), "invalid_credentials") {
			t.Errorf("sign in %s: %v", wrong.email, err)
		}
	}
}

func TestTokens_OnlyAGenuineOneIsTaken(t *testing.T) {
	t.Parallel()
	rep := doorstep.rep(t, glowmere)
	key := signingKey(t)
	stranger, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	nothing := func(map[string]any) {}
	claim := func(name string, value any) func(map[string]any) {
		return func(claims map[string]any) { claims[name] = value }
	}
	bearer := func(token string) string { return "Authorization: Bearer " + token }
	if r := rep.get("/v1/reindex/x", bearer(forge(t, rep.token, jwt.SigningMethodES256, key, nothing))); r.status != http.StatusNotFound {
		t.Fatalf("the test can't sign as the server does: %d %s", r.status, r.body)
	}
	for _, c := range []struct{ name, header string }{
		{"none", "Authorization:"},
		{"not a token", bearer("lantern")},
		{"another scheme", "Authorization: Basic " + rep.token},
		{"cut off", bearer(rep.token[:len(rep.token)-2])},
		{"a claim changed after signing", bearer(swapPayload(t, rep.token))},
		{"signed with another key", bearer(forge(t, rep.token, jwt.SigningMethodES256, stranger, nothing))},
		{"not signed", bearer(forge(t, rep.token, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, nothing))},
		{"HS256, which is not switched on", bearer(forge(t, rep.token, jwt.SigningMethodHS256, []byte("secret"), nothing))},
		{"expired", bearer(forge(t, rep.token, jwt.SigningMethodES256, key, claim("exp", now.Add(-time.Hour).Unix())))},
		{"not valid yet", bearer(forge(t, rep.token, jwt.SigningMethodES256, key, claim("nbf", now.Add(time.Hour).Unix())))},
		{"of another issuer", bearer(forge(t, rep.token, jwt.SigningMethodES256, key, claim("iss", "https://auth.example/auth/v1")))},
		{"for another audience", bearer(forge(t, rep.token, jwt.SigningMethodES256, key, claim("aud", "anon")))},
		{"of another role", bearer(forge(t, rep.token, jwt.SigningMethodES256, key, claim("role", "service_role")))},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rep.with(t).post("/v1/ask", `{"question":"How much is Hearthfix 12?"}`, c.header)
			r.want(t, http.StatusUnauthorized, "unauthenticated")
			if r.header.Get("WWW-Authenticate") != "Bearer" {
				t.Error("no WWW-Authenticate")
			}
		})
	}
	for _, path := range []string{"/v1/ask?access_token=" + rep.token, "/v1/ask?apikey=" + rep.token} {
		rep.post(path, `{"question":"How much is Hearthfix 12?"}`, "Authorization:").want(t, http.StatusUnauthorized, "unauthenticated")
	}
}

// What the token says of the brand only informs: the tables decide.
func TestTokens_ABrandInTheTokenGivesNothing(t *testing.T) {
	t.Parallel()
	theirs := doorstep.text(t, `select id::text from app.tenants where slug = $1`, skeinwick)
	rep := doorstep.rep(t, glowmere)
	rep.token = forge(t, rep.token, jwt.SigningMethodES256, signingKey(t), func(claims map[string]any) {
		claims["app_metadata"] = map[string]any{"tenant_id": theirs, "role": "admin"}
	})
	doorstep.told.add(rep.token)
	rep.post("/v1/ask", `{"question":"What is the monthly fee for Threadlight 300?"}`).want(t, http.StatusForbidden, "not_a_member")
	rep.get("/v1/review/stale").want(t, http.StatusForbidden, "not_a_member")
}

func TestTokens_SomebodyOfNoBrandGetsNothing(t *testing.T) {
	t.Parallel()
	doorstep.setPassword("stranger@nobody.example", "a-long-pass-phrase")
	doorstep.mustRun(t, "user", "add", "stranger@nobody.example", "--password=a-long-pass-phrase")
	stranger := doorstep.signIn(t, "", "stranger@nobody.example")
	stranger.post("/v1/ask", `{"question":"How much is Hearthfix 12?"}`).want(t, http.StatusForbidden, "not_a_member")
	stranger.post("/v1/reindex", `{"all":true}`).want(t, http.StatusForbidden, "not_a_member")
	stranger.get("/v1/review/stale").want(t, http.StatusForbidden, "not_a_member")
}

// signingKey is the key that the server made beside its data; nobody else may read it.
func signingKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	path := filepath.Join(doorstep.data, "auth-es256.pem")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the signing key has mode %o", info.Mode().Perm())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	key, err := jwt.ParseECPrivateKeyFromPEM(text)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// forge signs the claims of a genuine token anew, after a change.
func forge(t *testing.T, token string, method jwt.SigningMethod, key any, change func(map[string]any)) string {
	t.Helper()
	claims := jwt.MapClaims{}
	genuine, _, err := jwt.NewParser(jwt.WithJSONNumber()).ParseUnverified(token, claims)
	if err != nil {
		t.Fatal(err)
	}
	change(claims)
	forged := jwt.NewWithClaims(method, claims)
	forged.Header["kid"] = genuine.Header["kid"]
	text, err := forged.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// swapPayload keeps header and signature and makes the token live longer.
func swapPayload(t *testing.T, token string) string {
	t.Helper()
	parts := strings.Split(token, ".")
	payload, err := jwt.NewParser().DecodeSegment(parts[1])
	if err != nil {
		t.Fatal(err)
	}
	var claims map[string]json.RawMessage
	decode(t, string(payload), &claims)
	claims["exp"] = json.RawMessage("4102444800")
	parts[1] = (&jwt.Token{}).EncodeSegment([]byte(encode(t, claims)))
	return strings.Join(parts, ".")
}
