package store

import (
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// call is one door with its arguments.
type call struct {
	sql  string
	args []any
	read func(pgx.Rows) error // nil: the rows do not matter
}

// send makes the calls in one transaction and one round trip, and reads what comes back.
func send(ctx context.Context, conn *pgx.Conn, calls []call) error {
	batch := &pgconn.Batch{}
	for _, c := range calls {
		if err := c.queue(batch, conn.TypeMap()); err != nil {
			return err
		}
	}
	results := conn.PgConn().ExecBatch(ctx, batch)
	err := readAll(results, conn.TypeMap(), calls)
	if closeErr := results.Close(); err == nil {
		err = closeErr
	}
	return err
}

// queue adds the call to the batch. Arguments are text, as the driver writes it, and the server takes their
// types from the statement. Only a vector goes in binary, which a batch of the driver cannot do.
func (c call) queue(batch *pgconn.Batch, types *pgtype.Map) error {
	args := slices.Clone(c.args)
	for i := range args {
		if _, ok := args[i].(vector); ok {
			args[i] = nil
		}
	}
	var b pgx.ExtendedQueryBuilder
	if err := b.Build(types, nil, args); err != nil {
		return err
	}
	for i := range args {
		if v, ok := c.args[i].(vector); ok {
			b.ParamValues[i], b.ParamFormats[i] = v.binary(), pgtype.BinaryFormatCode
		}
	}
	batch.ExecParams(c.sql, b.ParamValues, nil, b.ParamFormats, nil)
	return nil
}

func readAll(results *pgconn.MultiResultReader, types *pgtype.Map, calls []call) error {
	for i, c := range calls {
		err := c.take(results, types)
		switch {
		case err != nil && i == 0:
			return unbegun(err)
		case err != nil:
			return err
		}
	}
	return nil
}

// take reads the result of the call, which is the next one.
func (c call) take(results *pgconn.MultiResultReader, types *pgtype.Map) error {
	if !results.NextResult() {
		if err := results.Close(); err != nil {
			return err
		}
		return errors.New("a statement without a result")
	}
	rows := pgx.RowsFromResultReader(types, results.ResultReader())
	defer rows.Close()
	if c.read != nil {
		if err := c.read(rows); err != nil {
			return err
		}
	}
	rows.Close()
	return rows.Err()
}
