package e2e

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// One person and one brand ask without end, while twenty others ask as people do: those are served. A
// share that somebody uses up is their own. Q4
func TestLimits_AbuseOfSomeLeavesTheOthersServed(t *testing.T) {
	t.Parallel()
	const brands, questions = 10, 3
	library := t.TempDir()
	documents := map[string]string{"prices/stoves.md": priceList(daysAgo(2), "Ember Nook: €1,240.00")}
	newBrand(t, library, "noisy-person", "{turns_per_minute: 5}", documents)
	newBrand(t, library, "noisy-brand", "{turns_per_minute: 1000, turns_per_day: 30}", documents)
	for i := range brands {
		newBrand(t, library, fmt.Sprintf("calm-%d", i), "{}", documents)
	}
	s := open(t, options{name: "fairness", brands: library})
	s.told.add(nookQuestion)

	ctx, calm := context.WithCancel(t.Context())
	defer calm()
	var noise sync.WaitGroup
	var refused, answered atomic.Int64
	for _, abuser := range []person{
		s.rep(t, "noisy-person"), s.rep(t, "noisy-person"), s.rep(t, "noisy-brand"), s.admin(t, "noisy-brand"),
	} {
		noise.Go(func() { abuser.flood(ctx, &answered, &refused) })
	}
	for deadline := time.Now().Add(patience); refused.Load() < 100 && time.Now().Before(deadline); {
		time.Sleep(20 * time.Millisecond)
	}
	before := refused.Load()
	var served, all atomic.Int64
	var people sync.WaitGroup
	for i := range brands {
		slug := fmt.Sprintf("calm-%d", i)
		for _, p := range []person{s.rep(t, slug), s.admin(t, slug)} {
			people.Go(func() {
				for range questions {
					all.Add(1)
					if r := p.post("/v1/ask", encode(t, map[string]string{"question": nookQuestion})); r.status == http.StatusOK {
						served.Add(1)
					}
					time.Sleep(50 * time.Millisecond) // they read the answer
				}
			})
		}
	}
	people.Wait()
	meanwhile := refused.Load() - before
	calm()
	noise.Wait()
	t.Logf("%d of %d questions of others served, beside %d refused and %d answered of those who abused it",
		served.Load(), all.Load(), meanwhile, answered.Load())
	if served.Load()*100 < all.Load()*95 {
		t.Errorf("%d of %d questions were served", served.Load(), all.Load())
	}
	if before < 100 || meanwhile == 0 {
		t.Errorf("%d requests were refused before and %d meanwhile: there was no abuse", before, meanwhile)
	}
	if got := s.text(t, `select max(d.turns)::text from private.tenant_days d
		join app.tenants t on t.id = d.tenant_id where t.slug = 'noisy-brand'`); got != "30" {
		t.Errorf("the noisy brand had %s turns of its 30", got)
	}
}

// flood asks as fast as it can until the context ends.
func (p person) flood(ctx context.Context, answered, refused *atomic.Int64) {
	for ctx.Err() == nil {
		body := encode(p.t, map[string]string{"question": nookQuestion})
		response, err := http.DefaultClient.Do(p.request(ctx, http.MethodPost, "/v1/ask", body, asJSON))
		if err != nil {
			return
		}
		switch response.StatusCode {
		case http.StatusOK:
			answered.Add(1)
		case http.StatusTooManyRequests:
			refused.Add(1)
		}
		_ = response.Body.Close()
	}
}
