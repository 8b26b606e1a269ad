package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"porchlight/functions/internal/problem"
	"porchlight/functions/internal/turn"
)

func TestWrap_WritesTheProblemOfTheReturnedError(t *testing.T) {
	tests := []struct {
		name       string
		err        error
		status     int
		retryAfter string
		golden     string
	}{
		{"a bare error is internal and keeps its cause", errors.New(canary), 500, "", "internal.json"},
		{"a code behind two wraps", fmt.Errorf("begin turn: %w", fmt.Errorf("call: %w", problem.New(problem.NotAMember, errors.New(canary)))), 403, "", "not_a_member.json"},
		{"a detail joins the message", &problem.Error{Code: problem.BadRequest, Detail: `Say "all": true & no <more>.`}, 400, "", "detail.json"},
		{"a wait of 1 ms is a second", &problem.Error{Code: problem.RateLimited, RetryAfter: time.Millisecond}, 429, "1", "rate_limited_1s.json"},
		{"a wait is rounded up", &problem.Error{Code: problem.DatabaseUnavailable, RetryAfter: 1500 * time.Millisecond}, 503, "2", "database_unavailable.json"},
		{"a whole second stays", &problem.Error{Code: problem.RateLimited, RetryAfter: 3 * time.Second}, 429, "3", "rate_limited.json"},
		{"a code that has no status is internal", problem.New("no_such_code", errors.New(canary)), 500, "", "internal.json"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o, log := options()
			h := Wrap(o)(func(http.ResponseWriter, *http.Request) error { return tt.err })
			w := serve(h, httptest.NewRequest(http.MethodGet, "/", nil))
			if w.Code != tt.status || w.Header().Get("Retry-After") != tt.retryAfter {
				t.Errorf("status %d, Retry-After %q", w.Code, w.Header().Get("Retry-After"))
			}
			if got := w.Header().Get("Content-Type"); got != typeJSON {
				t.Errorf("Content-Type %q", got)
			}
			golden(t, tt.golden, w.Body.Bytes())
			if e := entry(t, log); (e["level"] == "ERROR") != (tt.status >= 500) {
				t.Errorf("level %v for status %d", e["level"], tt.status)
			}
		})
	}
}

func TestWrap_EveryResponseCarriesIdAndSecurityHeaders(t *testing.T) {
	o, _ := options()
	health := NewHealth(o)
	tests := []struct {
		name   string
		method string
		target string
		status int
	}{
		{"success", http.MethodGet, "/healthz", 200},
		{"another method", http.MethodPost, "/healthz", 405},
		{"another path", http.MethodGet, "/.env", 404},
		{"a path that is not clean is not redirected", http.MethodGet, "//healthz", 404},
		{"a trailing slash", http.MethodGet, "/healthz/", 404},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := serve(health, httptest.NewRequest(tt.method, tt.target, nil))
			if w.Code != tt.status {
				t.Errorf("status %d, want %d", w.Code, tt.status)
			}
			for name, want := range map[string]string{
				"X-Request-Id": freshID, "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store",
				"Access-Control-Allow-Origin": "", "Location": "",
			} {
				if got := w.Header().Get(name); got != want {
					t.Errorf("%s: %q, want %q", name, got, want)
				}
			}
		})
	}
	if w := serve(health, httptest.NewRequest(http.MethodPost, "/healthz", nil)); w.Header().Get("Allow") != "GET" {
		t.Errorf("Allow %q", w.Header().Get("Allow"))
	}
}

func TestWrap_AcceptsOnlyAUUIDAsRequestID(t *testing.T) {
	tests := []struct {
		name  string
		given []string
		want  string
	}{
		{"a uuid", []string{givenID}, givenID},
		{"a uuid in capitals is lowered", []string{strings.ToUpper(givenID)}, givenID},
		{"none", nil, freshID},
		{"two", []string{givenID, givenID}, freshID},
		{"a line break for the log", []string{"x\n{\"level\":\"ERROR\"}"}, freshID},
		{"braces", []string{"{" + givenID + "}"}, freshID},
		{"urn", []string{"urn:uuid:" + givenID}, freshID},
		{"36 characters that are no uuid", []string{strings.Repeat("z", 36)}, freshID},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o, log := options()
			r := httptest.NewRequest(http.MethodGet, "/healthz", nil)
			r.Header["X-Request-Id"] = tt.given
			w := serve(NewHealth(o), r)
			if got := w.Header().Get("X-Request-Id"); got != tt.want || entry(t, log)["request_id"] != tt.want {
				t.Errorf("header %q, log %s", got, log)
			}
		})
	}
}

