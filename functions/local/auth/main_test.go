package auth

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"golang.org/x/crypto/bcrypt"

	"porchlight/functions/internal/store"
	"porchlight/functions/local/postgres"
	"porchlight/supabase"
)

// database is one server for all tests; each test has a database of its own in it. testHash is a
// cheap hash of testPassword.
var (
	database *postgres.Server
	testHash string
)

// hook is a token hook whose behaviour an address chooses.
const hook = `
create schema private;
grant usage on schema private to supabase_auth_admin;
create function private.custom_access_token_hook(event jsonb) returns jsonb
language plpgsql stable
set search_path = ''
as $$
begin
    if event #>> '{claims,email}' like 'raises@%' then
        raise exception 'canary of the hook';
    elsif event #>> '{claims,email}' like 'refuses@%' then
        return '{"error": {"http_code": 403, "message": "Not on Sundays"}}';
    elsif event #>> '{claims,email}' like 'fails@%' then
        return '{"error": {"message": "Not at all"}}';
    elsif event #>> '{claims,email}' like 'drops@%' then
        return event #- '{claims,session_id}';
    elsif event #>> '{claims,email}' like 'shows@%' then
        return jsonb_set(event, '{claims,app_metadata,event}', event);
    end if;
    return jsonb_set(event, '{claims,app_metadata,tenant_id}', '"11111111-1111-1111-1111-111111111111"');
end
$$;`

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	shim, err := readShim()
	if err == nil {
		var hash []byte
		hash, err = bcrypt.GenerateFromPassword([]byte(testPassword), bcrypt.MinCost)
		testHash = string(hash)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	database, err = postgres.Start(context.Background(), postgres.Options{Fast: true, Files: fstest.MapFS{
		"shim.sql":                           {Data: []byte(shim)},
		"migrations/20260101000000_hook.sql": {Data: []byte(hook)},
	}})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if err := database.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

func readShim() (string, error) {
	var text strings.Builder
	for _, name := range []string{"shim.sql", "shim_auth.sql"} {
		raw, err := supabase.Files.ReadFile(name)
		if err != nil {
			return "", err
		}
		text.Write(raw)
	}
	return text.String(), nil
}

// clock is a time that a test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// backend is the handler behind a port, with a database of its own.
type backend struct {
	url   string // without /auth/v1
	name  string // of the database
	store *store.Auth
	clock *clock
	log   *bytes.Buffer
}

const (
	testEmail    = "rep@brand-one.example"
	testPassword = "correct horse battery"
)

// newBackend has the users of the addresses, all with testPassword.
func newBackend(t *testing.T, emails ...string) *backend {
	t.Helper()
	b := &backend{name: newDatabase(t), clock: &clock{now: time.Now()}, log: &bytes.Buffer{}}
	var err error
	if b.store, err = store.OpenAuth(t.Context(), store.Options{URL: database.URL("supabase_auth_admin", b.name)}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.store.Close)
	key, err := LoadOrCreateKey(filepath.Join(t.TempDir(), "key.pem"))
	if err != nil {
		t.Fatal(err)
	}
	var handler http.Handler
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	b.url = server.URL
	handler, err = New(Config{
		Store: b.store, Key: key, Issuer: b.url + "/auth/v1", Now: b.clock.Now, Log: slog.New(slog.NewTextHandler(b.log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, email := range emails {
		if _, err := b.store.CreateUser(t.Context(), email, testHash); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func newDatabase(t *testing.T) string {
	t.Helper()
	name := strings.ToLower(strings.NewReplacer("/", "_", " ", "_").Replace(t.Name()))
	name = name[:min(len(name), 50)] + "_" + newRefreshToken()[:8]
	if err := database.CreateDatabase(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := database.DropDatabase(context.WithoutCancel(t.Context()), name); err != nil {
			t.Error(err)
		}
	})
	return name
}

// reply is a response that has been read.
type reply struct {
	status int
	header http.Header
	text   string
	body   map[string]any // nil when the text is no JSON object
}

// send sends a request with headers as "Name: value".
func (b *backend) send(t *testing.T, method, path, body string, headers ...string) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, b.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	r := reply{status: resp.StatusCode, header: resp.Header, text: string(raw)}
	_ = json.Unmarshal(raw, &r.body) // stays nil
	return r
}

// session is what a client keeps.
type session struct{ access, refresh string }

func (r reply) session(t *testing.T) session {
	t.Helper()
	access, _ := r.body["access_token"].(string)
	refresh, _ := r.body["refresh_token"].(string)
	if r.status != http.StatusOK || access == "" || refresh == "" {
		t.Fatalf("no session: %d %s", r.status, r.text)
	}
	return session{access, refresh}
}

func (b *backend) signIn(t *testing.T, email string) reply {
	t.Helper()
	return b.send(t, "POST", "/auth/v1/token?grant_type=password", fmt.Sprintf(`{"email":%q,"password":%q}`, email, testPassword))
}

func (b *backend) refresh(t *testing.T, token string) reply {
	t.Helper()
	return b.send(t, "POST", "/auth/v1/token?grant_type=refresh_token", fmt.Sprintf(`{"refresh_token":%q}`, token))
}

func (b *backend) user(t *testing.T, access string) reply {
	t.Helper()
	return b.send(t, "GET", "/auth/v1/user", "", "Authorization: Bearer "+access)
}

func (r reply) want(t *testing.T, status int, code string) {
	t.Helper()
	if got, _ := r.body["error_code"].(string); r.status != status || got != code || r.header.Get("X-Sb-Error-Code") != code {
		t.Errorf("answer = %d %s, want %d %s", r.status, r.text, status, code)
	}
}
