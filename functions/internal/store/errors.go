package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"porchlight/functions/internal/problem"
)

// retryAfter is how long a client is asked to wait when the database does not answer.
const retryAfter = 2 * time.Second

// errUnbegun marks a batch of which the server did nothing.
var errUnbegun = errors.New("the connection had ended before the batch")

func isUnbegun(err error) bool { return errors.Is(err, errUnbegun) }

// unbegun judges the error of a batch's first statement. When the server's first word is that it has
// ended the connection, or nothing could be sent, no later statement has run: answers come in order.
func unbegun(err error) error {
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == "57P01" || pgconn.SafeToRetry(err) {
		return fmt.Errorf("%w: %w", errUnbegun, err)
	}
	return err
}

// isLate says that nobody answered in time.
func isLate(err error) bool { return errors.Is(err, context.DeadlineExceeded) || pgconn.Timeout(err) }

// isBroken says that a connection ended in the middle of a batch: what the server did of it is unknown. One
// that could not be made at all is not meant.
func isBroken(err error) bool {
	var pg *pgconn.PgError
	var connect *pgconn.ConnectError
	var network net.Error
	switch {
	case err == nil || isLate(err) || errors.As(err, &connect):
		return false
	case errors.As(err, &pg):
		return strings.HasPrefix(pg.Code, "57P") || strings.HasPrefix(pg.Code, "08")
	}
	return errors.As(err, &network) || errors.Is(err, net.ErrClosed) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, pgconn.ErrConnClosed)
}

// isDead says that the connection had ended, before the batch or in the middle of it.
func isDead(err error) bool { return isUnbegun(err) || isBroken(err) }

// translate gives an error of the driver its code. What the server says in a message may hold
// values of rows, so only the SQLSTATE of an unknown error is kept.
func translate(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctxErr := ctx.Err(); errors.Is(ctxErr, context.Canceled) {
		return ctxErr
	}
	var pg *pgconn.PgError
	var connect *pgconn.ConnectError
	switch {
	case errors.As(err, &pg):
		return translateState(pg)
	case errors.Is(err, pgx.ErrNoRows):
		return problem.New(problem.NotFound, errors.New("no row"))
	case isLate(err):
		return unavailable(errors.New("the database did not answer in time"))
	case errors.As(err, &connect):
		return unavailable(errors.New("the database can't be reached"))
	case isDead(err):
		return unavailable(errors.New("the connection to the database broke"))
	}
	return problem.New(problem.Internal, err)
}

func translateState(pg *pgconn.PgError) error {
	code := problem.Code(pg.Message)
	switch {
	case strings.HasPrefix(pg.Code, "PT") && problem.Known(code):
		return &problem.Error{Code: code, Err: errors.New("refused by the database")}
	case pg.Code == "57014", pg.Code == "53300", pg.Code == "55P03",
		strings.HasPrefix(pg.Code, "57P"), strings.HasPrefix(pg.Code, "08"):
		// too slow, too many connections, a lock that nobody let go of, or the server or pooler went away
		return unavailable(errors.New("SQLSTATE " + pg.Code))
	}
	return problem.New(problem.Internal, errors.New("SQLSTATE "+pg.Code+" in "+pg.Routine))
}

func unavailable(cause error) error {
	return &problem.Error{Code: problem.DatabaseUnavailable, RetryAfter: retryAfter, Err: cause}
}
