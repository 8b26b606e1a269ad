package store_test

import (
	"fmt"
	"sync"
	"testing"

	"porchlight/functions/internal/identity"
	"porchlight/functions/internal/store"
)

// O69: two connections carry the requests of two brands at once. Who is asking and what is asked travel in
// one batch, so no request finds the caller of another one on its connection.
func TestAs_KeepsCallersApartOnSharedConnections(t *testing.T) {
	f := newFixture(t)
	s, err := store.Open(t.Context(), store.Options{URL: f.address("porchlight_runtime"), MaxConnections: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	texts := map[string]string{f.bob.UserID: "Flex costs 12,50 € a month.", f.carol.UserID: "Flex costs 99 € a month."}
	index(t, s, f.bob, "prices/a.md", texts[f.bob.UserID])
	index(t, s, f.carol, "prices/a.md", texts[f.carol.UserID])

	nobody := identity.Principal{Role: "authenticated", Claims: []byte("{}")}
	var wait sync.WaitGroup
	for i := range 50 {
		wait.Go(func() {
			p := []identity.Principal{f.bob, f.carol, nobody}[i%3]
			for range 4 {
				matches, err := s.MatchChunks(t.Context(), p, search("What does Flex cost?"))
				if got, want := fmt.Sprint(len(matches), code(err)), fmt.Sprint(1, ""); p.UserID != "" && (got != want || matches[0].Content != texts[p.UserID]) {
					t.Errorf("%s got %+v, %v", p.UserID, matches, err)
				} else if p.UserID == "" && (len(matches) > 0 || code(err) == "") {
					t.Errorf("nobody got %+v, %v", matches, err)
				}
			}
		})
	}
	wait.Wait()
}
