package store

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"porchlight/functions/internal/problem"
)

// retryAfter is how long a client is asked to wait when the database does not answer.
const retryAfter = 2 * time.Second

// errLink marks an error of the connection, not of the statement.
var errLink = errors.New("the connection to the database broke")

// errUnbegun marks a batch of which the server did nothing.
var errUnbegun = errors.New("the connection had ended before the batch")

// unbegun judges the error of a batch's first statement. When the server's first word is that it has
// ended the connection, or nothing could be sent, no later statement has run: answers come in order.
func unbegun(err error) error {
	var pg *pgconn.PgError
	var connect *pgconn.ConnectError
	isEnded := errors.As(err, &pg) && pg.Code == "57P01"
	if isEnded || pgconn.SafeToRetry(err) && !errors.As(err, &connect) {
		return fmt.Errorf("%w: %w", errUnbegun, err)
	}
	return err
}

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
	switch {
	case errors.As(err, &pg):
		return translateState(pg)
	case errors.Is(err, pgx.ErrNoRows):
		return problem.New(problem.NotFound, errors.New("no row"))
	case errors.Is(err, context.DeadlineExceeded), pgconn.Timeout(err):
		return unavailable(errors.New("the database did not answer in time"))
	case isLink(err):
		return unavailable(errLink)
	}
	return problem.New(problem.Internal, err)
}

func translateState(pg *pgconn.PgError) error {
	code := problem.Code(pg.Message)
	switch {
	case strings.HasPrefix(pg.Code, "PT") && problem.Known(code):
		return &problem.Error{Code: code, Err: errors.New("refused by the database")}
	case pg.Code == "57014", pg.Code == "53300", pg.Code == "55P03":
		// too slow, too many connections, or a lock that nobody let go of
		return unavailable(errors.New("SQLSTATE " + pg.Code))
	case strings.HasPrefix(pg.Code, "57P"), strings.HasPrefix(pg.Code, "08"):
		return unavailable(errLink)
	}
	return problem.New(problem.Internal, errors.New("SQLSTATE "+pg.Code+" in "+pg.Routine))
}

func unavailable(cause error) error {
	return &problem.Error{Code: problem.DatabaseUnavailable, RetryAfter: retryAfter, Err: cause}
}

func isLink(err error) bool {
	var network net.Error
	var connect *pgconn.ConnectError
	return errors.As(err, &network) || errors.As(err, &connect) || errors.Is(err, net.ErrClosed) ||
		strings.Contains(err.Error(), "unexpected EOF") || strings.Contains(err.Error(), "conn closed")
}

func isBrokenLink(err error) bool { return errors.Is(err, errLink) }
