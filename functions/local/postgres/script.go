package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// RunScript runs a file of statements, in one implicit transaction unless it says otherwise, and
// returns the first column of every row that any of them returned, as text. On failure it returns the
// rows so far, and the error names the line.
func RunScript(ctx context.Context, conn *pgx.Conn, script string) (lines []string, err error) {
	results, err := conn.PgConn().Exec(ctx, script).ReadAll()
	for _, result := range results {
		for _, row := range result.Rows {
			if len(row) > 0 {
				lines = append(lines, string(row[0]))
			}
		}
	}
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		if line := refusedLine(script, refused); line > 0 {
			err = fmt.Errorf("line %d: %w", line, err)
		}
	}
	return lines, err
}

// refusedLine returns the line of the script that the server refused, or 0 where it does not say. A
// statement inside a DO block is told apart by its text.
func refusedLine(script string, refused *pgconn.PgError) int {
	begin, text, position := 0, script, int(refused.Position)
	if refused.InternalPosition > 0 {
		begin = max(0, strings.Index(script, refused.InternalQuery))
		text, position = script[begin:], int(refused.InternalPosition)
	}
	if position == 0 {
		return 0
	}
	characters := []rune(text)
	before := script[:begin] + string(characters[:min(position-1, len(characters))])
	return 1 + strings.Count(before, "\n")
}

// execute runs a file of statements whose rows nobody needs.
func execute(ctx context.Context, conn *pgx.Conn, script string) error {
	_, err := RunScript(ctx, conn, script)
	return err
}

// executeFormat runs a statement that takes no parameters, with names (%I) and literals (%L) quoted
// by the server.
func executeFormat(ctx context.Context, conn *pgx.Conn, format string, values ...string) error {
	var statement string
	if err := conn.QueryRow(ctx, "select format($1, variadic $2::text[])", format, values).Scan(&statement); err != nil {
		return err
	}
	return execute(ctx, conn, statement)
}

func (s *Server) withAdmin(ctx context.Context, database string, work func(*pgx.Conn) error) error {
	conn, err := pgx.Connect(ctx, s.AdminURL(database))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	return work(conn)
}
