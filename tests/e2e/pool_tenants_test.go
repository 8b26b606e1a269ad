package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// tenantMarks are eight brands by a word that stands in the title of their price list and nowhere else.
var tenantMarks = []string{"Quillmoor", "Brackenfell", "Osierwick", "Tarnhollow", "Vexleigh", "Juniperby", "Kestrelford", "Mossgarth"}

// shared is eight brands behind the few connections of one process. All are asked the same question, and
// each has another answer.
type shared struct {
	*server
	reps   []person
	prices []string
}

func openShared(t *testing.T) shared {
	t.Helper()
	library, s := t.TempDir(), shared{}
	for i, mark := range tenantMarks {
		s.prices = append(s.prices, fmt.Sprintf("€1,%d43.00", i+1))
		list := priceList(daysAgo(2), "Ember Nook: "+s.prices[i])
		newBrand(t, library, "pool-"+strings.ToLower(mark), "{turns_per_minute: 1000, turns_per_day: 10000}", map[string]string{
			"prices/stoves.md": strings.Replace(list, "title: Stoves", "title: Stoves of "+mark, 1),
		})
	}
	s.server = open(t, options{name: "shared", brands: library})
	for _, mark := range tenantMarks {
		s.reps = append(s.reps, s.rep(t, "pool-"+strings.ToLower(mark)))
	}
	s.told.add(nookQuestion)
	return s
}

// ask asks as the rep of one brand, and returns the turn's id and what of other brands came back.
func (s shared) ask(t *testing.T, brand int) (turnID string, foreign []string) {
	t.Helper()
	r := s.reps[brand].with(t).post("/v1/ask", encode(t, map[string]string{"question": nookQuestion}))
	if r.status != http.StatusOK {
		t.Errorf("%d %s", r.status, r.body)
		return "", nil
	}
	a := readAnswer(t, r)
	if !strings.Contains(a.said(), s.prices[brand]) || !strings.Contains(a.titles(), tenantMarks[brand]) {
		t.Errorf("%s was told %s %s", tenantMarks[brand], a.Outcome, r.body)
	}
	for other := range tenantMarks {
		for _, word := range []string{tenantMarks[other], s.prices[other]} {
			if other != brand && strings.Contains(r.body, word) {
				foreign = append(foreign, word)
			}
		}
	}
	return a.turnID, foreign
}

// P1: eight workers ask in turn for eight brands, so that each connection serves one brand after the other.
// Through the pooler two connections serve them all.
func TestPooler_NoTurnSeesARowOfAnotherTenant(t *testing.T) {
	t.Parallel()
	s, turns := openShared(t), 200
	if poolerAddress() != "" {
		turns = 2000
	}
	brandOf := make([]string, turns) // by turn: the slug and the turn's id
	var next, foreign atomic.Int64
	var workers sync.WaitGroup
	for range tenantMarks {
		workers.Go(func() {
			for i := int(next.Add(1) - 1); i < turns; i = int(next.Add(1) - 1) {
				brand := (i + i/len(tenantMarks)) % len(tenantMarks)
				id, seen := s.ask(t, brand)
				brandOf[i] = s.reps[brand].brand + " " + id
				if len(seen) > 0 {
					foreign.Add(1)
					t.Errorf("%s saw %v", tenantMarks[brand], seen)
				}
			}
		})
	}
	workers.Wait()
	t.Logf("%d turns, %d with something of another brand", turns, foreign.Load())
	if t.Failed() {
		return
	}
	logged := s.text(t, `select count(*)::text from unnest(string_to_array($1, ',')) a
		join app.tenants b on b.slug = split_part(a, ' ', 1)
		join app.turns r on r.tenant_id = b.id and r.id = split_part(a, ' ', 2)::uuid and r.status = 'answered'`,
		strings.Join(brandOf, ","))
	if logged != fmt.Sprint(turns) {
		t.Errorf("%s of %d turns are logged as answered, with their own brand", logged, turns)
	}
}
