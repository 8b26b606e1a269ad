package identity

import (
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"porchlight/functions/internal/problem"
)

// Lambda stops every goroutine between two requests, so none of ours may be needed then: a verifier
// that has fetched, refetched and failed has started none that is still there.
func TestVerifier_LeavesNoGoroutineBehind(t *testing.T) { // J5 of the threat table
	c, es := newClock(), newES256(t, "es")
	keys := newKeyServer(t, es)
	v := newTestVerifier(t, keys.URL, c)
	accepts(t, v, es)
	c.advance(cacheFor)
	accepts(t, v, es)
	keys.set(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	c.advance(staleFor)
	wantCode(t, v, es.token(claims(nil)), problem.KeysUnavailable)

	var left []string
	for range 100 { // one that ends by itself may take a moment
		if left = ours(); len(left) == 0 {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("%d goroutines are left:\n%s", len(left), strings.Join(left, "\n\n"))
}

// ours are the stacks of the goroutines that this package started or runs in, those of tests apart.
func ours() (stacks []string) {
	text := make([]byte, 4<<20)
	text = text[:runtime.Stack(text, true)]
	for stack := range strings.SplitSeq(string(text), "\n\n") {
		if strings.Contains(stack, "/identity.") && !strings.Contains(stack, "testing.tRunner(") {
			stacks = append(stacks, stack)
		}
	}
	return stacks
}
