package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// checkData asks every database that the tests have left what must hold of its rows, once dead processes
// have been noticed as the next question would: tests/sql plants a violation of each invariant and sees it
// found.
func checkData(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, cluster.AdminURL("postgres"))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	rows, err := conn.Query(ctx, "select datname from pg_database where datname like $1", `e2e\_%\_`+fmt.Sprint(os.Getpid()))
	if err != nil {
		return err
	}
	databases, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	if len(databases) == 0 {
		return errors.New("the tests left no database to look at")
	}
	var broken []error
	for _, database := range databases {
		broken = append(broken, noticeTheDead(ctx, database))
		violations, err := violationsIn(ctx, database)
		broken = append(broken, err)
		for _, violation := range violations {
			broken = append(broken, fmt.Errorf("%s breaks %s", database, violation))
		}
	}
	return errors.Join(broken...)
}

func noticeTheDead(ctx context.Context, database string) error {
	conn, err := pgx.Connect(ctx, cluster.AdminURL(database))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, "select private.return_expired(now()), private.abandon_reindexes(null, null, now())")
	return err
}

// violationsIn returns the invariants that the rows of a database break, each with how many.
func violationsIn(ctx context.Context, database string) (violations []string, err error) {
	script, err := os.ReadFile("../sql/testdata/data_invariants.sql")
	if err != nil {
		return nil, err
	}
	conn, err := pgx.Connect(ctx, cluster.AdminURL(database))
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(ctx) }()
	tx, err := conn.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback(ctx) }() // it was never there
	if _, err := tx.Exec(ctx, string(script)); err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, `select format('%s, %s: %s times, such as %s', i.id, i.says, i.found, test.example_of(i.finds)) from (
		select *, test.count_of(finds) as found from test.invariants) i where i.found > 0`)
	if err != nil {
		return nil, err
	}
	if violations, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
		return nil, fmt.Errorf("%s: %w", database, err)
	}
	return violations, nil
}

// What checkData does at the end, on rows that are broken.
func TestInvariants_AreSeenToBeBroken(t *testing.T) {
	t.Parallel()
	database := fmt.Sprintf("broken_%d", os.Getpid()) // not one of those that have to hold
	if err := cluster.CreateDatabase(t.Context(), database); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), cluster.AdminURL(database))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	if violations, err := violationsIn(t.Context(), database); len(violations) > 0 || err != nil {
		t.Errorf("a new database: %q, %v", violations, err)
	}
	if _, err := conn.Exec(t.Context(), `
		insert into app.tenants (slug, name, created_at) values ('ahead', 'Ahead', now() + interval '1 day');
		insert into app.sources (tenant_id, source_type, source_key, title, language, visibility, chunk_ids)
		select id, 'faq', 'lost', chr(65533), 'en', 'tenant', array[id] from app.tenants`); err != nil {
		t.Fatal(err)
	}
	waiting, err := conn.Begin(t.Context()) // and a session that waits inside a transaction, with a lock
	if err != nil {
		t.Fatal(err)
	}
	if _, err := waiting.Exec(t.Context(), "select pg_advisory_xact_lock(1)"); err != nil {
		t.Fatal(err)
	}
	violations, err := violationsIn(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	told := strings.Join(violations, "\n")
	for _, want := range []string{"D5, ", "D10, ", "D12, ", "D13, no session keeps an advisory lock, and none waits inside a transaction: 2 times"} {
		if !strings.Contains(told, want) {
			t.Errorf("%s is not told:\n%s", want, told)
		}
	}
}
