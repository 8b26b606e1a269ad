package web

import (
	"context"
	"strings"
	"testing"
	"time"

	"porchlight/functions/internal/identity"
	"porchlight/functions/internal/problem"
)

// reviewer knows one chunk, and fails the test on any id but that and freshID, which is not alice's.
type reviewer struct {
	t      *testing.T
	chunks []StaleChunk
	limit  int
}

var verified = time.Date(2026, 8, 1, 9, 30, 0, 0, time.UTC)

func (x *reviewer) Stale(_ context.Context, _ identity.Principal, limit int) ([]StaleChunk, error) {
	x.limit = limit
	return x.chunks, nil
}

func (x *reviewer) Verify(_ context.Context, _ identity.Principal, id string) (VerifiedChunk, error) {
	switch id {
	case givenID:
		return VerifiedChunk{ChunkID: id, VerifiedAt: verified}, nil
	case freshID:
		return VerifiedChunk{}, problem.New(problem.NotFound, nil)
	}
	x.t.Errorf("reviewer: unregistered chunk %q", id)
	return VerifiedChunk{}, nil
}

func TestReview_ListsStalePrices(t *testing.T) {
	o, _ := options()
	x := &reviewer{t: t, chunks: []StaleChunk{
		{
			ChunkID: givenID, SourceID: turnID, SourceKey: "prices/homes.md", SourceTitle: "Prices", SourceURL: "https://lumen.example/prices",
			Heading: "Prices › Home", Content: "Plan: Home Flex; Monthly fee: 12,50 €.", VerifiedAt: &verified,
		},
		{ChunkID: freshID, SourceID: turnID, SourceKey: "prices/old.csv", SourceTitle: "Old"},
	}}
	h := NewReview(o, knows(t, "alice"), x)
	golden(t, "stale.json", serve(h, get("/v1/review/stale")).Body.Bytes())
	if x.limit != defaultStale {
		t.Errorf("limit %d", x.limit)
	}
	x.chunks = nil
	golden(t, "stale_none.json", serve(h, get("/v1/review/stale?limit=200")).Body.Bytes())
	if x.limit != 200 {
		t.Errorf("limit %d", x.limit)
	}
}

func TestReview_RefusesALimitThatIsNone(t *testing.T) {
	o, _ := options()
	h := NewReview(o, knows(t, "alice"), nil)
	for _, limit := range []string{"0", "-1", "201", "1e3", "9223372036854775808", "x", "null"} {
		w := serve(h, get("/v1/review/stale?limit="+limit))
		if w.Code != 400 || !strings.Contains(w.Body.String(), "from 1 to 200") {
			t.Errorf("%s: %d %s", limit, w.Code, w.Body)
		}
	}
}

func TestReview_VerifiesAChunkOrAnswersTheSame404(t *testing.T) {
	o, _ := options()
	h := NewReview(o, knows(t, "alice"), &reviewer{t: t})
	for id, want := range map[string]string{
		givenID:                  "verified.json",
		strings.ToUpper(givenID): "verified.json",
		freshID:                  "not_found.json",
		"1":                      "not_found.json",
		"%00":                    "not_found.json",
		"..%2f..%2fstale":        "not_found.json",
	} {
		w := serve(h, post("/v1/review/chunks/"+id+"/verify", ""))
		if (w.Code == 200) != (want == "verified.json") {
			t.Errorf("%s: status %d", id, w.Code)
		}
		golden(t, want, w.Body.Bytes())
	}
}

func TestReview_EveryRouteNeedsACaller(t *testing.T) {
	o, _ := options()
	h := NewReview(o, verifier{t, nil}, nil)
	for _, r := range []string{"/v1/review/stale", "/v1/review/chunks/" + givenID + "/verify"} {
		req := post(r, "")
		if strings.HasSuffix(r, "stale") {
			req = get(r)
		}
		req.Header.Del("Authorization")
		if w := serve(h, req); w.Code != 401 {
			t.Errorf("%s: status %d", r, w.Code)
		}
	}
}
