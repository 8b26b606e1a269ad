package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"porchlight/functions/internal/app"
	"porchlight/functions/internal/config"
	"porchlight/functions/internal/ingest"
	"porchlight/functions/internal/problem"
	"porchlight/functions/local/auth"
	"porchlight/functions/local/postgres"
)

// world is everything on one machine: a database, sign-in, and the handlers behind one address.
type world struct {
	operator *operator
	app      *app.App
	url      string
	closers  []func() error // undone last to first
	failed   chan error     // the HTTP server ended on its own
}

type worldOptions struct {
	dir     string // of the database; empty: a temporary one
	address string // host:port to listen on
	library string // folder with one folder of documents a brand
	log     *os.File
	say     func(string)
}

// openWorld starts it all. Close it when done, also after an error of a later step.
func openWorld(ctx context.Context, o worldOptions) (w *world, err error) {
	w = &world{failed: make(chan error, 1)}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	if host, _, err := net.SplitHostPort(o.address); err != nil || !isLoopback(host) {
		return w, fmt.Errorf("--address must be host:port of this machine, such as 127.0.0.1:8787; " +
			"others reach it through a proxy that speaks TLS")
	}
	listener, err := net.Listen("tcp", o.address)
	if err != nil {
		return w, fmt.Errorf("listen on %s: %w; choose another with --address", o.address, err)
	}
	w.closers = append(w.closers, ignoreClosed(listener.Close))
	w.url = "http://" + listener.Addr().String()

	server, err := startPostgres(ctx, o.dir, o.say)
	if err != nil {
		return w, err
	}
	w.closers = append(w.closers, server.Stop)
	if w.operator, err = openOperator(ctx, server); err != nil {
		return w, err
	}
	w.closers = append(w.closers, w.operator.close)

	handler, err := w.handler(ctx, server, o)
	if err != nil {
		return w, err
	}
	w.serve(listener, handler)
	return w, nil
}

// handler wires the product as hosted, with only its environment filled in, and the local subset of
// Supabase Auth beside it.
func (w *world) handler(ctx context.Context, server *postgres.Server, o worldOptions) (http.Handler, error) {
	cache, err := postgres.CacheDir()
	if err != nil {
		return nil, err
	}
	local := map[string]string{
		"PORCHLIGHT_DATABASE_URL":    server.RuntimeURL(server.Database()),
		"SUPABASE_URL":               w.url,
		"PORCHLIGHT_LOCAL_MODEL_DIR": cache,
		"PORCHLIGHT_LIBRARY_DIR":     o.library,
	}
	c, err := config.Load(func(name string) string {
		if v, ok := local[name]; ok {
			return v
		}
		return os.Getenv(name)
	})
	if err != nil {
		return nil, err
	}
	a, err := app.New(ctx, c, o.log)
	if err != nil {
		return nil, err
	}
	w.app = a
	w.closers = append(w.closers, a.Close)

	key, err := w.signingKey(o)
	if err != nil {
		return nil, err
	}
	signIn, err := auth.New(auth.Config{
		Store: w.operator.auth, Key: key, Issuer: w.url + "/auth/v1", Now: time.Now,
		Log: slog.New(slog.NewJSONHandler(o.log, nil)),
	})
	if err != nil {
		return nil, err
	}
	product := a.Handler()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/auth/v1/") {
			signIn.ServeHTTP(w, r)
			return
		}
		product.ServeHTTP(w, r)
	}), nil
}

// signingKey lies beside the database, since the sessions in it were signed with it.
func (w *world) signingKey(o worldOptions) (*auth.Key, error) {
	dir := o.dir
	if dir == "" {
		temporary, err := os.MkdirTemp("", "porchlight-key-")
		if err != nil {
			return nil, err
		}
		w.closers = append(w.closers, func() error { return os.RemoveAll(temporary) })
		dir = temporary
	}
	if err := os.MkdirAll(dir, 0o700); err != nil { // Postgres makes it, unless somebody else runs Postgres
		return nil, err
	}
	return auth.LoadOrCreateKey(filepath.Join(dir, "auth-es256.pem"))
}

// How a server ends: nothing new is taken, what runs may finish, and what has not is told so and logged.
const (
	finishWithin = 8 * time.Second
	logWithin    = 4 * time.Second
)

func (w *world) serve(listener net.Listener, handler http.Handler) {
	ctx, stop := context.WithCancelCause(context.Background())
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: 10 * time.Second,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			w.failed <- err
		}
	}()
	w.closers = append(w.closers, func() error {
		err := shutdown(server, finishWithin)
		stop(&problem.Error{Code: problem.ServiceStopping, RetryAfter: time.Second})
		if errors.Is(err, context.DeadlineExceeded) {
			err = shutdown(server, logWithin)
		}
		return err
	})
}

func shutdown(server *http.Server, within time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	return server.Shutdown(ctx)
}

// index brings a brand up to date from its folder.
func (w *world) index(ctx context.Context, slug, dir string, say func(string)) (ingest.Summary, error) {
	return index(ctx, w.app.Indexer(), w.operator.store, slug, dir, ingest.Selection{All: true}, say)
}

func (w *world) close() error {
	var errs []error
	for i := len(w.closers) - 1; i >= 0; i-- {
		errs = append(errs, w.closers[i]())
	}
	w.closers = nil
	return errors.Join(errs...)
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func ignoreClosed(close func() error) func() error {
	return func() error {
		if err := close(); !errors.Is(err, net.ErrClosed) {
			return err
		}
		return nil
	}
}
