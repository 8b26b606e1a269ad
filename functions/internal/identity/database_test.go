package identity

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"porchlight/functions/local/postgres"
)

// sqlClaims is what the database reads out of the claims that it is handed.
type sqlClaims struct{ user, role, tenant string }

// agreed are texts of JSON that stand in a payload: members before those of a good payload, and the value
// of its app_metadata. What one parser reads in them and another does not must not come through.
var agreed = []struct{ members, metadata string }{
	{``, `{"tenant_id":"11111111-1111-1111-1111-111111111111"}`},
	{``, `{}`},
	{``, `null`},
	{``, `[]`},
	{``, `"tenant_id"`},
	{``, `{"tenant_id":null}`},
	{``, `{"tenant_id":""}`},
	{``, `{"tenant_id":7}`},
	{``, `{"tenant_id":true}`},
	{``, `{"tenant_id":["11111111-1111-1111-1111-111111111111"]}`},
	{``, `{"tenant_id":{"a":"b"}}`},
	{``, `{"tenant_id":"a","tenant_id":"b"}`},
	{``, `{"tenant_id":"a","Tenant_Id":"b"}`},
	{``, `{"tenant\u005fid":"a"}`},
	{``, `{"tenant_id":"a\u0000b"}`},
	{``, `{"tenant_id":"\ud800"}`},
	{``, `{"tenant_id":"\ud83d\ude00 é é \u2028 \\ \" '"}`},
	{``, `{"tenant_id":" a "}`},
	{``, `{"a":{"tenant_id":"b"}}`},
	{`"sub":"22222222-2222-2222-2222-222222222222"`, `{}`},
	{`"Sub":"22222222-2222-2222-2222-222222222222"`, `{}`},
	{`"role":"service_role"`, `{}`},
	{`"ROLE":"service_role"`, `{}`},
	{`"rol\u0065":"service_role"`, `{}`},
	{`"role ":"service_role"`, `{}`},
	{`"":"service_role"`, `{}`},
	{`"app_metadata":{"tenant_id":"b"}`, `{"tenant_id":"a"}`},
	{`"APP_METADATA":{"tenant_id":"b"}`, `{"tenant_id":"a"}`},
	{`"user_metadata":{"tenant_id":"b","role":"service_role","sub":"x"}`, `{"tenant_id":"a"}`},
	{`"x":1e308`, `{}`},
	{`"x":1e309`, `{}`},
	{`"x":1e-400`, `{}`},
	{`"x":-0.0000000000000000000000000000000000000000001`, `{}`},
	{`"x":9007199254740993`, `{"tenant_id":"a"}`},
	{`"x":[[[[[[[["deep"]]]]]]]]`, `{"tenant_id":"a"}`},
	{`"x":"\u2028\ufeff\ufffe"`, `{"tenant_id":"a"}`},
	{`"x\u0000":1`, `{}`},
	{`"\ud800":1,"\ud801":2`, `{}`},
	{`"x":"</script>&"`, `{"tenant_id":"<b>"}`},
	{` "y" : [ true , null ] `, ` { "tenant_id" : "a" } `},
}

// Go and Postgres read the same person, role and brand out of every payload that Go lets pass.
func FuzzRead_PostgresReadsTheSameClaims(f *testing.F) { // J3 of the threat table
	conn := openDatabase(f)
	v := newTestVerifier(f, "https://project.example/jwks", newClock())
	good := encode(claims(map[string]any{"app_metadata": nil, "user_metadata": nil}))[1:]
	var tried, read atomic.Int64
	f.Cleanup(func() { f.Logf("%d payloads, %d accepted, the same claims in all", tried.Load(), read.Load()) })
	for _, seed := range agreed {
		f.Add(seed.members, seed.metadata)
	}
	f.Fuzz(func(t *testing.T, members, metadata string) {
		payload := `{` + members
		if members != "" {
			payload += `,`
		}
		payload += `"app_metadata":` + metadata + `,` + good
		tried.Add(1)
		p, err := v.read([]byte(payload))
		if err != nil {
			return
		}
		read.Add(1)
		want := sqlClaims{p.UserID, p.Role, p.TenantClaim}
		if got := askDatabase(t, conn, p); got != want {
			t.Errorf("Postgres reads %q, Go %q from %q", got, want, payload)
		}
	})
}

// askDatabase sets the claims as the store does and asks the functions that policies ask.
func askDatabase(t *testing.T, conn *pgx.Conn, p Principal) (got sqlClaims) {
	t.Helper()
	var names []string
	batch := &pgx.Batch{}
	batch.Queue(`select set_config('request.jwt.claims', $1, true)`, string(p.Claims))
	batch.Queue(`select private.user_id()::text, private.claims() ->> 'role',
		coalesce(private.claims() -> 'app_metadata' ->> 'tenant_id', ''),
		array(select jsonb_object_keys(private.claims()))`)
	results := conn.SendBatch(t.Context(), batch)
	defer results.Close()
	if _, err := results.Exec(); err != nil {
		t.Fatalf("Postgres refuses %s: %v", p.Claims, err)
	}
	if err := results.QueryRow().Scan(&got.user, &got.role, &got.tenant, &names); err != nil {
		t.Fatalf("Postgres refuses %s: %v", p.Claims, err)
	}
	object, err := decodeObject(p.Claims)
	if err != nil || len(object) != len(names) {
		t.Errorf("Postgres knows the claims %q, Go %v, %v", names, object, err)
	}
	for _, name := range names {
		if _, ok := object[name]; !ok {
			t.Errorf("only Postgres knows the claim %q", name)
		}
	}
	return got
}

func openDatabase(f *testing.F) *pgx.Conn {
	f.Helper()
	server, err := postgres.Start(f.Context(), postgres.Options{Fast: true})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		if err := server.Stop(); err != nil {
			f.Error(err)
		}
	})
	if err := server.CreateDatabase(f.Context(), "identity_claims"); err != nil {
		f.Fatal(err)
	}
	conn, err := pgx.Connect(f.Context(), server.AdminURL("identity_claims"))
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}
