package web

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"porchlight/functions/internal/identity"
)

var update = flag.Bool("update", false, "write the golden files anew")

const (
	freshID = "00000000-0000-4000-8000-00000000000f"
	givenID = "00000000-0000-4000-8000-00000000000a"
	canary  = "violet-heron-4471" // content that no log and no error body may hold
	aliceID = "11111111-1111-4111-8111-111111111111"
)

var alice = identity.Principal{UserID: aliceID, Role: "authenticated", TenantClaim: "tenant-one"}

// options logs as JSON into the buffer that it returns; each reading of its clock is 7 ms later.
func options() (Options, *bytes.Buffer) {
	var log bytes.Buffer
	now := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	return Options{
		Logger: slog.New(slog.NewJSONHandler(&log, nil)),
		Now:    func() time.Time { now = now.Add(7 * time.Millisecond); return now },
		NewID:  func() string { return freshID },
	}, &log
}

// verifier knows the tokens that were registered and fails the test on any other.
type verifier struct {
	t      *testing.T
	tokens map[string]error // nil: alice's
}

func (v verifier) Verify(_ context.Context, token string) (identity.Principal, error) {
	err, ok := v.tokens[token]
	if !ok {
		v.t.Errorf("verifier: unregistered token %q", token)
	}
	if err != nil {
		return identity.Principal{}, err
	}
	return alice, nil
}

func knows(t *testing.T, token string) verifier {
	return verifier{t, map[string]error{token: nil}}
}

func serve(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// post is a well-formed request of alice's.
func post(target, body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, target, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer alice")
	return r
}

func get(target string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, target, nil)
	r.Header.Set("Authorization", "Bearer alice")
	return r
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s:\n got %s\nwant %s", name, got, want)
	}
}

// entry is the one line that the request left in the log.
func entry(t *testing.T, log *bytes.Buffer) map[string]any {
	t.Helper()
	var e map[string]any
	if err := json.Unmarshal(log.Bytes(), &e); err != nil {
		t.Fatalf("the log is not one line of JSON: %v\n%s", err, log)
	}
	return e
}
