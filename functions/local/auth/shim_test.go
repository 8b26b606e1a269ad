package auth

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// connect opens a connection that ends with the test.
func connect(t *testing.T, address string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	return conn
}

// exec runs a statement as the superuser.
func (b *backend) exec(t *testing.T, statement string) {
	t.Helper()
	if _, err := connect(t, database.AdminURL(b.name)).Exec(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

// scan returns one text as the superuser.
func (b *backend) scan(t *testing.T, query string) (text string) {
	t.Helper()
	if err := connect(t, database.AdminURL(b.name)).QueryRow(t.Context(), query).Scan(&text); err != nil {
		t.Fatal(err)
	}
	return text
}

func TestShim_MayRunAgain(t *testing.T) {
	shim, err := readShim()
	if err != nil {
		t.Fatal(err)
	}
	conn := connect(t, database.AdminURL(newDatabase(t)))
	catalogue := func() (text string) {
		err := conn.QueryRow(t.Context(), `
			select string_agg(line, e'\n' order by line) from (
				select format('%s %s %s', c.oid::regclass, c.relowner::regrole, c.relacl) as line
				from pg_class c where c.relnamespace = 'auth'::regnamespace
				union all
				select format('%s %s %s %s', p.oid::regprocedure, p.proowner::regrole, p.proacl, md5(p.prosrc))
				from pg_proc p where p.pronamespace = 'auth'::regnamespace
				union all
				select format('%s %s', n.nspname, n.nspacl) from pg_namespace n
				union all
				select format('%s in %s %s', m.member::regrole, m.roleid::regrole, m.admin_option) from pg_auth_members m
			) lines`).Scan(&text)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	before := catalogue()
	if _, err := conn.Exec(t.Context(), shim); err != nil {
		t.Fatal(err)
	}
	if after := catalogue(); after != before {
		t.Errorf("a second run changed the catalogue:\n%s\n%s", before, after)
	}
}

func TestShim_RolesAreThoseOfSupabase(t *testing.T) {
	conn := connect(t, database.AdminURL(newDatabase(t)))
	for role, want := range map[string]string{
		"anon":                "",
		"authenticated":       "",
		"service_role":        "bypassrls",
		"authenticator":       "login",
		"supabase_auth_admin": "login",
		"postgres":            "login inherit createdb createrole bypassrls",
	} {
		var got string
		err := conn.QueryRow(t.Context(), `
			select concat_ws(' ', case when rolsuper then 'super' end, case when rolcanlogin then 'login' end,
				case when rolinherit then 'inherit' end, case when rolcreatedb then 'createdb' end,
				case when rolcreaterole then 'createrole' end, case when rolbypassrls then 'bypassrls' end)
			from pg_roles where rolname = $1`, role).Scan(&got)
		if err != nil || got != want {
			t.Errorf("%s is %q, want %q (%v)", role, got, want, err)
		}
	}
}

func TestShim_WhoMayDoWhat(t *testing.T) {
	conn := connect(t, database.AdminURL(newDatabase(t)))
	hash := strings.Repeat("x", 53)
	tests := []struct {
		name, role, statement string
		allowed               bool
	}{
		{"users see no users", "authenticated", `select from auth.users`, false},
		{"the service sees no users", "service_role", `select from auth.users`, false},
		{"visitors see no tokens", "anon", `select from auth.refresh_tokens`, false},
		{"the owner of the migrations sees no tokens", "postgres", `select from auth.refresh_tokens`, false},
		{"users ask who they are", "authenticated", `select auth.uid(), auth.jwt(), auth.role()`, true},
		{"visitors ask who they are", "anon", `select auth.uid()`, true},
		{"users make no users", "authenticated", `select auth.local_create_user('a@b.example', '$2a$10$` + hash + `')`, false},
		{"users open no sessions", "authenticated", `select auth.local_open_session(gen_random_uuid(), gen_random_uuid(), 'x')`, false},
		{"users find nobody", "authenticated", `select auth.local_find_user('a@b.example')`, false},
		{"users refresh nothing", "anon", `select auth.local_refresh('a', 'b')`, false},
		{"the operator makes users", "postgres", `select auth.local_create_user('a@b.example', '$2a$10$` + hash + `')`, true},
		{"the operator signs nobody in", "postgres", `select auth.local_refresh('a', 'b')`, false},
		{"the Auth server signs in", "supabase_auth_admin", `select auth.local_refresh('a', 'b')`, true},
		{"a password is no hash", "postgres", `select auth.local_create_user('a@b.example', 'secret')`, false},
		{"an address has one @", "postgres", `select auth.local_create_user('a b@c@d', '$2a$10$` + hash + `')`, false},
		{"members point at users", "postgres", `create schema m; create table m.m (user_id uuid references auth.users)`, true},
		{"migrations make logins", "postgres", `create role shim_test_login login noinherit; grant anon, authenticated to shim_test_login`, true},
		{"migrations make extensions", "postgres", `create extension pg_trgm with schema extensions`, true},
		{"migrations pass extensions on", "postgres", `grant usage on schema extensions to supabase_auth_admin`, true},
		{"users have vectors", "authenticated", `select '[1,2]'::extensions.vector operator(extensions.<=>) '[2,1]'`, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tx, err := conn.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = tx.Rollback(t.Context()) }()
			if _, err := tx.Exec(t.Context(), "set local session authorization "+tt.role); err != nil {
				t.Fatal(err)
			}
			if _, err := tx.Exec(t.Context(), tt.statement, pgx.QueryExecModeSimpleProtocol); (err == nil) != tt.allowed {
				t.Errorf("error = %v, allowed %v", err, tt.allowed)
			}
		})
	}
}

func TestShim_OnlyTheAuthServerMayExecuteItsFunctions(t *testing.T) {
	conn := connect(t, database.AdminURL(newDatabase(t)))
	var got string
	err := conn.QueryRow(t.Context(), `
		select string_agg(p.proname || ': ' || r.rolname, ', ' order by p.proname, r.rolname)
		from pg_proc p, pg_roles r
		where p.pronamespace = 'auth'::regnamespace and p.proname like 'local\_%' and not r.rolsuper
			and r.rolname <> 'supabase_auth_admin' and r.rolname not like 'pg\_%'
			and has_function_privilege(r.oid, p.oid, 'execute')`).Scan(&got)
	if err != nil || got != "local_create_user: postgres" {
		t.Errorf("others may execute %s (%v)", got, err)
	}
}

func TestShim_ClaimsReadAsOnSupabase(t *testing.T) {
	conn := connect(t, database.AdminURL(newDatabase(t)))
	const user = "dc35f2d6-999b-46e0-be5c-3be2d5fcb33e"
	who := func() string {
		var uid, role, jwt *string
		if err := conn.QueryRow(t.Context(), `select auth.uid()::text, auth.role(), auth.jwt()::text`).Scan(&uid, &role, &jwt); err != nil {
			t.Fatal(err)
		}
		show := func(s *string) string {
			if s == nil {
				return "null"
			}
			return *s
		}
		return fmt.Sprint(show(uid), " ", show(role), " ", show(jwt))
	}
	if got := who(); got != "null null null" {
		t.Errorf("without claims: %s", got)
	}
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	claims := `{"sub": "` + user + `", "role": "authenticated"}`
	if _, err := tx.Exec(t.Context(), `select set_config('request.jwt.claims', $1, true)`, claims); err != nil {
		t.Fatal(err)
	}
	if got := who(); !strings.HasPrefix(got, user+" authenticated {") {
		t.Errorf("with claims: %s", got)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := who(); got != "null null null" { // the setting is '' now
		t.Errorf("after the transaction: %s", got)
	}
}

func TestCreateUser_KeepsTheIdAndChangesThePassword(t *testing.T) {
	b := newBackend(t, testEmail)
	hash, err := HashPassword("another password")
	if err != nil {
		t.Fatal(err)
	}
	before := b.scan(t, `select id::text from auth.users`)
	id, err := b.store.CreateUser(t.Context(), " REP@Brand-One.example ", hash)
	if err != nil || id != before {
		t.Errorf("id = %s, %v, want %s", id, err, before)
	}
	b.signIn(t, testEmail).want(t, 400, "invalid_credentials")
}
