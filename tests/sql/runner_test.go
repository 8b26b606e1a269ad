// Package sql_test runs the pgTAP files of this folder, which mirror sql/ path for path: each in a
// database of its own, each file a Go test and each assertion a subtest.
package sql_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"porchlight/functions/local/postgres"
)

var (
	server *postgres.Server
	run    = strings.ToLower(rand.Text()[:8]) // keeps the databases of two runs on one server apart
	base   = "pgtap_" + run                   // the database that every file gets a copy of
)

func TestMain(m *testing.M) {
	code, err := runTests(context.Background(), m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runTests(ctx context.Context, m *testing.M) (code int, err error) {
	server, err = postgres.Start(ctx, postgres.Options{Fast: true})
	if err != nil {
		return 1, err
	}
	defer func() {
		if stopping := server.Stop(); stopping != nil && err == nil {
			err = stopping
		}
	}()
	if err := server.CreateDatabase(ctx, base); err != nil {
		return 1, err
	}
	setup, err := os.ReadFile("setup.sql")
	if err != nil {
		return 1, err
	}
	invariants, err := os.ReadFile("testdata/data_invariants.sql")
	if err != nil {
		return 1, err
	}
	hashes, err := os.ReadFile("testdata/hashes.jsonl")
	if err != nil {
		return 1, err
	}
	script := "create extension pgtap with schema extensions;\n" + string(setup) + string(invariants) +
		"insert into test.hashes (line) select line::jsonb from string_to_table($jsonl$" +
		strings.TrimSpace(string(hashes)) + "$jsonl$, e'\\n') line;"
	if _, err := runFile(ctx, base, script); err != nil {
		return 1, fmt.Errorf("install pgTAP (scripts/pgtap.sh fetches it) and run setup.sql: %w", err)
	}
	return m.Run(), nil
}

// runFile runs a file as the superuser, who may become anybody, and returns the rows as lines.
func runFile(ctx context.Context, database, script string) ([]string, error) {
	config, err := pgx.ParseConfig(server.AdminURL(database))
	if err != nil {
		return nil, err
	}
	config.RuntimeParams["search_path"] = "public, extensions" // pgTAP's functions, as the Supabase CLI does
	config.RuntimeParams["statement_timeout"] = "60s"
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	return postgres.RunScript(ctx, conn, script)
}

// TestSQL runs every pgTAP file below this folder; setup.sql is no such file, it runs before them.
func TestSQL(t *testing.T) {
	var files []string
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && entry.Name() == "testdata" {
			return fs.SkipDir
		}
		if err == nil && !entry.IsDir() && filepath.Ext(path) == ".sql" && path != "setup.sql" {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("there is no pgTAP file")
	}
	for i, path := range files {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			testFile(t, scratch(t, strconv.Itoa(i)), path)
		})
	}
}

// scratch returns the name of a new copy of base, which the test may do with as it likes.
func scratch(t *testing.T, suffix string) string {
	t.Helper()
	database := base + "_" + suffix
	if err := server.CopyDatabase(t.Context(), database, base); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.DropDatabase(context.WithoutCancel(t.Context()), database) })
	return database
}

func connect(t *testing.T, address string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	return conn
}

func testFile(t *testing.T, database, path string) {
	t.Helper()
	assertions, faults := runTAP(t, database, path)
	for _, a := range assertions {
		t.Run(a.description, func(t *testing.T) {
			if !a.ok {
				t.Error(strings.Join(a.diagnostics, "\n"))
			}
		})
	}
	for _, fault := range faults {
		t.Errorf("%s: %s", path, fault)
	}
}

// runTAP runs a pgTAP file and returns what parseTAP makes of it. An error of the server is the one fault:
// the plan could not be kept.
func runTAP(t *testing.T, database, path string) (assertions []assertion, faults []string) {
	t.Helper()
	script, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := runFile(t.Context(), database, string(script))
	assertions, faults = parseTAP(rows)
	if err != nil {
		faults = []string{err.Error()}
	}
	return assertions, faults
}
