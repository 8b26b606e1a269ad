package identity

import (
	"runtime"
	"strings"
	"testing"

	"porchlight/functions/internal/problem"
)

// padded is a good token of that many bytes, signed.
func padded(tb testing.TB, s signer, size int) string {
	tb.Helper()
	bare := len(s.token(claims(map[string]any{"x": ""})))
	pad := (size - bare) * 3 / 4
	for ; ; pad++ {
		if token := s.token(claims(map[string]any{"x": strings.Repeat("x", max(pad, 0))})); len(token) >= size {
			return token[:size]
		}
	}
}

// A token over 8 KB is refused by its length: whatever is in it costs nothing, since nothing is cut,
// decoded, looked up or parsed. Work is counted in allocations and bytes, which every parser makes.
func TestVerify_RefusesAnOversizedTokenBeforeAnyWork(t *testing.T) { // J20
	es := newES256(t, "es")
	keys := newKeyServer(t, es)
	v := newTestVerifier(t, keys.URL, newClock())
	allocations := func(token string) float64 {
		return testing.AllocsPerRun(50, func() {
			if _, err := v.Verify(t.Context(), token); problem.From(err).Code != problem.Unauthenticated {
				t.Error("not refused")
			}
		})
	}
	empty := allocations("") // as little as a refusal costs
	for name, token := range map[string]string{
		"one byte over":             padded(t, es, maxTokenBytes+1),
		"100 KB":                    padded(t, es, 100<<10),
		"6 MB":                      padded(t, es, 6<<20),
		"6 MB of dots":              strings.Repeat(".", 6<<20),
		"6 MB of brackets, encoded": b64([]byte(strings.Repeat("[", 6<<20))) + "..",
		"6 MB of line ends":         strings.Repeat("\n", 6<<20),
	} {
		t.Run("J20 "+name, func(t *testing.T) {
			if n := allocations(token); n > empty {
				t.Errorf("%v allocations, an empty token costs %v", n, empty)
			}
			if n := allocated(func() { _, _ = v.Verify(t.Context(), token) }); n > 4<<10 {
				t.Errorf("%d bytes allocated", n)
			}
		})
	}
	if n := keys.count(); n != 0 {
		t.Errorf("keys were fetched %d times", n)
	}
	accepts(t, v, es)
	read := es.token(claims(map[string]any{"role": "anon", "x": strings.Repeat("x", maxTokenBytes/2)}))
	if n := allocations(read); n < 10*empty {
		t.Errorf("a token that is read costs %v allocations, an empty one %v: the count tells nothing", n, empty)
	}
}

// allocated is how many bytes f allocates. Others may allocate meanwhile, so the least of a few counts.
func allocated(f func()) uint64 {
	least := ^uint64(0)
	for range 10 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	return least
}

// BenchmarkVerify shows what a token costs: a forged one of any size far less than a millisecond.
func BenchmarkVerify(b *testing.B) {
	es := newES256(b, "es")
	v := newTestVerifier(b, newKeyServer(b, es).URL, newClock())
	if _, err := v.Verify(b.Context(), es.token(claims(nil))); err != nil {
		b.Fatal(err)
	}
	for _, bb := range []struct{ name, token string }{
		{"genuine", es.token(claims(nil))},
		{"6MB", padded(b, es, 6<<20)},
		{"8KB of the wrong signature", padded(b, es, maxTokenBytes)},
		{"unknown kid", newES256(b, "unknown").token(claims(nil))},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = v.Verify(b.Context(), bb.token)
			}
		})
	}
}
