package e2e

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// Eight people of each of eight brands ask the same words at the same time, over the few connections that
// a server has: each is told the own brand's price from the own brand's document, and the turn is stored
// there. make attack does it 2,000 times. T3 O68 O69
func TestTenancy_ManyBrandsAtOnceAreNeverMixed(t *testing.T) {
	t.Parallel()
	const brands, workers, questions = 8, 8, 5
	var all []ownBrand
	for i, marker := range []string{
		"Gorsefender", "Heatherflue", "Irisandiron", "Jasminehod", "Knapweedjack", "Lavenderlog", "Mallowpoker", "Nettletongs",
	} {
		all = append(all, stoves(t, fmt.Sprintf("crowd-%d", i), marker, fmt.Sprintf("€9,%d%d%d.00", i+1, i+1, i+1)))
	}
	var working sync.WaitGroup
	for i, b := range all {
		rep, price := doorstep.rep(t, b.slug), fmt.Sprintf("€9,%d%d%d.00", i+1, i+1, i+1)
		for range workers {
			working.Go(func() {
				for range questions {
					if a := rep.ask(nookQuestion); a.Outcome != "answered" || !strings.Contains(a.said(), price) || len(a.Sources) != 1 {
						t.Errorf("%s is told %s", b.slug, a.body)
					}
				}
			})
		}
	}
	working.Wait()
	if len(all) != brands {
		t.Fatalf("%d brands", len(all))
	}
	for i, b := range all {
		stored := doorstep.text(t, `select count(*) || ' ' || count(*) filter (where r.answer like '%' || $2 || '%')
			from app.turns r join app.tenants t on t.id = r.tenant_id where t.slug = $1 and r.status = 'answered'`,
			b.slug, fmt.Sprintf("€9,%d%d%d.00", i+1, i+1, i+1))
		if want := fmt.Sprintf("%d %[1]d", workers*questions); stored != want {
			t.Errorf("%s has %s turns, want %s", b.slug, stored, want)
		}
	}
}