func TestWrap_LogsTheRequestWithoutItsContent(t *testing.T) {
	o, log := options()
	a := asker(func(context.Context, turn.Question, func(turn.Event) error) error {
		return &problem.Error{Code: problem.RateLimited, Detail: canary, RetryAfter: time.Second}
	})
	r := post("/v1/ask?token="+canary, `{"question":"`+canary+`"}`)
	r.Header.Set("Authorization", "Bearer "+canary)
	r.Header.Set("User-Agent", canary)
	serve(NewAsk(o, knows(t, canary), a), r)
	e := entry(t, log)
	delete(e, "time")
	want := map[string]any{
		"level": "INFO", "msg": "request", "request_id": freshID, "method": "POST", "route": "/v1/ask",
		"status": 429.0, "code": "rate_limited", "ms": 7.0, "user_id": aliceID, "tenant": "tenant-one", "error": "rate_limited",
	}
	if fmt.Sprint(e) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", e, want)
	}
}

func TestWrap_LogsThePatternOfARouteNotItsPath(t *testing.T) {
	for target, want := range map[string]string{
		"/v1/reindex/" + canary: "/v1/reindex/{run}",
		"/" + canary:            "/",
		"//" + canary:           "unmatched",
	} {
		o, log := options()
		serve(NewReindex(o, knows(t, "alice"), nil), get(target))
		if e := entry(t, log); e["route"] != want || strings.Contains(log.String(), canary) {
			t.Errorf("%s: %s", target, log)
		}
	}
}

func TestWrap_PanicBeforeTheResponseIsInternalAndTheStackIsLogged(t *testing.T) {
	tests := []struct {
		name  string
		panic func(w http.ResponseWriter)
		error string
	}{
		{"a value that holds content is named by its type", func(http.ResponseWriter) { panic("question: " + canary) }, "panic: string"},
		{"an error that holds content too", func(http.ResponseWriter) { panic(errors.New(canary)) }, "panic: *errors.errorString"},
		{"a nil map", func(w http.ResponseWriter) { http.Header(nil).Set(canary, canary) }, "panic: assignment to entry in nil map"},
		{"an index", func(w http.ResponseWriter) { _ = []int{}[w.Header().Get("none")[0]] }, "panic: runtime error: index out of range [0] with length 0"},
		{"abort", func(http.ResponseWriter) { panic(http.ErrAbortHandler) }, "panic: *errors.errorString"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o, log := options()
			h := Wrap(o)(func(w http.ResponseWriter, _ *http.Request) error { tt.panic(w); return nil })
			w := serve(h, httptest.NewRequest(http.MethodGet, "/", nil))
			if w.Code != 500 {
				t.Errorf("status %d", w.Code)
			}
			golden(t, "internal.json", w.Body.Bytes())
			e := entry(t, log)
			if e["error"] != tt.error || e["level"] != "ERROR" || !strings.Contains(fmt.Sprint(e["stack"]), "web_test.go") {
				t.Errorf("log %s", log)
			}
			if strings.Contains(log.String(), canary) {
				t.Errorf("content in the log: %s", log)
			}
		})
	}
}

func TestWrap_ClientThatLeftGetsNothingAndIsLoggedAs499(t *testing.T) {
	o, log := options()
	ctx, leave := context.WithCancel(t.Context())
	h := Wrap(o)(func(http.ResponseWriter, *http.Request) error {
		leave()
		return fmt.Errorf("generate: %w", ctx.Err())
	})
	w := serve(h, httptest.NewRequest(http.MethodGet, "/", nil).WithContext(ctx))
	if w.Body.Len() != 0 {
		t.Errorf("body %q", w.Body)
	}
	if e := entry(t, log); e["status"] != 499.0 || e["code"] != "client_gone" || e["level"] != "INFO" {
		t.Errorf("log %s", log)
	}
}

// brokenWriter is a connection whose other end is gone.
type brokenWriter struct{ *httptest.ResponseRecorder }

func (brokenWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestWrap_WriterThatBreaksCountsAsAClientThatLeft(t *testing.T) {
	o, log := options()
	h := Wrap(o)(func(w http.ResponseWriter, _ *http.Request) error { return NewStream(w).Send(1) })
	h.ServeHTTP(brokenWriter{httptest.NewRecorder()}, httptest.NewRequest(http.MethodGet, "/", nil))
	if e := entry(t, log); e["status"] != 499.0 || e["level"] != "INFO" {
		t.Errorf("log %s", log)
	}
}

// O80
func TestWrap_KeysInAnErrorReachNeitherClientNorLog(t *testing.T) {
	o, log := options()
	refused := &http.Client{Transport: failing{}}
	h := Wrap(o)(func(http.ResponseWriter, *http.Request) error {
		resp, err := refused.Get("https://models.example/v1?key=AIza" + canary)
		if err == nil {
			return resp.Body.Close()
		}
		return fmt.Errorf("embed question: %w", err)
	})
	w := serve(h, httptest.NewRequest(http.MethodGet, "/", nil))
	golden(t, "internal.json", w.Body.Bytes())
	if strings.Contains(log.String(), canary) || strings.Contains(log.String(), "AIza") {
		t.Errorf("the key is in the log: %s", log)
	}
	if e := entry(t, log); !strings.Contains(fmt.Sprint(e["error"]), "models.example/v1?key=***") {
		t.Errorf("the rest of the error is not: %s", log)
	}
}

type failing struct{}

func (failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, errors.New("no route") }
