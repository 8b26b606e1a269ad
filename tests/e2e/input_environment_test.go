package e2e

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

// planted stands in every value that is wrong. Nothing that a command says may hold it.
const planted = "kestrel9"

// The variables of a function, as its operator sets them.
const (
	databaseURL = "PORCHLIGHT_DATABASE_URL"
	supabaseURL = "SUPABASE_URL"
	jwtIssuer   = "PORCHLIGHT_JWT_ISSUER"
	jwksURL     = "PORCHLIGHT_JWKS_URL"
	allowHS256  = "PORCHLIGHT_JWT_ALLOW_HS256"
	hs256Secret = "PORCHLIGHT_JWT_HS256_SECRET"
	origins     = "PORCHLIGHT_ALLOWED_ORIGINS"
)

// function is one of the hosted functions, built for this machine.
type function struct {
	path, database string // of the runtime login
}

// ask is built once for all tests that start it.
var ask = sync.OnceValues(func() (function, error) {
	f := function{path: filepath.Join(root, "ask")}
	if output, err := exec.Command("go", "build", "-o", f.path, "../../functions/ask").CombinedOutput(); err != nil {
		return f, fmt.Errorf("build ask: %w\n%s", err, output)
	}
	address, err := url.Parse(doorstep.database)
	f.database = cluster.RuntimeURL(strings.TrimPrefix(address.Path, "/"))
	return f, err
})

// start starts the function with changes of a good environment and returns what it says before it ends.
// With a good one that is what the library says which speaks to Lambda: Lambda is not here.
func (f function) start(t *testing.T, changes map[string]string) string {
	t.Helper()
	environment := map[string]string{databaseURL: f.database, supabaseURL: "https://abcdefghij.supabase.example"}
	maps.Copy(environment, changes)
	command := exec.CommandContext(t.Context(), f.path)
	for name, value := range environment {
		command.Env = append(command.Env, name+"="+value)
	}
	output, err := command.CombinedOutput()
	if err == nil {
		t.Errorf("it serves: %s", output)
	}
	for _, secret := range []string{planted, "goroutine ", cluster.AdminURL("")[len("postgres://"):]} {
		if strings.Contains(string(output), secret) {
			t.Errorf("%q is printed: %s", secret, output)
		}
	}
	return string(output)
}

const served = "AWS_LAMBDA_RUNTIME_API"

// refusedStart is a setting, and the variables that the function names when it refuses to start.
type refusedStart struct {
	name string
	set  map[string]string
	want []string
}

