package web

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"porchlight/functions/internal/identity"
	"porchlight/functions/internal/problem"
)

// reindexer streams its events and knows one run; it fails the test on any other.
type reindexer struct {
	t      *testing.T
	got    ReindexRequest
	events []ReindexEvent
	err    error
	run    RunView
}

func (x *reindexer) Reindex(_ context.Context, _ identity.Principal, req ReindexRequest, progress func(ReindexEvent) error) error {
	x.got = req
	for _, e := range x.events {
		if err := progress(e); err != nil {
			return err
		}
	}
	return x.err
}

func (x *reindexer) Run(_ context.Context, _ identity.Principal, id string) (RunView, error) {
	if id == freshID {
		return RunView{}, problem.New(problem.NotFound, nil)
	}
	if id != x.run.RunID {
		x.t.Errorf("reindexer: unregistered run %q", id)
	}
	return x.run, nil
}

func TestReindex_StreamsTheRun(t *testing.T) {
	events := []ReindexEvent{
		RunBegan(givenID),
		SourceEnded("prices/homes.md", "indexed", ""),
		SourceEnded("faq/broken.csv", "failed", "line 3 has 4 cells, the header has 3"),
		RunEnded("partial", Counts{Added: 4, Kept: 30, Failed: 1}),
	}
	tests := []struct {
		name   string
		events []ReindexEvent
		err    error
		status int
		golden string
	}{
		{"to its end", events, nil, 200, "reindex.ndjson"},
		{"refused before it begins", nil, problem.New(problem.NotAMember, nil), 403, "not_a_member.json"},
		{"broken off", events[:2], problem.New(problem.DatabaseUnavailable, nil), 200, "reindex_failed.ndjson"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o, _ := options()
			x := &reindexer{t: t, events: tt.events, err: tt.err}
			w := serve(NewReindex(o, knows(t, "alice"), x), post("/v1/reindex", `{"tenant":"lumen-energy","all":true}`))
			if w.Code != tt.status || fmt.Sprint(x.got) != "{lumen-energy true [] <nil>}" {
				t.Errorf("status %d, request %+v", w.Code, x.got)
			}
			golden(t, tt.golden, w.Body.Bytes())
		})
	}
}

func TestReindex_NeedsAllOrSourcesButNotBoth(t *testing.T) {
	tests := []struct{ name, body, detail string }{
		{"neither", `{}`, `Say \"all\": true, or name the sources.`},
		{"all is false", `{"all":false}`, `Say \"all\": true, or name the sources.`},
		{"no sources", `{"sources":[]}`, `Say \"all\": true, or name the sources.`},
		{"both", `{"all":true,"sources":["a.md"]}`, "The fields all and sources exclude each other."},
		{"an empty key", `{"sources":["a.md",""]}`, "The field sources holds something that is not a key."},
		{"a null key", `{"sources":[null]}`, "The field sources holds something that is not a key."},
		{"NUL in a key", `{"sources":["a\u0000"]}`, "The field sources holds something that is not a key."},
		{"a line break in the tenant", `{"tenant":"a\nb","all":true}`, "The field tenant is not a name."},
		{"a tenant of 501 bytes", `{"tenant":"` + strings.Repeat("a", 501) + `","all":true}`, "The field tenant is not a name."},
		{"a removal below none", `{"all":true,"allow_removal":-1}`, "The field allow_removal is a number of passages."},
		{"half a removal", `{"all":true,"allow_removal":1.5}`, "The field allow_removal has a value of the wrong type."},
		{"a tenant by its id", `{"tenant_id":"x","all":true}`, "The field tenant_id is unknown."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o, _ := options()
			w := serve(NewReindex(o, knows(t, "alice"), nil), post("/v1/reindex", tt.body))
			if w.Code != 400 || !strings.Contains(w.Body.String(), tt.detail) {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}
}

func TestReindex_TakesSourcesByKey(t *testing.T) {
	o, _ := options()
	x := &reindexer{t: t, events: []ReindexEvent{RunBegan(givenID)}}
	serve(NewReindex(o, knows(t, "alice"), x), post("/v1/reindex", `{"sources":["prices/homes.md","faq/ä.md"]}`))
	if fmt.Sprint(x.got) != "{ false [prices/homes.md faq/ä.md] <nil>}" {
		t.Errorf("%+v", x.got)
	}
}

func TestReindex_TakesWhatMayBeRemoved(t *testing.T) {
	o, _ := options()
	for _, n := range []int{0, 340} {
		x := &reindexer{t: t, events: []ReindexEvent{RunBegan(givenID)}}
		serve(NewReindex(o, knows(t, "alice"), x), post("/v1/reindex", fmt.Sprintf(`{"all":true,"allow_removal":%d}`, n)))
		if x.got.AllowedRemoval == nil || *x.got.AllowedRemoval != n {
			t.Errorf("%d: %+v", n, x.got)
		}
	}
}

func TestReindex_ShowsARun(t *testing.T) {
	started := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	ended := started.Add(time.Minute)
	o, _ := options()
	x := &reindexer{t: t, run: RunView{
		RunID: givenID, Tenant: "lumen-energy", Status: "partial", StartedAt: started, FinishedAt: &ended,
		Counts:  Counts{Added: 4, Failed: 1},
		Sources: []SourceView{{Key: "a.md", Status: "indexed"}, {Key: "b.csv", Status: "failed", Reason: "no rows"}},
	}}
	h := NewReindex(o, knows(t, "alice"), x)
	w := serve(h, get("/v1/reindex/"+strings.ToUpper(givenID)))
	golden(t, "run.json", w.Body.Bytes())

	x.run = RunView{RunID: givenID, Tenant: "lumen-energy", Status: "running", StartedAt: started}
	w = serve(h, get("/v1/reindex/"+givenID))
	golden(t, "run_running.json", w.Body.Bytes())
}

func TestReindex_RefusesATenantThatIsNoText(t *testing.T) {
	o, _ := options()
	h := NewReindex(o, knows(t, "alice"), &reindexer{t: t})
	for _, tenant := range []string{"%ff", "a%00", "%c3%28", "%0a"} {
		if w := serve(h, get("/v1/reindex/"+givenID+"?tenant="+tenant)); w.Code >= 500 || w.Code < 400 {
			t.Errorf("%s: status %d", tenant, w.Code)
		}
	}
}

func TestReindex_AnswersTheSameForUnknownAndImpossibleRuns(t *testing.T) {
	o, _ := options()
	h := NewReindex(o, knows(t, "alice"), &reindexer{t: t})
	for _, id := range []string{freshID, "1", "..%2f..%2fetc", "%00", "'%20or%201=1", "{" + givenID + "}"} {
		w := serve(h, get("/v1/reindex/"+id))
		if w.Code != 404 {
			t.Errorf("%s: status %d", id, w.Code)
		}
		golden(t, "not_found.json", w.Body.Bytes())
	}
}
