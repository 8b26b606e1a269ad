package postgres

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"
)

// errAddress says nothing of the address: where its parts are cut wrongly, the password stands in one
// that people and drivers print.
var errAddress = errors.New("the address cannot be read: it has to be postgres://user:password@host:port/database, " +
	"with what is special in the password percent-encoded")

// parseAddress reads the address of a server.
func parseAddress(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	// after an unescaped slash the rest of the password is taken for the path
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" || u.Hostname() == "" ||
		strings.Contains(u.Path, "@") || u.Fragment != "" {
		return nil, errAddress
	}
	return u, nil
}

// connect opens a connection. Its errors name user, host and database, never the password.
func connect(ctx context.Context, address string) (*pgx.Conn, error) {
	u, err := parseAddress(address)
	if err != nil {
		return nil, err
	}
	config, err := pgx.ParseConfig(u.String())
	if err != nil {
		return nil, errAddress
	}
	return pgx.ConnectConfig(ctx, config)
}