func TestEnvironment_AFunctionRefusesToStart(t *testing.T) {
	t.Parallel()
	ask, err := ask()
	if err != nil {
		t.Fatal(err)
	}
	if said := ask.start(t, nil); !strings.Contains(said, served) {
		t.Fatalf("a good environment is refused: %s", said)
	}
	one := func(name, value string) map[string]string { return map[string]string{name: value} }
	secret := func(value string) map[string]string {
		return map[string]string{allowHS256: "true", hs256Secret: value}
	}
	const strong = planted + "kJ3vQ9xT2mZ7wB5nR8cL4pY6sD1fG0hA"
	cases := []refusedStart{
		{"E1 no database", one(databaseURL, ""), []string{databaseURL}},
		{"E1 no project", one(supabaseURL, ""), []string{supabaseURL}},
		{"E1 nothing at all", map[string]string{databaseURL: "", supabaseURL: ""}, []string{databaseURL, supabaseURL}},
		{"E1 no issuer", map[string]string{supabaseURL: "", jwksURL: "https://i.example/" + planted}, []string{jwtIssuer}},
		{"E1 no keys", map[string]string{supabaseURL: "", jwtIssuer: "https://i.example/" + planted}, []string{jwksURL}},
		{"E1 no secret", one(allowHS256, "true"), []string{hs256Secret}},
		{"E2 secret of 1 byte", secret("x"), []string{hs256Secret}},
		{"E2 secret of 31 bytes", secret(strong[:31]), []string{hs256Secret}},
		{"E2 sample secret", secret("your-super-secret-jwt-token-with-at-least-32-characters-long" + planted), []string{hs256Secret}},
		{"E2 secret of one letter", secret(strings.Repeat("a", 64)), []string{hs256Secret}},
		{"E3 secret that is not switched on", one(hs256Secret, strong), []string{hs256Secret}},
		{"E3 keys over http", map[string]string{supabaseURL: "", jwtIssuer: "https://i.example", jwksURL: "http://i.example/" + planted}, []string{jwksURL}},
		{"E3 keys beside the project", one(jwksURL, "https://i.example/"+planted), []string{jwksURL}},
		{"E4 service key in the place of the secret", secret(hmacKey(t, "service_role")), []string{hs256Secret}},
		{"E4 anon key in the place of the secret", secret(hmacKey(t, "anon")), []string{hs256Secret}},
		{"E4 new service key in the place of the secret", secret("sb_secret_" + strong), []string{hs256Secret}},
		{"E5 owner", one(databaseURL, "postgres://postgres:"+planted+"@db.example/postgres"), []string{databaseURL}},
		{"E5 owner through the pooler", one(databaseURL, "postgres://postgres.abcdefghij:"+planted+"@db.example:6543/postgres"), []string{databaseURL}},
		{"E6 statement cache on a pooler's port", one(databaseURL, "postgres://u:"+planted+"@db.example:6543/postgres?default_query_exec_mode=cache_statement"), []string{databaseURL}},
		{"E6 statement cache by its size", one(databaseURL, "postgres://u:"+planted+"@db.example:6543/postgres?statement_cache_capacity=512"), []string{databaseURL}},
		{"E6 pooler's port taken for a direct one", map[string]string{databaseURL: "postgres://u:" + planted + "@db.example:6543/postgres", "PORCHLIGHT_POOL_MODE": "direct"}, []string{"PORCHLIGHT_POOL_MODE"}},
		{"E7 no TLS to another machine", one(databaseURL, "postgres://u:"+planted+"@db.example/postgres?sslmode=disable"), []string{databaseURL}},
		{"E7 TLS only if the server likes", one(databaseURL, "postgres://u:"+planted+"@db.example/postgres?sslmode=allow"), []string{databaseURL}},
		{"E8 no connections", one("PORCHLIGHT_MAX_CONNECTIONS", "0"), []string{"PORCHLIGHT_MAX_CONNECTIONS"}},
		{"E8 fewer than none", one("PORCHLIGHT_MAX_CONNECTIONS", "-1"), []string{"PORCHLIGHT_MAX_CONNECTIONS"}},
		{"E8 1e3 connections", one("PORCHLIGHT_MAX_CONNECTIONS", "1e3"), []string{"PORCHLIGHT_MAX_CONNECTIONS"}},
		{"E8 2^63 connections", one("PORCHLIGHT_MAX_CONNECTIONS", "9223372036854775808"), []string{"PORCHLIGHT_MAX_CONNECTIONS"}},
		{"E15 any origin", one(origins, "*"), []string{origins}},
		{"E15 slash at the end", one(origins, "https://"+planted+".example/"), []string{origins}},
		{"E15 null", one(origins, "https://app.example,null"), []string{origins}},
		{"O109 direct host on Lambda", map[string]string{"AWS_LAMBDA_FUNCTION_NAME": "ask", databaseURL: "postgres://u:" + planted + "@db.abcdefghij.supabase.co/postgres"}, []string{databaseURL, "pooler"}},
	}
	for _, variable := range []string{databaseURL, supabaseURL, jwtIssuer, jwksURL, hs256Secret, "GEMINI_API_KEY"} {
		for name, value := range map[string]string{
			"in quotes": `"` + planted + `"`, "with a line end": planted + "\n", "with spaces": " " + planted + " ",
		} {
			cases = append(cases, refusedStart{"E1 " + variable + " " + name, one(variable, value), []string{variable}})
		}
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			said := ask.start(t, c.set)
			if strings.Contains(said, served) || !strings.Contains(said, "the configuration can't be used") {
				t.Errorf("it said: %s", said)
			}
			for _, name := range c.want {
				if !strings.Contains(said, name) {
					t.Errorf("%s is not named: %s", name, said)
				}
			}
		})
	}
}

