// Package app is the only wiring: it turns a checked configuration into a pool, models and
// handlers. The same handlers run on Lambda and on one machine; nothing here asks which.
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path"
	"time"

	"github.com/google/uuid"

	"porchlight/functions/internal/config"
	"porchlight/functions/internal/extract"
	"porchlight/functions/internal/identity"
	"porchlight/functions/internal/model"
	"porchlight/functions/internal/problem"
	"porchlight/functions/internal/store"
	"porchlight/functions/internal/turn"
	"porchlight/functions/internal/web"
)

// App holds the handlers and what they share.
type App struct {
	Ask     http.Handler // POST /v1/ask, GET /v1/turns/{id}
	Reindex http.Handler // POST /v1/reindex, GET /v1/reindex/{run}
	Review  http.Handler // GET /v1/review/stale, POST /v1/review/chunks/{id}/verify
	store   *store.Store
	models  *models
	options web.Options
}

// personWithin is the limit of a statement that a person waits for; a search takes a fiftieth of it. A
// reindex has that of the store.
const personWithin = time.Second

// New checks that the database has its schema and that the login is one that row-level security holds. A
// database that does not answer, as when many processes start at once, is no reason to end: requests get 503
// until one reaches it, and then it is checked before that one is answered. Close the App when done.
func New(ctx context.Context, c config.Config, log io.Writer) (*App, error) {
	models, err := openModels(ctx, c)
	if err != nil {
		return nil, err
	}
	db, err := store.Open(ctx, store.Options{URL: c.DatabaseURL.Reveal(), MaxConnections: int32(c.MaxConnections)})
	if err != nil {
		return nil, errors.Join(err, models.close())
	}
	a := &App{store: db, models: models}
	if err := a.wire(ctx, c, log); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

func (a *App) wire(ctx context.Context, c config.Config, log io.Writer) error {
	a.options = web.Options{
		Logger: slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: c.LogLevel})),
		Now:    time.Now, NewID: uuid.NewString, Origins: c.AllowedOrigins,
	}
	quick := a.store.Within(personWithin)
	if err := quick.Check(ctx); problem.From(err).Code == problem.DatabaseUnavailable {
		a.options.Logger.Warn("start", slog.String("error", err.Error()))
	} else if err != nil {
		return err
	}
	verifier, err := newVerifier(c)
	if err != nil {
		return err
	}
	asker := &turn.Service{
		Store: quick, Providers: a.models.providers, Local: a.models.local,
		Extractor: extract.Extractor{Embed: a.models.sentences},
		Now:       time.Now, Sleep: model.Sleep, NewNonce: uuid.NewString,
	}
	a.Ask = web.NewAsk(a.options, verifier, asker)
	a.Reindex = web.NewReindex(a.options, verifier, &reindexer{
		Indexer: Indexer{a.models}, store: a.store, root: c.LibraryDir,
	})
	a.Review = web.NewReview(a.options, verifier, reviewer{quick})
	return nil
}

// Handler serves all routes of the App and GET /healthz.
func (a *App) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/v1/ask", a.Ask)
	mux.Handle("/v1/turns/", a.Ask)
	mux.Handle("/v1/reindex", a.Reindex)
	mux.Handle("/v1/reindex/", a.Reindex)
	mux.Handle("/v1/review/", a.Review)
	rest := web.NewHealth(a.options) // which also tells unknown paths that they are unknown
	mux.Handle("/", rest)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path.Clean(r.URL.Path) != r.URL.Path { // ServeMux would redirect
			rest.ServeHTTP(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// Indexer runs reindexes with the models of the App, which closes them.
func (a *App) Indexer() Indexer { return Indexer{a.models} }

// Close closes the pool and the models.
func (a *App) Close() error {
	a.store.Close()
	return a.models.close()
}

// Start is for the Lambda functions: it reads the environment and wires an App, or tells the log of
// the function what is missing and ends the process, so that a wrong deployment is seen at once.
func Start(ctx context.Context) *App {
	c, err := config.Load(os.Getenv)
	if err == nil {
		var a *App
		if a, err = New(ctx, c, os.Stderr); err == nil {
			return a
		}
	}
	fmt.Fprintln(os.Stderr, "porchlight:", err)
	os.Exit(1)
	return nil
}

// newVerifier takes the public keys of the issuer, unless the project still signs with a shared secret.
func newVerifier(c config.Config) (*identity.Verifier, error) {
	v := identity.VerifierConfig{Issuer: c.JWTIssuer, Audience: "authenticated", Now: time.Now}
	if c.JWTSecret != "" {
		v.HS256Secret = []byte(c.JWTSecret.Reveal())
	} else {
		v.JWKSURL = c.JWKSURL
	}
	return identity.NewVerifier(v)
}
