// Command lint has Supabase's own CLI (its path is the argument) migrate a database of the server in
// PORCHLIGHT_POSTGRES_URL and lint it: "db push", "db lint" (plpgsql_check over every function) and "db
// advisors". Then it plants faults and asks again, since a linter can also find nothing by looking at
// nothing: without pgrst.db_schemas the advisors do.
package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"

	"porchlight/functions/local/postgres"
	"porchlight/supabase"
)

// patience ends a run that hangs; one takes about 15 s.
const patience = 5 * time.Minute

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithTimeout(ctx, patience)
	err := run(ctx, os.Args[1:])
	cancel()
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "lint:", err)
		os.Exit(1)
	}
	fmt.Println("lint: Supabase's linters find nothing but what was planted")
}

func run(ctx context.Context, arguments []string) (err error) {
	if len(arguments) != 1 || os.Getenv("PORCHLIGHT_POSTGRES_URL") == "" {
		return errors.New("usage: PORCHLIGHT_POSTGRES_URL=… lint PATH_OF_THE_SUPABASE_CLI (scripts/lint-17.sh does it)")
	}
	// the CLI applies the migrations; ours are only what hosted Supabase brings along
	shims, err := only("shim*.sql")
	if err != nil {
		return err
	}
	server, err := postgres.Start(ctx, postgres.Options{Files: shims})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	database := "lint_" + strings.ToLower(rand.Text()[:8])
	if err := server.CreateDatabase(ctx, database); err != nil {
		return err
	}
	conn, err := pgx.Connect(ctx, server.AdminURL(database))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	// as on hosted Supabase, where every schema that is listed is exposed: the advisors look at no other
	if _, err := conn.Exec(ctx, fmt.Sprintf(`create extension plpgsql_check with schema extensions;
		alter database %[1]s set search_path = "$user", public, extensions;
		alter database %[1]s set pgrst.db_schemas = 'api,app,private'`, database)); err != nil {
		return fmt.Errorf("prepare the database (it needs plpgsql_check): %w", err)
	}
	home, err := os.MkdirTemp("", "porchlight-lint-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(home)) }()
	project, err := only("migrations/*.sql")
	if err != nil {
		return err
	}
	if err := os.CopyFS(filepath.Join(home, "supabase"), project); err != nil {
		return err
	}
	return lint(ctx, cli{arguments[0], home, server.URL("postgres", database)}, conn)
}

func only(pattern string) (fs.FS, error) {
	paths, err := fs.Glob(supabase.Files, pattern)
	files := fstest.MapFS{}
	for _, path := range paths {
		text, err := fs.ReadFile(supabase.Files, path)
		if err != nil {
			return nil, err
		}
		files[path] = &fstest.MapFile{Data: text}
	}
	return files, err
}

func lint(ctx context.Context, c cli, conn *pgx.Conn) error {
	if said, err := c.run(ctx, "db", "push"); err != nil {
		return fmt.Errorf("db push: %w\n%s", err, said)
	}
	functions := []string{"db", "lint", "--schema=api,app,private", "--level=warning", "--fail-on=warning"}
	if said, err := c.run(ctx, functions...); err != nil {
		return fmt.Errorf("db lint: %w\n%s", err, said)
	}
	found, err := c.advisors(ctx)
	if err != nil {
		return err
	}
	for _, f := range found {
		if !f.isMeant() {
			err = errors.Join(err, fmt.Errorf("db advisors: %s %s: %s", f.Level, f.Name, f.Detail))
		}
	}
	if err != nil {
		return err
	}
	for _, plant := range plants {
		if _, err := conn.Exec(ctx, "set role postgres; "+plant.sql); err != nil {
			return fmt.Errorf("plant %s: %w", plant.finding, err)
		}
	}
	if said, err := c.run(ctx, functions...); err == nil || !strings.Contains(said, "private.planted") {
		return fmt.Errorf("db lint did not find the planted function: %w\n%s", err, said)
	}
	if found, err = c.advisors(ctx); err != nil {
		return err
	}
	for _, plant := range plants {
		if !plant.isIn(found) {
			err = errors.Join(err, fmt.Errorf("db advisors did not find the planted %s", plant.finding))
		}
	}
	return err
}

// A plant is a fault, and what the advisors call it; the one without a name is for plpgsql_check.
type plant struct{ finding, sql string }

var plants = []plant{
	{"", `create function private.planted() returns uuid language plpgsql set search_path = ''
		as 'begin return (select t.nothing from app.tenants t); end'`},
	{"rls_disabled_in_public", `create table app.planted (id integer primary key, user_id uuid references auth.users);
		grant select on app.planted to authenticated`},
	{"unindexed_foreign_keys", `create index on app.planted (id)`},
	{"policy_exists_rls_disabled", `alter table app.members disable row level security`},
	{"security_definer_view", `create view app.planted_view as select * from app.turns; grant select on app.planted_view to authenticated`},
	{"materialized_view_in_api", `create materialized view app.planted_copy as select 1 as one; grant select on app.planted_copy to authenticated`},
	{"function_search_path_mutable", `create function api.planted() returns integer language sql as 'select 1'`},
	{"auth_rls_initplan", `create policy planted on app.turns for select to authenticated using (user_id = auth.uid())`},
	{"multiple_permissive_policies", `create policy planted_too on app.turns for select to authenticated using (true)`},
	{"rls_references_user_metadata", `create policy planted_delete on app.turns for delete to authenticated
		using (auth.jwt() -> 'user_metadata' ->> 'tenant' = tenant_id::text)`},
	{"rls_policy_always_true", `create policy planted on app.chunks for update to authenticated using (true) with check (true)`},
}

func (p plant) isIn(found []finding) bool {
	for _, f := range found {
		if f.Name == p.finding {
			return true
		}
	}
	return p.finding == ""
}

// A finding of the advisors.
type finding struct {
	Name, Level, Detail string
	Metadata            struct{ Schema string }
}

// isMeant says that the schema means it so: no policy lets anybody into a table of private, and nothing
// has used an index of a database that is a few seconds old.
func (f finding) isMeant() bool {
	return f.Name == "unused_index" || f.Name == "rls_enabled_no_policy" && f.Metadata.Schema == "private"
}

// cli is Supabase's, on one database.
type cli struct{ path, home, address string }

func (c cli) advisors(ctx context.Context) ([]finding, error) {
	said, err := c.run(ctx, "db", "advisors", "--level=info", "--fail-on=none", "--output-format=json")
	if err != nil {
		return nil, fmt.Errorf("db advisors: %w\n%s", err, said)
	}
	var answer struct{ Results []finding }
	if err := json.Unmarshal([]byte(said), &answer); err != nil {
		return nil, fmt.Errorf("db advisors: %w\n%s", err, said)
	}
	if len(answer.Results) == 0 {
		return nil, errors.New("db advisors did not even find that no index has been used yet")
	}
	return answer.Results, nil
}

// run returns what the CLI said, and after a failure also what it said to people.
func (c cli) run(ctx context.Context, arguments ...string) (string, error) {
	config, err := pgx.ParseConfig(c.address)
	if err != nil {
		return "", err
	}
	address := fmt.Sprintf("postgres://%s@%s:%d/%s?sslmode=disable", config.User, config.Host, config.Port, config.Database)
	command := exec.CommandContext(ctx, c.path, append(arguments, "--db-url="+address, "--workdir="+c.home, "--agent=no", "--yes")...)
	command.Env = append(os.Environ(), "PGPASSWORD="+config.Password, "HOME="+c.home,
		"SUPABASE_TELEMETRY_DISABLED=1", "DO_NOT_TRACK=1")
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		return stdout.String() + stderr.String(), err
	}
	return stdout.String(), nil
}
