// Package store is the only place in Go that speaks SQL, and all it says is calls of api.*: one
// method each. Every call is one transaction in one round trip: who is asking and what is asked
// travel in the same batch, so nothing about a caller outlives the transaction on a pooled link.
package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
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
	pool    *pgxpool.Pool
	timeout time.Duration // of each statement on the server
}

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
	config.ConnConfig.ConnectTimeout = 3 * time.Second
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
	return &Store{pool: pool, timeout: o.StatementTimeout}, nil
}

// Close closes the pool.
func (s *Store) Close() { s.pool.Close() }

// become sets who is asking for this transaction only: role, claims, the brand a platform admin
// acts for, and the time limit of a statement. The name is whole, since a database may have any
// search_path.
const become = `select pg_catalog.set_config('role', $1, true), pg_catalog.set_config('request.jwt.claims', $2, true),
	pg_catalog.set_config('porchlight.tenant', $3, true), pg_catalog.set_config('statement_timeout', $4, true)`

// call is one door with its arguments.
type call struct {
	sql  string
	args []any
	read func(pgx.Rows) error // nil: the rows do not matter
}

// as runs the calls in one transaction as the principal, in one round trip. The role and the claims
// are in force when the next statement of the batch is parsed, since the server takes them in turn. A
// batch that the server never began, because it had ended the idle connection, is sent once more.
func (s *Store) as(ctx context.Context, p identity.Principal, calls ...call) error {
	err := s.once(ctx, p, calls...)
	if errors.Is(err, errUnbegun) {
		err = s.once(ctx, p, calls...)
	}
	return translate(ctx, err)
}

// overhead is what a batch may take beside its statements, before a silent server counts as away.
const overhead = time.Second

func (s *Store) once(ctx context.Context, p identity.Principal, calls ...call) error {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(len(calls))*s.timeout+overhead)
	defer cancel()
	batch := &pgx.Batch{}
	batch.Queue(become, p.Role, string(p.Claims), p.Tenant, strconv.FormatInt(s.timeout.Milliseconds(), 10))
	for _, c := range calls {
		batch.Queue(c.sql, c.args...)
	}
	results := s.pool.SendBatch(ctx, batch)
	err := readAll(results, calls)
	if closeErr := results.Close(); err == nil {
		err = closeErr
	}
	return err
}

func readAll(results pgx.BatchResults, calls []call) error {
	if _, err := results.Exec(); err != nil {
		return unbegun(err)
	}
	for _, c := range calls {
		if c.read == nil {
			if _, err := results.Exec(); err != nil {
				return err
			}
			continue
		}
		rows, err := results.Query()
		if err != nil {
			return err
		}
		err = c.read(rows)
		rows.Close()
		if err == nil {
			err = rows.Err()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ask is as for calls that only read: when the connection turned out to be dead it asks once more.
func (s *Store) ask(ctx context.Context, p identity.Principal, calls ...call) error {
	err := s.as(ctx, p, calls...)
	if isBrokenLink(err) {
		err = s.as(ctx, p, calls...)
	}
	return err
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
