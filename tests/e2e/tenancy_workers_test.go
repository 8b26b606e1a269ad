package e2e

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// Eight people of each of eight brands ask the same words at the same time, over the few connections that
// a server has: each is told the own brand's price from the own brand's document, and the turn is stored
// there. Who is told to come back, since the connections are taken, does. make attack does it 2,000 times.
// T3 O68 O69
func TestTenancy_ManyBrandsAtOnceAreNeverMixed(t *testing.T) {
	t.Parallel()
	const workers, questions = 8, 5
	library, prices, all := t.TempDir(), []string{}, []ownBrand{}
	for i, marker := range []string{
		"Gorsefender", "Heatherflue", "Irisandiron", "Jasminehod", "Knapweedjack", "Lavenderlog", "Mallowpoker", "Nettletongs",
	} {
		slug, price := fmt.Sprintf("crowd-%d", i), fmt.Sprintf("€9,%d%d%d.00", i+1, i+1, i+1)
		canary.add(slug, marker, strings.TrimPrefix(price, "€"))
		prices = append(prices, price)
		all = append(all, newBrand(t, library, slug, "{turns_per_minute: 1000, turns_per_day: 100000}", map[string]string{
			"prices/stoves.md": markedList(marker, price),
		}))
	}
	crowd := open(t, options{name: "crowd", brands: library})
	var working sync.WaitGroup
	for i, b := range all {
		rep, price := crowd.rep(t, b.slug), prices[i]
		for range workers {
			working.Go(func() {
				for range questions {
					if a := rep.askUntilServed(nookQuestion); a.Outcome != "answered" || !strings.Contains(a.said(), price) || len(a.Sources) != 1 {
						t.Errorf("%s is told %s", b.slug, a.body)
					}
				}
			})
		}
	}
	working.Wait()
	for i, b := range all {
		stored := crowd.text(t, `select count(*) || ' ' || count(*) filter (where r.answer like '%' || $2 || '%')
			from app.turns r join app.tenants t on t.id = r.tenant_id where t.slug = $1 and r.status = 'answered'`,
			b.slug, prices[i])
		if want := fmt.Sprintf("%d %[1]d", workers*questions); stored != want {
			t.Errorf("%s has %s turns, want %s", b.slug, stored, want)
		}
	}
}
