// Package store is the only place in Go that speaks SQL, and all it says is calls of api.*: one
// method each. Every call is one transaction in one round trip: who is asking and what is asked
// travel in the same batch, so nothing about a caller outlives the transaction on a pooled link.
package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"porchlight/functions/internal/identity"
)

// Options say how to reach the database.
type Options struct {
	URL              string        // of the runtime login
	MaxConnections   int32         // 0: 4
	StatementTimeout time.Duration // of each statement on the server; 0: 5 s
}

// Store calls the doors of the database.
type Store struct {
	pool      *pgxpool.Pool
	timeout   time.Duration // of each statement on the server
	unchecked *atomic.Int64 // when Check last did not reach the database, Unix nanoseconds; 0: it has
}

const (
	// connectWithin is how long one attempt to connect may take. Who asked may have given up before; the
	// connection is then for the next one.
	connectWithin = 2 * time.Second
	// idleWithin is how long an unused connection is kept. A pooler counts its clients, and the many
	// processes that one busy minute brings must not keep others out when they have nothing to do.
	idleWithin = 10 * time.Second
	// overhead is what a call may take beside its statements: to get a connection, and to wait in a pooler
	// for one of the server's. After it a silent server counts as away.
	overhead = 500 * time.Millisecond
	// settleWithin is how long a call that was given up waits for the server to let go of its statement.
	settleWithin = 250 * time.Millisecond
)

// Open prepares a pool. It does not connect: the first call does, or Check.
func Open(ctx context.Context, o Options) (*Store, error) {
	config, err := pgxpool.ParseConfig(o.URL)
	if err != nil {
		// the error of the driver repeats the URL with everything in it but the password
		return nil, fmt.Errorf("the database URL can't be read")
	}
	// without named statements a transaction pooler may hand every batch another connection, and a
	// cold connection needs no round trip to prepare
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	config.ConnConfig.ConnectTimeout = connectWithin
	config.MaxConnIdleTime, config.HealthCheckPeriod = idleWithin, idleWithin/2
	config.MaxConns = max(o.MaxConnections, 1)
	if o.MaxConnections == 0 {
		config.MaxConns = 4
	}
	if o.StatementTimeout == 0 {
		o.StatementTimeout = 5 * time.Second
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open the pool: %w", err)
	}
	return &Store{pool: pool, timeout: o.StatementTimeout, unchecked: &atomic.Int64{}}, nil
}

// Within returns the same store with another limit of a statement.
func (s *Store) Within(limit time.Duration) *Store {
	other := *s
	other.timeout = limit
	return &other
}

// Close closes the pool.
func (s *Store) Close() { s.pool.Close() }

// become sets who is asking for this transaction only: role, claims, the brand a platform admin
// acts for, and the time limit of a statement. The name is whole, since a database may have any
// search_path.
const become = `select pg_catalog.set_config('role', $1, true), pg_catalog.set_config('request.jwt.claims', $2, true),
	pg_catalog.set_config('porchlight.tenant', $3, true), pg_catalog.set_config('statement_timeout', $4, true)`

// as runs the calls in one transaction as the principal, in one round trip. The role and the claims
// are in force when the next statement of the batch is parsed, since the server takes them in turn. A
// batch that the server never began, because it had ended the idle connection, is sent once more.
func (s *Store) as(ctx context.Context, p identity.Principal, calls ...call) error {
	return s.transact(ctx, p, calls, isUnbegun)
}

// ask is as for calls that only read: one that broke in the middle is asked once more, too.
func (s *Store) ask(ctx context.Context, p identity.Principal, calls ...call) error {
	return s.transact(ctx, p, calls, isDead)
}

func (s *Store) transact(
	ctx context.Context, p identity.Principal, calls []call, mayRepeat func(error) bool,
) error {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(len(calls))*s.timeout+overhead)
	defer cancel()
	if failed := s.unchecked.Load(); failed != 0 {
		if time.Since(time.Unix(0, failed)) < retryAfter {
			return unavailable(errors.New("the database has just not answered"))
		}
		if err := s.check(ctx); err != nil {
			return err
		}
	}
	return s.try(ctx, p, calls, mayRepeat)
}

// try sends the batch, and once more if it may.
func (s *Store) try(ctx context.Context, p identity.Principal, calls []call, mayRepeat func(error) bool) error {
	err := s.once(ctx, p, calls)
	if ctx.Err() == nil && mayRepeat(err) {
		s.pool.Reset() // what ended this connection has ended those beside it
		err = s.once(ctx, p, calls)
	}
	return translate(ctx, err)
}

func (s *Store) once(ctx context.Context, p identity.Principal, calls []call) error {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	who := call{become, []any{p.Role, string(p.Claims), p.Tenant, strconv.FormatInt(s.timeout.Milliseconds(), 10)}, nil}
	err = send(ctx, conn.Conn(), append([]call{who}, calls...))
	settle(conn.Conn().PgConn())
	return err
}

// settle waits for the end of a connection that was given up in the middle. The driver tells the server to
// cancel the statement and reads until it has; where the process stands still once it has answered, that
// would otherwise wait for the next request.
func settle(conn *pgconn.PgConn) {
	if !conn.IsClosed() {
		return
	}
	select {
	case <-conn.CleanupDone():
	case <-time.After(settleWithin):
	}
}

// one reads exactly one row into the targets.
func one(targets ...any) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		if !rows.Next() {
			if err := rows.Err(); err != nil {
				return err
			}
			return pgx.ErrNoRows
		}
		return rows.Scan(targets...)
	}
}

// Service is the operator: it may act for any brand, named by its slug. Only a login that may
// become service_role can use it, which the runtime login may not.
func Service(tenant string) identity.Principal {
	return identity.Principal{Role: "service_role", Claims: []byte(`{"role":"service_role"}`), Tenant: tenant}
}

// nullable is SQL NULL for an empty string.
func nullable(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
