package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"porchlight/functions/internal/store"
	"porchlight/functions/local/postgres"
)

// database says which database the operator's verbs work on.
type database struct {
	DatabaseURL string `help:"Owner's address of a hosted database (postgres://postgres:…). Empty: the one of this machine." env:"PORCHLIGHT_ADMIN_DATABASE_URL"`
	Data        string `help:"Folder of the database of this machine." default:"${data}" env:"PORCHLIGHT_DATA"`
}

// operatorTimeout lets the operator's statements take longer than a person at a door would wait.
const operatorTimeout = time.Minute

// operator is the way of the person who owns the database: straight to it, as service_role.
type operator struct {
	store *store.Store
	auth  *store.Auth // nil on a hosted database: Supabase Auth makes the users there
	stop  func() error
}

// open reaches the database: a hosted one by its address, the one of a running `porchlight serve`, or
// the one in the folder, started for as long as the command takes.
func (d database) open(ctx context.Context) (*operator, error) {
	if d.DatabaseURL != "" {
		db, err := store.Open(ctx, store.Options{URL: d.DatabaseURL, StatementTimeout: operatorTimeout})
		if err != nil {
			return nil, err
		}
		return &operator{store: db, stop: func() error { return nil }}, nil
	}
	server, err := postgres.Find(ctx, d.Data)
	if errors.Is(err, os.ErrNotExist) {
		server, err = startPostgres(ctx, d.Data, whisper)
	}
	if err != nil {
		return nil, err
	}
	op, err := openOperator(ctx, server)
	if err != nil {
		return nil, errors.Join(err, server.Stop())
	}
	op.stop = server.Stop
	return op, nil
}

func startPostgres(ctx context.Context, dir string, say func(string)) (*postgres.Server, error) {
	server, err := postgres.Start(ctx, postgres.Options{Dir: dir, Fast: dir == "", Say: say})
	if err != nil {
		return nil, err
	}
	if err := server.Prepare(ctx); err != nil {
		return nil, errors.Join(err, server.Stop())
	}
	return server, nil
}

func openOperator(ctx context.Context, server *postgres.Server) (*operator, error) {
	db, err := store.Open(ctx, store.Options{
		URL: server.URL("postgres", server.Database()), StatementTimeout: operatorTimeout,
	})
	if err != nil {
		return nil, err
	}
	users, err := store.OpenAuth(ctx, store.Options{URL: server.URL("supabase_auth_admin", server.Database())})
	if err != nil {
		db.Close()
		return nil, err
	}
	return &operator{store: db, auth: users, stop: func() error { return nil }}, nil
}

func (o *operator) close() error {
	o.store.Close()
	if o.auth != nil {
		o.auth.Close()
	}
	return o.stop()
}

// dataDir is where the database of this machine lives. The superuser's is outside of its home, since
// Postgres then runs as somebody who may not look in there.
func dataDir() string {
	if os.Getuid() == 0 {
		return "/var/lib/porchlight"
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return filepath.Join(os.TempDir(), fmt.Sprintf("porchlight-%d", os.Getuid()))
	}
	return filepath.Join(home, ".local", "share", "porchlight")
}