// What only the database knows of its login and its schema.
func TestEnvironment_AFunctionRefusesAWrongDatabase(t *testing.T) {
	t.Parallel()
	ask, err := ask()
	if err != nil {
		t.Fatal(err)
	}
	admin, err := url.Parse(cluster.AdminURL("template1"))
	if err != nil {
		t.Fatal(err)
	}
	password, _ := admin.User.Password()
	for i, c := range []struct {
		name  string
		login string // made beside the runtime login, %s in the statements; empty: the runtime login
		setUp []string
		says  []string // none: it starts
	}{
		{"E5 superuser under another name", "env_super", []string{`alter role %s superuser`}, []string{"env_super"}},
		{"E5 login with BYPASSRLS", "env_bypass", []string{`alter role %s bypassrls`}, []string{"env_bypass"}},
		{"E5 login that may become the service role", "env_service", []string{`grant service_role to %s`}, []string{"env_service"}},
		{"E5 login that may become the owner", "env_owner", []string{`grant postgres to %s`}, []string{"env_owner"}},
		{"E5 login that owns a table", "env_table", []string{`alter table app.turns owner to %s`}, []string{"env_table"}},
		{"E11 schema without a door", "", []string{`drop function api.finish_turn`}, []string{"finish_turn", "supabase/migrations"}},
		{"E11 schema without pgvector", "", []string{`drop extension vector cascade`}, []string{"match_chunks", "supabase/migrations"}},
		{"E11 schema that is closed to the login", "", []string{`revoke usage on schema api from authenticated`}, []string{"closed to this login"}},
		{"E11 another search_path", "", []string{
			`create schema evil`, `grant usage on schema evil to public`,
			`create function evil.set_config(text, text, boolean) returns text language sql as 'select ''evil'''`,
			`do $$ begin execute format('alter database %I set search_path = evil, pg_catalog', current_database()); end $$`,
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			database, login := ofThisRun(fmt.Sprintf("env_db_%d", i)), ofThisRun(c.login)
			if err := cluster.CreateDatabase(t.Context(), database); err != nil {
				t.Fatal(err)
			}
			address := cluster.RuntimeURL(database)
			if c.login != "" {
				address = cluster.URL(login, database) // the pooler knows no other login
				discardAfter(t, database, login)
				inside(t.Context(), t, database, fmt.Sprintf(`create role %s login noinherit password '%s'`, login, password),
					fmt.Sprintf(`grant anon, authenticated to %s`, login))
			}
			for _, statement := range c.setUp {
				inside(t.Context(), t, database, strings.ReplaceAll(statement, "%s", login))
			}
			said := ask.start(t, map[string]string{databaseURL: address})
			if strings.Contains(said, served) != (c.says == nil) {
				t.Errorf("it said: %s", said)
			}
			if slices.ContainsFunc(c.says, func(text string) bool { return !strings.Contains(said, text) }) {
				t.Errorf("%q is not said: %s", c.says, said)
			}
		})
	}
	t.Run("E11 no schema", func(t *testing.T) {
		empty := ofThisRun("env_empty")
		discardAfter(t, empty, "")
		inside(t.Context(), t, "template1", `create database `+empty+` template template0`)
		said := ask.start(t, map[string]string{databaseURL: cluster.RuntimeURL(empty)})
		if strings.Contains(said, served) || !strings.Contains(said, "its schema is not there") {
			t.Errorf("it said: %s", said)
		}
	})
}

// ofThisRun is a name that no other run has: the tests may share a server that outlives them.
func ofThisRun(name string) string { return fmt.Sprintf("%s_%d", name, os.Getpid()) }

func inside(ctx context.Context, t *testing.T, database string, statements ...string) {
	t.Helper()
	conn, err := pgx.Connect(ctx, cluster.AdminURL(database))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	for _, statement := range statements {
		if _, err := conn.Exec(ctx, statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// discardAfter removes a database, and a login that owns nothing outside it, at the end of the test.
func discardAfter(t *testing.T, database, login string) {
	t.Helper()
	t.Cleanup(func() {
		statements := []string{"drop database if exists " + database + " with (force)"}
		if login != "" {
			statements = append(statements, "drop role if exists "+login)
		}
		inside(context.WithoutCancel(t.Context()), t, "template1", statements...)
	})
}
