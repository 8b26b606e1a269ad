package web

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"porchlight/functions/internal/identity"
	"porchlight/functions/internal/problem"
)

func TestAuthenticate_TakesOneBearerTokenFromOneHeader(t *testing.T) {
	tests := []struct {
		name   string
		header []string
		target string
		status int
	}{
		{"a token", []string{"Bearer alice"}, "/", 200},
		{"another case of the scheme", []string{"bEARER alice"}, "/", 200},
		{"no header", nil, "/", 401},
		{"an empty header", []string{""}, "/", 401},
		{"no token", []string{"Bearer"}, "/", 401},
		{"an empty token", []string{"Bearer "}, "/", 401},
		{"another scheme", []string{"Basic alice"}, "/", 401},
		{"two headers", []string{"Bearer alice", "Bearer alice"}, "/", 401},
		{"two headers joined by a proxy", []string{"Bearer alice, Bearer alice"}, "/", 401},
		{"the scheme twice", []string{"Bearer Bearer alice"}, "/", 401},
		{"a tab", []string{"Bearer\talice"}, "/", 401},
		{"a token in the query", nil, "/?access_token=alice&token=alice&authorization=Bearer%20alice", 401},
		{"a token in the query beside a bad one", []string{"Bearer expired"}, "/?access_token=alice", 401},
		{"keys that can't be fetched", []string{"Bearer early"}, "/", 503},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o, _ := options()
			v := verifier{t, map[string]error{
				"alice":   nil,
				"expired": problem.New(problem.Unauthenticated, nil),
				"early":   &problem.Error{Code: problem.KeysUnavailable, RetryAfter: 30 * time.Second},
			}}
			h := Wrap(o)(Authenticate(v, func(w http.ResponseWriter, _ *http.Request, p identity.Principal) error {
				return writeJSON(w, http.StatusOK, p.UserID)
			}))
			r := httptest.NewRequest(http.MethodGet, tt.target, nil)
			r.Header["Authorization"] = tt.header
			w := serve(h, r)
			if w.Code != tt.status {
				t.Errorf("status %d, want %d", w.Code, tt.status)
			}
			if asked := w.Header().Get("WWW-Authenticate") == "Bearer"; asked != (tt.status == 401) {
				t.Errorf("WWW-Authenticate %q", w.Header().Get("WWW-Authenticate"))
			}
			if (w.Header().Get("Retry-After") == "30") != (tt.status == 503) {
				t.Errorf("Retry-After %q", w.Header().Get("Retry-After"))
			}
		})
	}
}

func TestAuthenticate_ComesBeforeTheBody(t *testing.T) {
	o, _ := options()
	r := post("/v1/ask", "not JSON")
	r.Header.Del("Authorization")
	if w := serve(NewAsk(o, verifier{t, nil}, asker(nil)), r); w.Code != 401 {
		t.Errorf("status %d", w.Code)
	}
}
