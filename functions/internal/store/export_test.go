package store

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Settings are what a transaction says about its caller, as a connection has them, and which
// connection that is.
type Settings struct {
	Role, Claims, Tenant, StatementTimeout string
	Others                                 []string // names of what else was set on the connection and stayed
	Process                                int32    // of the server
}

// Left reads what a connection of the pool still says, as somebody who sets nothing.
func (s *Store) Left(ctx context.Context) (Settings, error) {
	// a setting of our own that nobody has set yet is NULL; one that was set for a transaction is empty
	rows, err := s.pool.Query(ctx, `select current_setting('role'),
		coalesce(current_setting('request.jwt.claims', true), ''),
		coalesce(current_setting('porchlight.tenant', true), ''), current_setting('statement_timeout'),
		array(select name from pg_settings where source = 'session' order by name), pg_backend_pid()`)
	if err != nil {
		return Settings{}, err
	}
	return pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[Settings])
}
