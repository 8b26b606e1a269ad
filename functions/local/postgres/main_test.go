package postgres

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"
)

// shared is one server for the tests that need any; those about starting and stopping start their own.
var shared *Server

const tinyShim = `
do $$
begin
    if not exists (select from pg_roles where rolname = 'postgres') then
        create role postgres login createdb createrole bypassrls;
        create role porchlight_runtime login noinherit;
    end if;
end
$$;`

func tinyFiles(migrations ...string) fstest.MapFS {
	files := fstest.MapFS{"shim.sql": {Data: []byte(tinyShim)}}
	for i, text := range migrations {
		files[fmt.Sprintf("migrations/2026010%d000000_step.sql", i+1)] = &fstest.MapFile{Data: []byte(text)}
	}
	return files
}

func TestMain(m *testing.M) {
	if os.Getenv(ownerDirectory) != "" {
		becomeOwner()
	}
	// These tests are about the embedded server; the ones about Attach name theirs.
	_ = os.Unsetenv("PORCHLIGHT_POSTGRES_URL")
	ctx := context.Background()
	var err error
	shared, err = Start(ctx, Options{Fast: true, Files: tinyFiles("create table public.lamps (name text);")})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if err := shared.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// start starts a server of the test's own and stops it at the end.
func start(t *testing.T, options Options) *Server {
	t.Helper()
	options.Fast = true
	if options.Files == nil {
		options.Files = tinyFiles()
	}
	server, err := Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	return server
}

// home returns a folder that the unprivileged user may reach, unlike the one of t.TempDir under root.
func home(t *testing.T) string {
	t.Helper()
	parent, err := os.MkdirTemp("", "porchlight-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(parent) })
	if err := os.Chmod(parent, 0o755); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(parent, "cluster")
}

// emptyDatabase makes a database with the tiny shim and nothing else.
func emptyDatabase(t *testing.T) string {
	t.Helper()
	name := strings.ToLower(strings.ReplaceAll(t.Name(), "/", "_"))
	if _, err := shared.Template(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := shared.CopyDatabase(t.Context(), name, "template0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = shared.DropDatabase(context.WithoutCancel(t.Context()), name) })
	return name
}

// ask returns the text of one value.
func ask(t *testing.T, address, query string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	var answer string
	if err := conn.QueryRow(t.Context(), query).Scan(&answer); err != nil {
		t.Fatal(err)
	}
	return answer
}

// do runs statements as the superuser.
func do(t *testing.T, address, statements string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	if err := execute(t.Context(), conn, statements); err != nil {
		t.Fatal(err)
	}
}
