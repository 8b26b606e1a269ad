package e2e

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
)

// recorder keeps every byte that the run is told, and whom it was told to: responses, as the transport
// of every client in this process; logs and what commands print; rows that are stored. Nothing is judged
// before the end, so that a word counts wherever and whenever it comes from.
type recorder struct {
	next http.RoundTripper

	mutex   sync.Mutex
	list    []record
	people  map[string]string // brand by address, where the address does not say it
	refresh map[string]string // brand by refresh token
}

// record is something that somebody was told. brand is what they may hear of: a slug, several, "" for
// nothing, or everyBrand.
type record struct{ kind, brand, what, text string }

// The kinds of record.
const (
	ofResponse = "responses"
	ofProcess  = "logs and outputs"
	ofRow      = "stored rows"
)

func newRecorder(next http.RoundTripper) *recorder {
	return &recorder{next: next, people: map[string]string{}, refresh: map[string]string{}}
}

func (r *recorder) add(kind, brand, what, text string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.list = append(r.list, record{kind, brand, what, readTokens(text)})
}

// knows says of which brand somebody is. Others are of the brand in their address.
func (r *recorder) knows(email, brand string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.people[email] = brand
}

func (r *recorder) brandOf(email string) string {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if brand, ok := r.people[email]; ok {
		return brand
	}
	_, host, _ := strings.Cut(email, "@")
	return strings.TrimSuffix(host, ".example")
}

// RoundTrip sends the request and keeps what comes back, also of a response that is not read to its end.
func (r *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	brand := r.listener(request)
	answer, err := r.next.RoundTrip(request)
	if err != nil {
		return answer, err
	}
	var head bytes.Buffer
	_ = answer.Header.Write(&head)
	answer.Body = &heard{ReadCloser: answer.Body, end: func(body string) {
		r.learn(brand, body)
		r.add(ofResponse, brand, request.Method+" "+request.URL.Path, head.String()+body)
	}}
	return answer, nil
}

// listener says who will hear the answer: the person of the token, whatever else the token claims, or the
// one who signs in.
func (r *recorder) listener(request *http.Request) string {
	var claims, body struct {
		Email        string
		RefreshToken string `json:"refresh_token"`
	}
	if parts := strings.Split(request.Header.Get("Authorization"), "."); len(parts) == 3 {
		payload, _ := base64.RawURLEncoding.DecodeString(parts[1])
		_ = json.Unmarshal(payload, &claims)
	}
	if claims.Email != "" {
		return r.brandOf(claims.Email)
	}
	if request.GetBody == nil || request.URL.Path != "/auth/v1/token" {
		return ""
	}
	if copied, err := request.GetBody(); err == nil {
		_ = json.NewDecoder(copied).Decode(&body)
	}
	if body.Email != "" {
		return r.brandOf(body.Email)
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.refresh[body.RefreshToken]
}

// learn remembers whose a refresh token is.
func (r *recorder) learn(brand, body string) {
	var session struct {
		RefreshToken string `json:"refresh_token"`
	}
	if json.Unmarshal([]byte(body), &session) == nil && session.RefreshToken != "" {
		r.mutex.Lock()
		defer r.mutex.Unlock()
		r.refresh[session.RefreshToken] = brand
	}
}

// heard is a body that tells what was read of it, once.
type heard struct {
	io.ReadCloser
	text bytes.Buffer
	once sync.Once
	end  func(string)
}

func (h *heard) Read(p []byte) (int, error) {
	n, err := h.ReadCloser.Read(p)
	h.text.Write(p[:n])
	if err != nil {
		h.once.Do(func() { h.end(h.text.String()) })
	}
	return n, err
}

func (h *heard) Close() error {
	err := h.ReadCloser.Close()
	h.once.Do(func() { h.end(h.text.String()) })
	return err
}

var token = regexp.MustCompile(`eyJ[\w-]+\.eyJ[\w-]+\.[\w-]*`)

// readTokens puts what access tokens say in their place: base64 would hide a word, or make one by chance.
func readTokens(text string) string {
	return token.ReplaceAllStringFunc(text, func(found string) string {
		parts := strings.Split(found, ".")
		header, _ := base64.RawURLEncoding.DecodeString(parts[0])
		claims, _ := base64.RawURLEncoding.DecodeString(parts[1])
		return string(header) + string(claims)
	})
}

// tablesOfBrands names every table whose rows are of one brand each.
const tablesOfBrands = `select string_agg(a.attrelid::regclass::text, ' ')
	from pg_attribute a join pg_class c on c.oid = a.attrelid
	where c.relnamespace in ('app'::regnamespace, 'private'::regnamespace) and c.relkind = 'r' and a.attname = 'tenant_id'`

// recordRows keeps what is stored of each brand. Vectors and stems hold no words; a question holds any
// word that its asker wrote.
func (s *server) recordRows(ctx context.Context, r *recorder) error {
	conn, err := pgx.Connect(ctx, s.database)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var tables string
	if err := conn.QueryRow(ctx, tablesOfBrands).Scan(&tables); err != nil {
		return err
	}
	for table := range strings.FieldsSeq(tables) {
		if strings.HasPrefix(table, "app.chunk_") {
			continue
		}
		rows, err := conn.Query(ctx, `select t.slug, (to_jsonb(r) - 'question')::text
			from `+table+` r join app.tenants t on t.id = r.tenant_id`)
		if err != nil {
			return err
		}
		var brand, text string
		if _, err := pgx.ForEachRow(rows, []any{&brand, &text}, func() error {
			r.add(ofRow, brand, table+" of "+s.name, text)
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// recordDatabaseLog keeps what the Postgres of the tests wrote down, which nobody of a brand should need to
// read: it may hold no words at all. One that somebody else runs keeps its own log.
func recordDatabaseLog(ctx context.Context, r *recorder) error {
	conn, err := pgx.Connect(ctx, cluster.AdminURL("postgres"))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var data string
	if err := conn.QueryRow(ctx, `show data_directory`).Scan(&data); err != nil {
		return err
	}
	log, err := os.ReadFile(filepath.Join(filepath.Dir(data), "postgres.log"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	r.add(ofProcess, "", "the log of Postgres", string(log))
	return err
}
