package ingest

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"porchlight/functions/internal/corpus"
	"porchlight/functions/internal/problem"
)

// reader is a Previewer: what is stored of each source, as a plan, and of the rest.
type reader struct {
	plans   map[string]Plan
	listing Listing
	asked   []string // the listing that it was asked about
}

func (r *reader) PreviewSource(_ context.Context, src corpus.Source, _ []corpus.Chunk) (Plan, error) {
	plan, ok := r.plans[src.Key]
	if !ok {
		return Plan{}, problem.New(problem.Internal, nil)
	}
	return plan, nil
}

func (r *reader) PreviewListing(_ context.Context, listing []string) (Listing, error) {
	r.asked = listing
	return r.listing, nil
}

func TestPreview_AddsUpAndTouchesNothing(t *testing.T) {
	limit := 3
	w := newWorld(t, map[string]string{"a.md": "one", "b.md": "# B\n\ntwo\n\n# C\n\ntwo two", "c.md": "three", "d.csv": "x"})
	stored := &reader{
		plans: map[string]Plan{
			"a.md": {Kept: 1, Missing: map[string][]int{"primary": {0}}},
			"b.md": {New: []int{1}, Changed: 1, Kept: 1, Removed: 3, Missing: map[string][]int{"primary": {1}}},
			"c.md": {New: []int{0}, Missing: map[string][]int{"primary": {0}}},
		},
		listing: Listing{Chunks: 9, Retired: 1, Lost: 2, RemovalLimit: &limit},
	}
	got, err := w.Preview(t.Context(), stored, Selection{All: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Failures) != 1 || got.Failures[0].Key != "d.csv" {
		t.Errorf("failures %v", got.Failures)
	}
	got.Failures = nil
	want := Preview{
		Sources: 4, Differ: 2, Counts: Counts{Added: 2, Changed: 1, Kept: 2, Removed: 3}, Listing: stored.listing, Removal: 4,
		Work: []Work{{Index: "primary", Model: "primary-model", Texts: 3, Tokens: 1 + 3 + 2, Batches: 3}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !got.IsRefused() || len(stored.asked) != 4 {
		t.Errorf("refused %t, asked about %q", got.IsRefused(), stored.asked)
	}
	allowed := 4
	got, err = w.Preview(t.Context(), stored, Selection{Keys: []string{"b.md"}, AllowedRemoval: &allowed})
	if err != nil || got.IsRefused() || got.Sources != 1 || stored.asked != nil {
		t.Errorf("%+v, %v", got, err)
	}
	if len(w.primary.calls) != 0 || w.store.open || w.store.ends != nil {
		t.Error("a model was called, or a run was opened")
	}
}
