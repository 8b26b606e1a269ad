package identity

import (
	"compress/gzip"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"porchlight/functions/internal/problem"
)

func TestKeys_RotationIsFollowed(t *testing.T) { // J4, J24
	c, first, second := newClock(), newES256(t, "first"), newES256(t, "second")
	keys := newKeyServer(t, first)
	v := newTestVerifier(t, keys.URL, c)
	accepts(t, v, first)

	keys.serve(first, second) // standby
	c.advance(31 * time.Second)
	accepts(t, v, second)
	accepts(t, v, first)
	if n := keys.count(); n != 2 {
		t.Fatalf("fetched %d times, want one refetch", n)
	}

	keys.serve(second) // revoked
	c.advance(5 * time.Minute)
	accepts(t, v, first) // within our own cache
	c.advance(5 * time.Minute)
	wantCode(t, v, first.token(claims(nil)), problem.Unauthenticated)
	accepts(t, v, second)
}

func TestKeys_FloodOfKidsCausesOneFetchInThirtySeconds(t *testing.T) { // O76, J5
	c, known, fresh := newClock(), newES256(t, "known"), newES256(t, "fresh")
	keys := newKeyServer(t, known)
	v := newTestVerifier(t, keys.URL, c)
	accepts(t, v, known)
	flood := func() {
		var wg sync.WaitGroup
		for i := range 200 {
			wg.Go(func() {
				forged := signer{fmt.Sprint("kid-", i), fresh.method, fresh.private}
				if _, err := v.Verify(context.Background(), forged.token(claims(nil))); problem.From(err).Code != problem.Unauthenticated {
					t.Errorf("kid %d: %v", i, err)
				}
			})
		}
		wg.Wait()
	}
	flood()
	if n := keys.count(); n != 1 {
		t.Fatalf("%d fetches within the cool-down, want 1", n)
	}
	c.advance(fetchEvery)
	flood()
	if n := keys.count(); n != 2 {
		t.Fatalf("%d fetches, want 2", n)
	}
	keys.serve(known, fresh)
	flood()
	c.advance(fetchEvery)
	accepts(t, v, fresh)
}

func TestKeys_OneFetchForAllWhoStartTogether(t *testing.T) {
	es := newES256(t, "es")
	keys := newKeyServer(t, es)
	v := newTestVerifier(t, keys.URL, newClock())
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() { accepts(t, v, es) })
	}
	wg.Wait()
	if n := keys.count(); n != 1 {
		t.Errorf("fetched %d times, want once", n)
	}
}

func TestKeys_FetchOutlivesTheRequestThatBeganIt(t *testing.T) {
	es := newES256(t, "es")
	v := newTestVerifier(t, newKeyServer(t, es).URL, newClock())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := v.Verify(ctx, es.token(claims(nil))); err != nil {
		t.Error(err)
	}
}

func TestKeys_OutageIsBridgedThenSaidPlainly(t *testing.T) { // J5
	c, es := newClock(), newES256(t, "es")
	keys := newKeyServer(t, es)
	v := newTestVerifier(t, keys.URL, c)
	accepts(t, v, es)
	keys.set(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "down", http.StatusBadGateway) })

	for c.Now().Before(testStart.Add(15 * time.Minute)) {
		accepts(t, v, es)
		c.advance(20 * time.Second)
	}
	got := wantCode(t, v, es.token(claims(map[string]any{"iat": c.Now().Unix()})), problem.KeysUnavailable)
	if got.RetryAfter <= 0 || got.RetryAfter > fetchEvery {
		t.Errorf("RetryAfter = %s", got.RetryAfter)
	}
	if n, limit := keys.count(), 1+int(5*time.Minute/fetchEvery)+1; n > limit {
		t.Errorf("%d fetches in the outage, want at most %d", n, limit)
	}
	keys.serve(es)
	wantCode(t, v, es.token(claims(nil)), problem.KeysUnavailable) // cool-down
	c.advance(fetchEvery)
	accepts(t, v, es)
}

func TestKeys_UnknownKidInAnOutageIsLaterNotNever(t *testing.T) {
	c, known, fresh := newClock(), newES256(t, "known"), newES256(t, "fresh")
	keys := newKeyServer(t, known)
	v := newTestVerifier(t, keys.URL, c)
	accepts(t, v, known)
	keys.set(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	c.advance(time.Minute)
	wantCode(t, v, fresh.token(claims(nil)), problem.KeysUnavailable)
	accepts(t, v, known)
}

func TestKeys_AnswersThatAreNoKeySet(t *testing.T) { // J5
	es := newES256(t, "es")
	set := encode(map[string]any{"keys": []any{es.jwk()}})
	tests := []struct {
		name   string
		answer http.HandlerFunc
	}{
		{"status 404", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound); fmt.Fprint(w, set) }},
		{"redirect", func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/" {
				http.Redirect(w, r, "/elsewhere", http.StatusFound)
				return
			}
			fmt.Fprint(w, set)
		}},
		{"HTML with status 200", text(`<html>sign in</html>`)},
		{"an error object", text(`{"error":"no"}`)},
		{"keys null", text(`{"keys":null}`)},
		{"two keys under one kid", text(`{"keys":[` + encode(es.jwk()) + `,` + encode(es.jwk()) + `]}`)},
		{"more than 64 KB", text(set + strings.Repeat(" ", maxKeySetBytes))},
		{"64 KB made of less", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			defer z.Close()
			fmt.Fprint(z, strings.Repeat(" ", 50<<20)+set)
		}},
		{"cut connection", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			keys := newKeyServer(t)
			keys.set(tt.answer)
			v := newTestVerifier(t, keys.URL, newClock())
			got := wantCode(t, v, es.token(claims(nil)), problem.KeysUnavailable)
			if got.RetryAfter != fetchEvery {
				t.Errorf("RetryAfter = %s", got.RetryAfter)
			}
		})
	}
}

func TestKeys_ErrorsDoNotShowTheURL(t *testing.T) { // O80
	keys := newKeyServer(t)
	keys.Close()
	v := newTestVerifier(t, keys.URL+"/?apikey=hidden", newClock())
	got := wantCode(t, v, newES256(t, "es").token(claims(nil)), problem.KeysUnavailable)
	if strings.Contains(got.Error(), "hidden") {
		t.Errorf("%v shows the URL", got)
	}
}

func TestKeys_EmptySetRefusesInsteadOfFailing(t *testing.T) {
	keys := newKeyServer(t)
	v := newTestVerifier(t, keys.URL, newClock())
	wantCode(t, v, newES256(t, "es").token(claims(nil)), problem.Unauthenticated)
}

func text(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }
}

func accepts(t *testing.T, v *Verifier, s signer) {
	t.Helper()
	if _, err := v.Verify(context.Background(), s.token(claims(nil))); err != nil {
		t.Errorf("%s refused: %v", s.kid, err)
	}
}
