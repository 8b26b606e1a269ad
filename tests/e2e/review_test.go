package e2e

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// staleList is what GET /v1/review/stale says.
type staleList struct {
	Chunks []staleChunk `json:"chunks"`
}

type staleChunk struct {
	ChunkID     string `json:"chunk_id"`
	SourceKey   string `json:"source_key"`
	SourceTitle string `json:"source_title"`
	Content     string `json:"content"`
	VerifiedAt  string `json:"verified_at"`
}

// stale lists the brand's stale prices.
func (p person) stale() []staleChunk {
	p.t.Helper()
	r := p.get("/v1/review/stale?limit=200")
	r.want(p.t, http.StatusOK, "")
	var list staleList
	decode(p.t, r.body, &list)
	return list.Chunks
}

func TestReview_ShowsTheBrandsStalePricesToItsAdmins(t *testing.T) {
	t.Parallel()
	for slug, key := range leftStale {
		t.Run(slug, func(t *testing.T) {
			t.Parallel()
			list := doorstep.admin(t, slug).stale()
			if len(list) == 0 {
				t.Fatal("nothing is stale")
			}
			for _, c := range list {
				if c.SourceKey != key || c.Content == "" || !strings.HasPrefix(c.VerifiedAt, "2026-03-02") {
					t.Errorf("stale: %+v", c)
				}
			}
			rep := doorstep.rep(t, slug)
			rep.get("/v1/review/stale").want(t, http.StatusForbidden, "not_an_admin")
			rep.post("/v1/review/chunks/"+list[0].ChunkID+"/verify", "").want(t, http.StatusForbidden, "not_an_admin")
		})
	}
	admin := doorstep.admin(t, glowmere)
	for _, limit := range []string{"0", "-1", "201", "many"} {
		admin.get("/v1/review/stale?limit="+limit).want(t, http.StatusBadRequest, "bad_request")
	}
	doorstep.visitor(t).get("/v1/review/stale").want(t, http.StatusUnauthorized, "unauthenticated")
}

// A price that nobody has verified in time is held until an admin says that it is true. A reindex of
// the same document does not make it fresh. O38
func TestReview_VerifyingMakesAPriceAnswerable(t *testing.T) {
	t.Parallel()
	b := doorstep.addBrand(t, "review-stoves", "{turns_per_minute: 100}", map[string]string{
		"prices/stoves.md": priceList(daysAgo(95), "Ember Nook: €1,240.00", "Ember Hall: €2,310.00"),
	})
	b.index(t)
	rep, admin := doorstep.rep(t, b.slug), doorstep.admin(t, b.slug)
	const question = "What is the price of the Ember Nook?"
	held := func() {
		t.Helper()
		a := rep.ask(question)
		if a.Outcome != "held" || len(a.Sources) != 1 || !a.Sources[0].IsStale || a.AsOf == nil || *a.AsOf != daysAgo(95) {
			t.Errorf("%s: %s", a.Outcome, a.body)
		}
		a.mustNotSay(t, "1,240", "1240", "2,310")
	}
	held()
	if done := b.index(t); done.Kept != 1 || done.Added+done.Changed+done.Removed != 0 {
		t.Errorf("reindex of the same document: %+v", done)
	}
	held()
	list := admin.stale()
	if len(list) != 1 || list[0].SourceKey != "prices/stoves.md" || !strings.Contains(list[0].Content, "€1,240.00") {
		t.Fatalf("stale: %+v", list)
	}
	r := admin.post("/v1/review/chunks/"+list[0].ChunkID+"/verify", "")
	r.want(t, http.StatusOK, "")
	if !strings.Contains(r.body, daysAgo(0)) && !strings.Contains(r.body, daysAgo(1)) {
		t.Errorf("verified: %s", r.body)
	}
	a := rep.ask(question)
	if a.Outcome != "answered" || !strings.Contains(a.said(), "€1,240.00") || a.AsOf == nil || *a.AsOf < daysAgo(1) {
		t.Errorf("%s: %s", a.Outcome, a.body)
	}
	if left := admin.stale(); slices.ContainsFunc(left, func(c staleChunk) bool { return c.ChunkID == list[0].ChunkID }) {
		t.Errorf("still stale: %+v", left)
	}
	// who said so stays
	by := doorstep.text(t, `select u.email from app.chunks c join auth.users u on u.id = c.verified_by where c.id = $1`, list[0].ChunkID)
	if by != admin.email {
		t.Errorf("verified by %q", by)
	}
	b.index(t)
	if a := rep.ask(question); a.Outcome != "answered" {
		t.Errorf("after a reindex of the same document: %s", a.Outcome)
	}
}
