package model_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"porchlight/functions/internal/model"
	"porchlight/tests/gemini"
)

// O85: one 429 may name the minute and the day; then the day counts.
func TestGenerate_TellsTheQuotaOfTheDayFromThatOfTheMinute(t *testing.T) {
	const day, minute = gemini.PerDay, gemini.PerMinute
	const tokens = "GenerateContentInputTokensPerModelPerMinute-FreeTier"
	cases := []struct {
		name   string
		answer gemini.Response
		daily  bool
		retry  time.Duration
	}{
		{"day", gemini.Quota(0, day), true, 0},
		{"minute", gemini.Quota(1500*time.Millisecond, minute), false, 1500 * time.Millisecond},
		{"minute first, then day", gemini.Quota(27*time.Second, minute, tokens, day), true, 27 * time.Second},
		{"day first, then minute", gemini.Quota(27*time.Second, day, minute), true, 27 * time.Second},
		{"two of the minute", gemini.Quota(time.Second, tokens, minute), false, time.Second},
		{"no details", gemini.Fail(429, "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."), false, 0},
		{"details of another shape", gemini.Raw(429, `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[`+
			`{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":"many"},`+
			`{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"soon"},{"@type":7}]}}`), false, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := gemini.NewServer(t)
			s.On(lite, func(gemini.Request) gemini.Response { return c.answer })
			_, _, err := generate(t, newGemini(t, s), lite, question())
			var quota *model.QuotaError
			if !errors.As(err, &quota) {
				t.Fatalf("got %v", err)
			}
			if quota.Model != lite || quota.Daily != c.daily || quota.RetryAfter != c.retry {
				t.Errorf("got %+v", quota)
			}
			if n := s.Count(lite); n != 1 { // no back-off against a quota
				t.Errorf("%d requests were sent, want 1", n)
			}
		})
	}
}

func TestGenerate_TellsFailuresApart(t *testing.T) {
	keyInvalid := map[string]any{
		"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID", "domain": "googleapis.com",
	}
	cases := []struct {
		name   string
		answer gemini.Response
		err    error
		reason string
	}{
		{"503", gemini.Unavailable(), model.ErrUnavailable, "503 UNAVAILABLE"},
		{"500", gemini.Fail(500, "INTERNAL", "oops"), model.ErrUnavailable, "500 INTERNAL"},
		{"504", gemini.Fail(504, "DEADLINE_EXCEEDED", "slow"), model.ErrUnavailable, "504 DEADLINE_EXCEEDED"},
		{"502 of a proxy", gemini.Raw(502, `"bad gateway"`), model.ErrUnavailable, "502"},
		{"404", gemini.NotFound(), model.ErrModelNotFound, "404 NOT_FOUND"}, // O50: no quota
		{"key refused", gemini.Fail(400, "INVALID_ARGUMENT", "API key not valid.", keyInvalid), model.ErrFailed, "400 INVALID_ARGUMENT API_KEY_INVALID"},
		{"403", gemini.Fail(403, "PERMISSION_DENIED", "no"), model.ErrFailed, "403 PERMISSION_DENIED"},
		{"free text for a status", gemini.Fail(400, "you asked: secret", "you asked: secret"), model.ErrFailed, "400"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := gemini.NewServer(t)
			s.Queue(lite, c.answer)
			_, _, err := generate(t, newGemini(t, s), lite, question())
			var call *model.CallError
			if !errors.Is(err, c.err) || !errors.As(err, &call) {
				t.Fatalf("got %v, want %v", err, c.err)
			}
			if call.Model != lite || call.Reason != c.reason {
				t.Errorf("got %+v, want the reason %q", call, c.reason)
			}
		})
	}
}

func TestGenerate_TimesOut(t *testing.T) {
	const soon = 20 * time.Millisecond
	cases := []struct {
		name   string
		answer gemini.Response
		cfg    model.GeminiConfig
	}{
		{"by its own deadline", gemini.Hang(), model.GeminiConfig{Timeout: soon}},
		{"by that of the HTTP client", gemini.Hang(), model.GeminiConfig{HTTPClient: &http.Client{Timeout: soon}}},
		{"in the middle of the answer", gemini.Text("The fee ").ThenHang(), model.GeminiConfig{HTTPClient: &http.Client{Timeout: soon}}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := gemini.NewServer(t)
			s.Queue(lite, c.answer)
			c.cfg.APIKey, c.cfg.BaseURL = testKey, s.URL
			g, err := model.NewGemini(t.Context(), c.cfg)
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := generate(t, g, lite, question()); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// O80: the key travels in a header, and no error shows it, an address, or what was asked.
func TestGemini_ShowsNoSecretInErrors(t *testing.T) {
	const canary = "zebra-canary"
	unreachable := gemini.NewServer(nil)
	unreachable.Close()
	s := gemini.NewServer(t)
	echo := func(code int) gemini.Response {
		return gemini.Fail(code, "INVALID_ARGUMENT", fmt.Sprintf("bad key %s for %s?key=%s: %s", testKey, s.URL, testKey, canary))
	}
	s.Queue(lite, echo(400), echo(429), echo(500), gemini.Raw(200, canary),
		gemini.Raw(500, `"`+canary+testKey+`"`), gemini.Text(canary).ThenCut(), gemini.Finish(canary, canary))
	for i, url := range []string{unreachable.URL, "http://127.0.0.1:0/\x7f", s.URL, s.URL, s.URL, s.URL, s.URL, s.URL, s.URL} {
		g, err := model.NewGemini(t.Context(), model.GeminiConfig{APIKey: testKey, BaseURL: url})
		if err == nil {
			_, _, err = generate(t, g, lite, model.Prompt{System: canary, User: canary})
		}
		if err == nil {
			t.Errorf("case %d: no error", i)
			continue
		}
		for e := err; e != nil; e = errors.Unwrap(e) {
			for _, secret := range []string{testKey, "AIza", "key=", canary, url, "127.0.0.1"} {
				if strings.Contains(fmt.Sprintf("%v %+v %#v", e, e, e), secret) {
					t.Errorf("case %d: %q is in the error %v", i, secret, e)
				}
			}
		}
	}
	for _, r := range s.Requests() {
		if r.Header.Get("x-goog-api-key") != testKey || strings.Contains(r.Path+r.Query+string(r.Raw), testKey) {
			t.Errorf("the key is not in the header alone: %s?%s", r.Path, r.Query)
		}
	}
}

// O80: the same for embeddings.
func TestGeminiEmbedder_ShowsNoSecretInErrors(t *testing.T) {
	unreachable := gemini.NewServer(nil)
	unreachable.Close()
	_, err := newGemini(t, unreachable).Embedder("primary", embedding001).EmbedQuery(t.Context(), "zebra-canary")
	if !errors.Is(err, model.ErrUnavailable) {
		t.Fatalf("got %v", err)
	}
	for _, secret := range []string{"AIza", "zebra", "http", "127.0.0.1"} {
		if strings.Contains(fmt.Sprintf("%+v %#v", err, err), secret) {
			t.Errorf("%q is in the error %v", secret, err)
		}
	}
}
