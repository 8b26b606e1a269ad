package e2e

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// person is somebody who speaks HTTP to a server. Whatever comes back is searched for the canaries of
// the brands that are not theirs.
type person struct {
	t      *testing.T
	server *server
	email  string
	brand  string
	token  string // empty: not signed in
}

// reply is a response, read to its end.
type reply struct {
	status int
	header http.Header
	body   string
}

// visitor is not signed in and may see no brand.
func (s *server) visitor(t *testing.T) person { return person{t: t, server: s} }

// rep and admin sign in who came with the brand.
func (s *server) rep(t *testing.T, brand string) person {
	t.Helper()
	return s.signIn(t, brand, "rep@"+brand+".example")
}

func (s *server) admin(t *testing.T, brand string) person {
	t.Helper()
	return s.signIn(t, brand, "admin@"+brand+".example")
}

// operator signs in an admin of the platform.
func (s *server) operator(t *testing.T) person {
	t.Helper()
	const email = "operator@platform.example"
	s.setPassword(email, "a-long-pass-phrase")
	s.mustRun(t, "user", "add", email, "--platform-admin", "--password=a-long-pass-phrase")
	return s.signIn(t, everyBrand, email)
}

// signIn signs in with the password that was shown when the person was made.
func (s *server) signIn(t *testing.T, brand, email string) person {
	t.Helper()
	p := person{t: t, server: s, email: email, brand: brand}
	records.knows(email, brand)
	var session struct {
		AccessToken string `json:"access_token"`
	}
	body := map[string]string{"email": email, "password": s.password(email)}
	r := p.post("/auth/v1/token?grant_type=password", encode(t, body))
	r.want(t, http.StatusOK, "")
	decode(t, r.body, &session)
	p.token = session.AccessToken
	s.told.add(p.token)
	return p
}

func (s *server) password(email string) string {
	s.people.Lock()
	defer s.people.Unlock()
	return s.passwords[email]
}

func (s *server) setPassword(email, password string) {
	s.people.Lock()
	defer s.people.Unlock()
	s.passwords[email] = password
}

// with returns the same person for a subtest.
func (p person) with(t *testing.T) person {
	p.t = t
	return p
}

func (p person) get(path string, headers ...string) reply {
	p.t.Helper()
	return p.send(http.MethodGet, path, "", headers...)
}

func (p person) post(path, body string, headers ...string) reply {
	p.t.Helper()
	return p.send(http.MethodPost, path, body, append([]string{"Content-Type: application/json"}, headers...)...)
}

// send sends a request with headers such as "Accept: text/plain"; a later one replaces an earlier one,
// an empty one removes it.
func (p person) send(method, path, body string, headers ...string) reply {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	response, err := http.DefaultClient.Do(p.request(ctx, method, path, body, headers...))
	if err != nil {
		p.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		p.t.Fatalf("%s %s: %v", method, path, err)
	}
	r := reply{response.StatusCode, response.Header, string(text)}
	checkCanaries(p.t, p.brand, method+" "+path, r.body, encode(p.t, r.header))
	if r.status == http.StatusInternalServerError {
		lines := strings.Split(strings.TrimSpace(p.server.log.String()), "\n")
		p.t.Errorf("%s %s: %s", method, path, lines[len(lines)-1])
	}
	return r
}

func (p person) request(ctx context.Context, method, path, body string, headers ...string) *http.Request {
	p.t.Helper()
	request, err := http.NewRequestWithContext(ctx, method, p.server.url+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	if p.token != "" {
		request.Header.Set("Authorization", "Bearer "+p.token)
	}
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ":")
		request.Header.Set(name, strings.TrimSpace(value))
		if strings.TrimSpace(value) == "" {
			request.Header.Del(name)
		}
	}
	return request
}

// want checks the status and, unless it is empty, the code of an error.
func (r reply) want(t *testing.T, status int, code string) {
	t.Helper()
	if r.status != status || code != "" && r.code() != code {
		t.Fatalf("%d %s, want %d %s", r.status, r.body, status, code)
	}
}

// code is the code of an error response, which has this shape and no other.
func (r reply) code() string {
	var e struct {
		Error struct{ Code, Message string }
	}
	if err := json.Unmarshal([]byte(r.body), &e); err != nil || e.Error.Message == "" {
		return ""
	}
	return e.Error.Code
}

func encode(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func decode(t *testing.T, text string, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), v); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
}

// exec runs one statement as the superuser.
func (s *server) exec(ctx context.Context, statement string, arguments ...any) error {
	conn, err := pgx.Connect(ctx, s.database)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	_, err = conn.Exec(ctx, statement, arguments...)
	return err
}

// text returns the one value of a query as text, asked as the superuser.
func (s *server) text(t *testing.T, query string, arguments ...any) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.database)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	var value *string
	if err := conn.QueryRow(t.Context(), query, arguments...).Scan(&value); err != nil {
		t.Fatal(err)
	}
	if value == nil {
		return ""
	}
	return *value
}

// await waits until the query gives that text.
func (s *server) await(t *testing.T, want, query string, arguments ...any) {
	t.Helper()
	got := ""
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if got = s.text(t, query, arguments...); got == want {
			return
		}
	}
	t.Fatalf("it stayed %q, want %q: %s", got, want, query)
}
