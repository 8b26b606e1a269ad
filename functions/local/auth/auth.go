// Package auth is the part of Supabase Auth that Porchlight needs without a Supabase project:
// password sign-in, refresh, the user, signing out and the key set, under /auth/v1. It answers in
// the shapes of the real server, so that supabase-js and supabase-go work against it unchanged.
// Users are made by the operator (store.Auth.CreateUser): there is no sign-up, mail or reset.
package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"porchlight/functions/internal/store"
)

const (
	prefix       = "/auth/v1"
	maxBodyBytes = 64 << 10
)

// Config is what the server works with. All fields are required.
type Config struct {
	Store  *store.Auth // connected as supabase_auth_admin
	Key    *Key        // signs access tokens
	Issuer string      // iss of access tokens: the address of this server with /auth/v1
	Now    func() time.Time
	Log    *slog.Logger // is told of failures on our side, without addresses or tokens
}

type server struct{ Config }

// New returns the handler for everything under /auth/v1. Paths outside the subset are 404.
func New(cfg Config) (http.Handler, error) {
	if cfg.Store == nil || cfg.Key == nil || cfg.Issuer == "" || cfg.Now == nil || cfg.Log == nil {
		return nil, errors.New("auth: Store, Key, Issuer, Now and Log are required")
	}
	s := &server{Config: cfg}
	mux := http.NewServeMux()
	mux.Handle("POST "+prefix+"/token", s.endpoint(s.token))
	mux.Handle("GET "+prefix+"/user", s.endpoint(s.getUser))
	mux.Handle("PUT "+prefix+"/user", s.endpoint(s.putUser))
	mux.Handle("POST "+prefix+"/logout", s.endpoint(s.logout))
	mux.Handle("GET "+prefix+"/.well-known/jwks.json", s.endpoint(s.keySet))
	mux.Handle("GET "+prefix+"/health", s.endpoint(s.health))
	mux.HandleFunc("/", http.NotFound)
	return allowBrowsers(mux), nil
}

// serveWithin bounds a request, so that a database that does not answer is an error and no hang.
const serveWithin = 6 * time.Second

// endpoint writes what the function returns as an error.
func (s *server) endpoint(serve func(http.ResponseWriter, *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), serveWithin)
		defer cancel()
		r = r.WithContext(ctx)
		if err := serve(w, r); err != nil {
			s.fail(w, r, err)
		}
	})
}

// allowBrowsers lets pages of any origin call the server. Tokens travel in headers and never in
// cookies, so a foreign page can do no more than any other program.
func allowBrowsers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", "*")
		h.Set("Access-Control-Expose-Headers", strings.Join([]string{versionHeader, codeHeader}, ", "))
		if r.Method == http.MethodOptions {
			h.Set("Access-Control-Allow-Methods", "GET, POST, PUT")
			h.Set("Access-Control-Allow-Headers", "Accept, Apikey, Authorization, Content-Type, X-Client-Info, "+versionHeader)
			h.Set("Access-Control-Max-Age", "600")
			w.WriteHeader(http.StatusNoContent)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *server) keySet(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Cache-Control", "public, max-age=600")
	return write(w, http.StatusOK, map[string]any{"keys": []any{s.Key.public()}})
}

func (s *server) health(w http.ResponseWriter, _ *http.Request) error {
	return write(w, http.StatusOK, map[string]string{
		"version": "", "name": "Porchlight", "description": "the local part of Supabase Auth that Porchlight needs",
	})
}

// read decodes the body as JSON into target.
func read(w http.ResponseWriter, r *http.Request, target any) error {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBodyBytes))
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return refuse(http.StatusRequestEntityTooLarge, "validation_failed", "Request body is too large")
	}
	if err != nil {
		return refuse(http.StatusBadRequest, "bad_json", "Could not read request body")
	}
	if err := json.Unmarshal(body, target); err != nil {
		return refuse(http.StatusBadRequest, "bad_json", "Could not parse request body as JSON: "+err.Error())
	}
	return nil
}

func write(w http.ResponseWriter, status int, body any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("write response: %w", err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(raw) // the client has left: nobody is there to be told
	return nil
}
