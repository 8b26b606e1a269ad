package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// poolerAddress is the host:port of the transaction pooler in front of the shared Postgres, or empty. What
// the command serves goes through it; what the tests ask as the superuser does not.
func poolerAddress() string { return os.Getenv("PORCHLIGHT_POOLER") }

// isPooled says whether the pooler stands before the database of the server, which may have a Postgres of its
// own.
func (s *server) isPooled() bool {
	return poolerAddress() != "" && s.runtime != "" && hostOf(s.runtime) == poolerAddress()
}

// What no request may leave behind in a database.
const (
	advisoryLocks = `select l.pid || ' ' || l.mode from pg_locks l join pg_database d on d.oid = l.database
		where l.locktype = 'advisory' and d.datname = current_database()`
	openTransactions = `select pid || ' ' || usename || ' ' || state from pg_stat_activity
		where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null`
)

// checkConnections looks at what the requests of a server, which are over, have left behind: nobody holds an
// advisory lock or an open transaction, and nothing of a caller stays on a connection that a pooler will
// hand to the next one. P4
func (s *server) checkConnections(ctx context.Context) error {
	if s.database == "" {
		return nil // it has a Postgres of its own
	}
	conn, err := pgx.Connect(ctx, s.database)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	err = errors.Join(none(ctx, conn, "an advisory lock", advisoryLocks), none(ctx, conn, "an open transaction", openTransactions))
	for _, state := range []string{"SQLSTATE 42P05", "SQLSTATE 26000"} { // named statements
		if strings.Contains(s.log.String(), state) {
			err = errors.Join(err, fmt.Errorf("the log of %s holds %s", s.name, state))
		}
	}
	if s.isPooled() {
		left, lookErr := s.lookAtPool(ctx, conn)
		for _, what := range left {
			err = errors.Join(err, fmt.Errorf("left on a connection of %s: %s", s.name, what))
		}
		err = errors.Join(err, lookErr)
	}
	return err
}

// none waits until the query has no row. What a request holds goes when its client has left for good.
func none(ctx context.Context, conn *pgx.Conn, what, query string) error {
	var found []string
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		var err error
		if found, err = list(ctx, conn, query); err != nil || len(found) == 0 {
			return err
		}
	}
	return fmt.Errorf("%s is left: %s", what, strings.Join(found, ", "))
}

func list(ctx context.Context, conn *pgx.Conn, query string) ([]string, error) {
	rows, err := conn.Query(ctx, query)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// pooled is what a second client finds on a connection between the pooler and Postgres.
type pooled struct {
	pid  int32
	left []string
}

// lookAtPool returns what differs on any connection of the pool from one that is new. A connection may be
// on its way out, as those are whose client left in the middle; it looks until it has seen all that stay.
func (s *server) lookAtPool(ctx context.Context, admin *pgx.Conn) ([]string, error) {
	var seen, there []int32
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		found, err := s.lookAtAll(ctx, admin, &there)
		if err != nil && !errors.Is(err, context.DeadlineExceeded) && !pgconn.Timeout(err) {
			return nil, err
		}
		seen = nil
		var left []string
		for _, p := range found {
			seen, left = append(seen, p.pid), append(left, p.left...)
		}
		slices.Sort(seen)
		if slices.Equal(seen, there) {
			return left, nil
		}
	}
	return nil, fmt.Errorf("of the connections %v of %s only %v were seen", there, s.name, seen)
}

