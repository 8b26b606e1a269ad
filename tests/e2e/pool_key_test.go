package e2e

import (
	"strings"
	"testing"

	"porchlight/tests/gemini"
)

// A demo brand has a key, and so a quota, of its own: using it up leaves the others theirs, and no
// request of one brand carries the key of the other.
func TestPool_ABrandWithItsOwnKeyHasItsOwnQuota(t *testing.T) {
	t.Parallel()
	const demoKey = "AIzaOfTheDemoOnly_0815"
	provider := gemini.NewServer(t)
	provider.On(primaryModel, likeVectors)
	provider.On(fallbackModel, likeVectors)
	library := t.TempDir()
	documents := map[string]string{"prices/stoves.md": priceList(daysAgo(2), "Ember Nook: €1,240.00")}
	usual := newBrand(t, library, "usual-stoves", "{}", documents)
	demo := newBrand(t, library, "demo-stoves", "{}\nquota_pool: demo", documents)
	keyless := newBrand(t, library, "other-stoves", "{}\nquota_pool: other", documents)
	s := open(t, options{name: "pools", brands: library, environment: []string{
		"GEMINI_API_KEY=" + geminiKey, "PORCHLIGHT_POOL_KEYS=demo=" + demoKey, "GEMINI_BASE_URL=" + provider.URL,
	}})
	s.told.add(geminiKey)
	s.told.add(demoKey)
	asked := map[string]int{} // by key
	ask := func(b ownBrand, wantModel string) {
		t.Helper()
		before := len(provider.Requests())
		if a := s.rep(t, b.slug).ask(nookQuestion); a.Model != wantModel || !strings.Contains(a.said(), "1,240") {
			t.Errorf("%s: %s", b.slug, a.body)
		}
		for _, r := range provider.Requests()[before:] {
			key := r.Header.Get("X-Goog-Api-Key")
			asked[key]++
			if want := map[string]string{usual.slug: geminiKey, demo.slug: demoKey}[b.slug]; key != want {
				t.Errorf("%s: a request with another key", b.slug)
			}
		}
	}
	for _, model := range []string{lite, lighter, flash} { // the demo's day is over
		provider.Queue(model, gemini.Quota(0, gemini.PerDay))
	}
	ask(demo, "extractive")
	ask(demo, "extractive")
	provider.Queue(lite, gemini.Text(nookAnswer))
	ask(usual, lite)
	ask(keyless, "extractive")
	if asked[demoKey] != 5 || asked[geminiKey] != 2 { // an embedding a question, and the models
		t.Errorf("%d requests with the demo's key, %d with the shared one", asked[demoKey], asked[geminiKey])
	}
	if got := s.text(t, `select string_agg(distinct d.pool, ' ' order by d.pool) from private.model_days d`); got != "demo shared" {
		t.Errorf("pools with calls: %s", got)
	}
}
