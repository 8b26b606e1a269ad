package identity

import (
	"compress/gzip"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"porchlight/functions/internal/problem"
)

func TestKeys_RotationIsFollowed(t *testing.T) {
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
	t.Run("J24 key revoked 5 minutes ago lives on in our own cache", func(t *testing.T) {
		c.advance(5 * time.Minute)
		accepts(t, v, first)
	})
	t.Run("J24 key revoked 10 minutes ago", func(t *testing.T) {
		c.advance(5 * time.Minute)
		wantCode(t, v, first.token(claims(nil)), problem.Unauthenticated)
		accepts(t, v, second)
	})
	t.Run("J24 key revoked 15 minutes ago", func(t *testing.T) {
		c.advance(5 * time.Minute)
		wantCode(t, v, first.token(claims(nil)), problem.Unauthenticated)
		accepts(t, v, second)
	})
}

// Nobody asks while a Lambda is frozen, and the clock on the wall goes on.
func TestKeys_RevokedWhileFrozenIsRefused(t *testing.T) { // J24
	c, first, second := newClock(), newES256(t, "first"), newES256(t, "second")
	keys := newKeyServer(t, first)
	v := newTestVerifier(t, keys.URL, c)
	accepts(t, v, first)
	keys.serve(second)
	c.advance(30 * time.Minute)
	wantCode(t, v, first.token(claims(nil)), problem.Unauthenticated)

	v.keys.(*keyCache).now = time.Now
	if err := v.keys.(*keyCache).refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, then := range map[string]time.Time{"fetched": v.keys.(*keyCache).fetched, "tried": v.keys.(*keyCache).tried} {
		if strings.Contains(then.String(), "m=") {
			t.Errorf("%s is counted by the clock that stands still in a frozen process", name)
		}
	}
}

// A clock that is set back makes no key live longer and no flood cheaper.
func TestKeys_ClockSetBackIsFetchedAnew(t *testing.T) { // E12
	c, first, second := newClock(), newES256(t, "first"), newES256(t, "second")
	keys := newKeyServer(t, first)
	v := newTestVerifier(t, keys.URL, c)
	accepts(t, v, first)
	keys.serve(second)
	c.advance(-10 * time.Minute)
	lives := map[string]any{"iat": c.Now().Unix()}
	wantCode(t, v, first.token(claims(lives)), problem.Unauthenticated)
	for range 100 {
		wantCode(t, v, first.token(claims(lives)), problem.Unauthenticated)
	}
	if n := keys.count(); n != 2 {
		t.Errorf("fetched %d times, want 2", n)
	}
}

// 1,000 kids a second that nobody has issued, from eight clients, for a minute and a half. A new key
// works at the first fetch that is allowed after it was published.
func TestKeys_FloodOfKidsBlindsNobody(t *testing.T) { // J15, O76
	c, known, fresh := newClock(), newES256(t, "known"), newES256(t, "fresh")
	keys := newKeyServer(t, known)
	v := newTestVerifier(t, keys.URL, c)
	accepts(t, v, known)
	var sent atomic.Int64
	second := func() {
		var clients sync.WaitGroup
		for range 8 {
			clients.Go(func() {
				for range 125 {
					kid := fmt.Sprint("kid-", sent.Add(1))
					token := b64([]byte(`{"alg":"ES256","kid":"`+kid+`"}`)) + ".e30." + b64(make([]byte, 64))
					if _, err := v.Verify(context.Background(), token); problem.From(err).Code != problem.Unauthenticated {
						t.Errorf("%s: %v", kid, err)
					}
				}
			})
		}
		clients.Wait()
		c.advance(time.Second)
	}
	for range 70 {
		second()
	}
	keys.serve(known, fresh)
	for c.Now().Before(testStart.Add(90 * time.Second)) {
		wantCode(t, v, fresh.token(claims(nil)), problem.Unauthenticated)
		accepts(t, v, known)
		second()
	}
	accepts(t, v, fresh)
	for range 5 {
		second()
		accepts(t, v, fresh)
		accepts(t, v, known)
	}
	if n := keys.count(); n != 4 {
		t.Errorf("%d fetches in 95 s, want 4", n)
	}
	t.Logf("%d unknown kids, %d fetches", sent.Load(), keys.count())
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

// Of an answer that never ends 64 KB are read, and what the network holds beside them.
func TestKeys_AnEndlessAnswerIsNotReadOn(t *testing.T) { // J5
	es, written := newES256(t, "es"), make(chan int, 1)
	keys := newKeyServer(t)
	keys.set(func(w http.ResponseWriter, _ *http.Request) {
		blanks, sum := make([]byte, 64<<10), 0
		for {
			n, err := w.Write(blanks)
			if sum += n; err != nil {
				written <- sum
				return
			}
		}
	})
	wantCode(t, newTestVerifier(t, keys.URL, newClock()), es.token(claims(nil)), problem.KeysUnavailable)
	if n := <-written; n > 32<<20 {
		t.Errorf("%d bytes went out", n)
	}
}

// An endpoint that says nothing delays a request by the time of one fetch, then it is 503.
func TestKeys_ASilentEndpointIsGivenUp(t *testing.T) { // J5
	t.Parallel()
	es := newES256(t, "es")
	keys := newKeyServer(t)
	keys.set(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	v := newTestVerifier(t, keys.URL, newClock())
	wantCode(t, v, es.token(claims(nil)), problem.KeysUnavailable)
	wantCode(t, v, es.token(claims(nil)), problem.KeysUnavailable) // at once
	if n := keys.count(); n != 1 {
		t.Errorf("fetched %d times, want once", n)
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

// accepts wants good claims, or the ones given, to be accepted.
func accepts(t *testing.T, v *Verifier, s signer, given ...map[string]any) {
	t.Helper()
	if len(given) == 0 {
		given = append(given, claims(nil))
	}
	for _, c := range given {
		if _, err := v.Verify(context.Background(), s.token(c)); err != nil {
			t.Errorf("%s refused: %v", s.kid, err)
		}
	}
}