// lookAtAll takes all connections of the pool at once, each as another client of the pooler in a transaction
// of its own, and says which are there. Where there is none, it makes one.
func (s *server) lookAtAll(ctx context.Context, admin *pgx.Conn, there *[]int32) (found []pooled, err error) {
	within, cancel := context.WithTimeout(ctx, 5*time.Second) // a pool gives no connection more than it has
	defer cancel()
	for n := 1; n > len(found); n = len(*there) {
		client, err := pgx.Connect(within, s.runtime+"&default_query_exec_mode=exec")
		if err != nil {
			return found, err
		}
		defer func() { // the pooler would end a connection that is left in a transaction
			_, _ = client.Exec(ctx, "rollback")
			_ = client.Close(ctx)
		}()
		p, err := lookAtConnection(within, client)
		if err != nil {
			return found, err
		}
		found = append(found, p)
		rows, err := admin.Query(ctx, `select pid from pg_stat_activity
			where datname = current_database() and usename = 'porchlight_runtime' order by pid`)
		if err == nil {
			*there, err = pgx.CollectRows(rows, pgx.RowTo[int32])
		}
		if err != nil {
			return found, err
		}
	}
	return found, nil
}

// lookAtConnection begins a transaction, which keeps the connection, and looks for what an earlier
// transaction of another client set.
func lookAtConnection(ctx context.Context, client *pgx.Conn) (p pooled, err error) {
	if _, err = client.Exec(ctx, "begin"); err != nil {
		return p, err
	}
	err = client.QueryRow(ctx, `select pg_backend_pid(), array(
			select 'the role ' || current_user where current_user <> session_user
			union all
			select n || ' = ' || current_setting(n, true)
			from unnest('{request.jwt.claims,porchlight.tenant}'::text[]) n where current_setting(n, true) <> ''
			union all
			-- what a client may ask for when it connects, the pooler sets anew for each client
			select s.name || ' = ' || s.setting from pg_settings s where s.source = 'session'
				and s.name not in ('application_name', 'client_encoding', 'DateStyle', 'IntervalStyle', 'TimeZone',
					'standard_conforming_strings')
				and s.setting <> s.reset_val
			union all
			select 'the statement ' || s.name from pg_prepared_statements s where s.name <> '')`).Scan(&p.pid, &p.left)
	return p, err
}

// The looks above see what they look for, through the pooler as a second client of it.
func TestPooler_LooksSeeWhatASessionLeavesBehind(t *testing.T) {
	t.Parallel()
	name := fmt.Sprint("e2e_looks_", os.Getpid())
	if err := cluster.CreateDatabase(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	s := &server{name: "looks", database: cluster.AdminURL(name), runtime: cluster.RuntimeURL(name), log: &output{}}
	admin, first := connect(t, s.database), connect(t, s.runtime+"&default_query_exec_mode=exec")
	left := func() []string {
		t.Helper()
		var seen []string
		var err error
		if poolerAddress() != "" {
			seen, err = s.lookAtPool(t.Context(), admin)
		} else {
			var p pooled
			p, err = lookAtConnection(t.Context(), first)
			seen = p.left
			execute(t, first, "rollback")
		}
		if err != nil {
			t.Fatal(err)
		}
		return seen
	}
	execute(t, first, "select 1")
	for _, c := range []struct{ statement, want string }{
		{"set role authenticated", "the role authenticated"},
		{"select set_config('request.jwt.claims', '{}', false)", "request.jwt.claims = {}"},
		{"select set_config('porchlight.tenant', 'x', false)", "porchlight.tenant = x"},
		{"set statement_timeout = 4711", "statement_timeout = 4711"},
		{"prepare kept as select 1", "the statement kept"},
	} {
		if seen := left(); len(seen) > 0 {
			t.Errorf("before %q: %v", c.statement, seen)
		}
		execute(t, first, c.statement)
		if seen := left(); !slices.Contains(seen, c.want) {
			t.Errorf("%q left %v", c.statement, seen)
		}
		execute(t, first, "discard all")
	}
	execute(t, first, "select pg_advisory_lock(4711)")
	execute(t, first, "begin")
	for what, query := range map[string]string{"lock": advisoryLocks, "transaction": openTransactions} {
		if seen, err := list(t.Context(), admin, query); err != nil || len(seen) != 1 {
			t.Errorf("one %s is left, but %v is seen (%v)", what, seen, err)
		}
	}
	execute(t, first, "rollback")
	execute(t, first, "select pg_advisory_unlock_all()")
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

func execute(t *testing.T, conn *pgx.Conn, statement string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}
