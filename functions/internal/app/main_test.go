package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/jackc/pgx/v5"

	"porchlight/functions/internal/config"
	"porchlight/functions/internal/ingest"
	"porchlight/functions/internal/store"
	"porchlight/functions/local/postgres"
)

// What the tests share: one Postgres, and the local model, of which one session serves every App.
var (
	server *postgres.Server
	shared *models
)

func TestMain(m *testing.M) {
	code, err := runAll(context.Background(), m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runAll(ctx context.Context, m *testing.M) (int, error) {
	cache, err := postgres.CacheDir()
	if err != nil {
		return 1, err
	}
	if shared, err = openModels(ctx, config.Config{LocalModelDir: cache}); err != nil {
		return 1, err
	}
	if server, err = postgres.Start(ctx, postgres.Options{Fast: true}); err != nil {
		return 1, err
	}
	code := m.Run()
	if err := server.Stop(); err != nil {
		return 1, err
	}
	return code, shared.close()
}

const (
	alice    = "aaaaaaaa-0000-4000-8000-000000000001" // rep of the brand
	secret   = "Kq7-only-for-the-tests-of-this-package-9Zt"
	issuer   = "https://project.example/auth/v1"
	question = "What is the price of the Ember Nook?"
	answer   = "€1,240.00"
	patience = 90 * time.Second // for what has to happen at some time
)

// fixture is a database with one brand, whose documents are indexed, and the token of its rep.
type fixture struct {
	name  string
	admin *pgx.Conn // superuser
	token string
}

func newFixture(t *testing.T) fixture {
	t.Helper()
	f := fixture{name: "app_" + strings.ToLower(t.Name())}
	f.name = f.name[:min(len(f.name), 60)]
	if err := server.CreateDatabase(t.Context(), f.name); err != nil {
		t.Fatal(err)
	}
	var err error
	if f.admin, err = pgx.Connect(t.Context(), server.AdminURL(f.name)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.admin.Close(context.Background()) })
	f.exec(t, `insert into auth.users (id, email) values ($1::text::uuid, 'alice@ember.example')`, alice)
	brand := f.index(t, map[string]string{
		"brand.yaml": "slug: ember\nname: Ember\nlimits: {turns_per_minute: 1000, turns_per_day: 10000}\n" +
			"members: [{email: alice@ember.example, role: rep}]\n",
		"prices/stoves.md": "---\ntitle: Stoves\ntype: price\nverified_at: " + time.Now().AddDate(0, 0, -2).Format(time.DateOnly) +
			"\n---\n# Stoves\n\n| Stove | Price |\n|---|---|\n| Ember Nook | €1,240.00 |\n| Ember Hall | €2,310.00 |\n",
	})
	now := time.Now().Unix()
	f.token, err = jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{
		"iss": issuer, "aud": "authenticated", "role": "authenticated", "sub": alice, "iat": now, "exp": now + 3600,
		"app_metadata": map[string]string{"tenant_id": brand},
	}).SignedString([]byte(secret))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// index registers the brand of these files and indexes them, as the operator would.
func (f fixture) index(t *testing.T, files map[string]string) (brandID string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	db, err := store.Open(t.Context(), store.Options{URL: server.URL("postgres", f.name), StatementTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	brand, err := ingest.ReadBrand(os.DirFS(dir))
	if err == nil {
		brandID, err = db.RegisterTenant(t.Context(), store.Service(""), brand)
	}
	for _, m := range brand.Members {
		if err == nil {
			err = db.AddMember(t.Context(), store.Service(brand.Slug), m.Email, m.Role)
		}
	}
	if err == nil {
		_, err = Indexer{shared}.Index(t.Context(), Job{
			Store: db, Principal: store.Service(brand.Slug), Selection: ingest.Selection{All: true},
			Folder: func(string) string { return dir },
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return brandID
}

func (f fixture) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	if _, err := f.admin.Exec(t.Context(), sql, args...); err != nil {
		t.Fatal(err)
	}
}

func (f fixture) count(t *testing.T, sql string) (n int) {
	t.Helper()
	if err := f.admin.QueryRow(t.Context(), sql).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// open wires an App as New does, with the shared model, on that address of the database.
func (f fixture) open(ctx context.Context, address string, log io.Writer) (*App, error) {
	db, err := store.Open(ctx, store.Options{URL: address, MaxConnections: 2})
	if err != nil {
		return nil, err
	}
	a := &App{store: db, models: shared}
	if err := a.wire(ctx, config.Config{JWTIssuer: issuer, JWTSecret: secret}, log); err != nil {
		db.Close()
		return nil, err
	}
	return a, nil
}

// reply is what became of a question.
type reply struct {
	status     int
	retryAfter string
	answer     string // or the code of the error
	took       time.Duration
}

// isAnswer and isBusy are the two that a caller may get.
func (r reply) isAnswer() bool {
	return r.status == http.StatusOK && strings.Contains(r.answer, answer)
}

func (r reply) isBusy() bool {
	return r.status == http.StatusServiceUnavailable && r.answer == "database_unavailable" && r.retryAfter != ""
}

// ask puts the question to an App in its own process, as one JSON body.
func (f fixture) ask(ctx context.Context, a *App) reply {
	began := time.Now()
	request := httptest.NewRequestWithContext(ctx, http.MethodPost, "/v1/ask", strings.NewReader(`{"question":"`+question+`"}`))
	request.Header.Set("Authorization", "Bearer "+f.token)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	w := httptest.NewRecorder()
	a.Ask.ServeHTTP(w, request)
	var body struct {
		Answer string
		Error  struct{ Code string }
	}
	_ = json.Unmarshal(w.Body.Bytes(), &body) // then both are empty, and nobody takes it for an answer
	return reply{w.Code, w.Header().Get("Retry-After"), body.Answer + body.Error.Code, time.Since(began)}
}
