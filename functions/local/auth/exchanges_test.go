package auth

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// exchange is a recorded request and what Supabase Auth answered.
type exchange struct {
	Client  string
	Request struct {
		Method, Path string
		Headers      map[string]string
		Body         *string
	}
	Response struct {
		Status  int
		Headers map[string]string
		Body    any
	}
}

func readExchanges(t *testing.T) []exchange {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "..", "..", "shared", "data", "auth", "exchanges.jsonl"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("../shared/data is absent: the recorded exchanges are not here")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []exchange
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e exchange
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	if err := lines.Err(); err != nil || len(all) == 0 {
		t.Fatalf("%d exchanges, %v", len(all), err)
	}
	return all
}

// player sends recorded requests with the tokens of this run in the place of the recorded ones.
type player struct {
	b       *backend
	access  string
	refresh map[string]string // recorded to ours
}

func (p *player) play(t *testing.T, e exchange) reply {
	t.Helper()
	var headers []string
	for name, value := range e.Request.Headers {
		if strings.Contains(value, "<access token>") {
			access := p.access
			if message, _ := bodyOf(e)["msg"].(string); strings.Contains(message, "verification error") {
				access = access[:len(access)-10] + "AAAAAAAAAA" // the recording changed the signature too
			}
			value = strings.ReplaceAll(value, "<access token>", access)
		}
		headers = append(headers, name+": "+value)
	}
	body := ""
	if e.Request.Body != nil {
		body = *e.Request.Body
	}
	for recorded, ours := range p.refresh {
		body = strings.ReplaceAll(body, recorded, ours)
	}
	got := p.b.send(t, e.Request.Method, e.Request.Path, body, headers...)
	if got.status != e.Response.Status {
		t.Fatalf("status = %d %s, recorded %d", got.status, got.text, e.Response.Status)
	}
	p.learn(t, bodyOf(e), got)
	return got
}

// learn keeps the tokens. Where the recording repeats a refresh token, so must we.
func (p *player) learn(t *testing.T, recorded map[string]any, got reply) {
	t.Helper()
	theirs, ok := recorded["refresh_token"].(string)
	if !ok {
		return
	}
	s := got.session(t)
	if known := p.refresh[theirs]; known != "" && known != s.refresh {
		t.Errorf("another refresh token where the recording has the same again")
	}
	if known := p.refresh[theirs]; known == "" && slices.Contains(slices.Collect(maps.Values(p.refresh)), s.refresh) {
		t.Errorf("the same refresh token where the recording has a new one")
	}
	p.access, p.refresh[theirs] = s.access, s.refresh
}

func bodyOf(e exchange) map[string]any {
	m, _ := e.Response.Body.(map[string]any)
	return m
}

func TestAuth_AnswersLikeTheRecordedServer(t *testing.T) {
	p := &player{b: newBackend(t, testEmail), refresh: map[string]string{}}
	replayed := 0
	for i, e := range readExchanges(t) {
		if e.Request.Path == "/auth/v1/signup" {
			continue // outside the subset: the operator makes users
		}
		replayed++
		t.Run(fmt.Sprintf("%02d %s %s %s", i, e.Client, e.Request.Method, e.Request.Path), func(t *testing.T) {
			got := p.play(t, e)
			for name, want := range e.Response.Headers {
				if got.header.Get(name) != want {
					t.Errorf("%s = %q, recorded %q", name, got.header.Get(name), want)
				}
			}
			if e.Response.Status >= 400 || e.Response.Body == "" {
				if want := textOf(t, e.Response.Body); got.text != want && !sameJSON(t, got.text, want) {
					t.Errorf("body = %s\nrecorded %s", got.text, want)
				}
				return
			}
			if got, want := shape(got.body), shape(bodyOf(e)); !slices.Equal(got, want) {
				t.Errorf("shape = %v\nrecorded %v", got, want)
			}
		})
	}
	if replayed != 37 {
		t.Errorf("replayed %d exchanges, want 37", replayed)
	}
}

func textOf(t *testing.T, body any) string {
	t.Helper()
	if text, ok := body.(string); ok {
		return text
	}
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return false
	}
	return textOf(t, x) == textOf(t, y)
}

// shape lists every path of a body with the type of its value, sorted.
func shape(value any) []string {
	var paths []string
	var walk func(path string, value any)
	walk = func(path string, value any) {
		switch v := value.(type) {
		case map[string]any:
			for name, member := range v {
				walk(path+"."+name, member)
			}
		case []any:
			for _, item := range v {
				walk(path+"[]", item)
			}
		default:
			paths = append(paths, fmt.Sprintf("%s %T", path, v))
		}
	}
	walk("", value)
	slices.Sort(paths)
	return slices.Compact(paths)
}
