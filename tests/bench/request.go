package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// The statements of one request, as the functions send them.
const (
	become = `select pg_catalog.set_config('role', $1, true), pg_catalog.set_config('request.jwt.claims', $2, true),
		pg_catalog.set_config('porchlight.tenant', $3, true), pg_catalog.set_config('statement_timeout', $4, true)`
	match = `select chunk_id, source_id, source_type, source_title, coalesce(source_url, ''), heading_path,
			content, language, verified_at, is_pricing, is_stale, is_relevant, similarity, score
		from api.match_chunks_primary($1::extensions.vector, $2, $3, $4::integer, $5::double precision)`
	noop = `select login, is_unsafe from api.nothing()`
)

// nothing is the least that a door can do: say who is connected.
const nothing = `
	create function api.nothing() returns table (login text, is_unsafe boolean)
	language sql stable set search_path = ''
	begin atomic
		select r.rolname::text, r.rolsuper or r.rolbypassrls from pg_catalog.pg_roles r where r.rolname = session_user;
	end;
	grant execute on function api.nothing to authenticated`

const (
	primaryModel = "gemini-embedding-001"
	answers      = 6 // chunks that a question gets
)

// caller is a connection, and who speaks over it.
type caller struct {
	conn                 *pgx.Conn
	role, claims, tenant string
}

// connect opens a connection as the functions do: nothing is prepared on it.
func connect(ctx context.Context, address string) (*pgx.Conn, error) {
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return nil, err
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	return pgx.ConnectConfig(ctx, config)
}

// rep is a member of the brand who speaks over the connection.
func rep(conn *pgx.Conn, b *brand) caller {
	claims, _ := json.Marshal(map[string]any{ // of strings, so it cannot fail
		"sub": b.user.String(), "role": "authenticated",
		"app_metadata": map[string]any{"tenant_id": b.id.String()},
	})
	return caller{conn: conn, role: "authenticated", claims: string(claims)}
}

// operator is the service, which row-level security does not hold, acting for the brand.
func operator(conn *pgx.Conn, b *brand) caller {
	return caller{conn: conn, role: "service_role", claims: `{"role":"service_role"}`, tenant: b.slug}
}

func (c caller) who() []any { return []any{c.role, c.claims, c.tenant, "60000"} }

// ask makes one request: one implicit transaction, one round trip. It returns the first column.
func (c caller) ask(ctx context.Context, sql string, arguments ...any) (first []string, err error) {
	batch := &pgconn.Batch{}
	for _, s := range []statement{{become, c.who()}, {sql, arguments}} {
		values, formats, err := s.encode(c.conn.TypeMap())
		if err != nil {
			return nil, err
		}
		batch.ExecParams(s.sql, values, nil, formats, nil)
	}
	results := c.conn.PgConn().ExecBatch(ctx, batch)
	for results.NextResult() { // the last one counts
		if first, err = firsts(pgx.RowsFromResultReader(c.conn.TypeMap(), results.ResultReader())); err != nil {
			break
		}
	}
	if closing := results.Close(); err == nil {
		err = closing
	}
	return first, err
}

// askInTurn makes the same request as most programs do: each statement waits for the one before.
func (c caller) askInTurn(ctx context.Context, sql string, arguments ...any) (first []string, err error) {
	err = pgx.BeginFunc(ctx, c.conn, func(tx pgx.Tx) error {
		for _, s := range []statement{{become, c.who()}, {sql, arguments}} {
			values, formats, err := s.encode(c.conn.TypeMap())
			if err != nil {
				return err
			}
			result := c.conn.PgConn().ExecParams(ctx, s.sql, values, nil, formats, nil)
			if first, err = firsts(pgx.RowsFromResultReader(c.conn.TypeMap(), result)); err != nil {
				return err
			}
		}
		return nil
	})
	return first, err
}

type statement struct {
	sql       string
	arguments []any
}

// encode writes the arguments as text, and a vector in binary, as the functions do.
func (s statement) encode(types *pgtype.Map) (values [][]byte, formats []int16, err error) {
	arguments := slices.Clone(s.arguments)
	for i := range arguments {
		if _, ok := arguments[i].([]float32); ok {
			arguments[i] = nil
		}
	}
	var b pgx.ExtendedQueryBuilder
	if err := b.Build(types, nil, arguments); err != nil {
		return nil, nil, err
	}
	for i := range arguments {
		if v, ok := s.arguments[i].([]float32); ok {
			b.ParamValues[i], b.ParamFormats[i] = vectorBytes(v), pgtype.BinaryFormatCode
		}
	}
	return b.ParamValues, b.ParamFormats, nil
}

// firsts reads rows to their end and keeps the first column, which came as text.
func firsts(rows pgx.Rows) (first []string, err error) {
	defer rows.Close()
	for rows.Next() {
		first = append(first, string(rows.RawValues()[0]))
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read the rows: %w", err)
	}
	return first, nil
}

// search asks for the nearest chunks; without words by cosine alone.
func (c caller) search(ctx context.Context, question []float32, words string) ([]string, error) {
	return c.ask(ctx, match, question, primaryModel, words, answers, nil)
}
