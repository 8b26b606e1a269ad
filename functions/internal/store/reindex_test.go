package store_test

import (
	"fmt"
	"testing"

	"porchlight/functions/internal/corpus"
	"porchlight/functions/internal/problem"
	"porchlight/functions/internal/store"
)

// O39: of 1,200 passages of one source none is out of sight of a plan, none is written again.
func TestPlanReindex_SeesAllOfALargeSource(t *testing.T) {
	f := newFixture(t)
	s := f.open(t, "porchlight_runtime")
	src := corpus.Source{Type: "price", Key: "prices/all.csv", Title: "All", Language: "en", Visibility: corpus.Tenant}
	chunks := make([]corpus.Chunk, 1200)
	for i := range chunks {
		chunks[i] = corpus.Chunk{HeadingPath: "All", Content: fmt.Sprintf("Item %d costs €%d.00.", i, i)}
	}
	const written = `select count(*) from (select distinct c.xmin::text from app.chunks c) x`
	for _, want := range []store.Applied{{Added: 1200}, {Unchanged: true, Kept: 1200}} {
		started, err := s.StartReindex(t.Context(), f.bob, true)
		if err != nil {
			t.Fatal(err)
		}
		run := started.RunID
		plan, err := s.PlanReindex(t.Context(), f.bob, run, src, chunks, []string{"local"})
		if err != nil || len(plan.New) != want.Added || plan.Kept != want.Kept || len(plan.Missing["local"]) != 1200 {
			t.Fatalf("%d new, %d kept, %d without a vector, %v", len(plan.New), plan.Kept, len(plan.Missing["local"]), err)
		}
		got, err := s.ApplyReindex(t.Context(), f.bob, run, store.Apply{
			Source: src, Chunks: chunks, Generation: plan.Generation, New: plan.New,
		})
		if err != nil || got != want {
			t.Errorf("%+v, %v", got, err)
		}
		view, err := s.FinishReindex(t.Context(), f.bob, run, []string{src.Key}, false)
		if err != nil || view.Status != "ready" || view.Retired != 0 {
			t.Errorf("%+v, %v", view, err)
		}
	}
	if rows, writers := f.count(t, `select count(*) from app.chunks`), f.count(t, written); rows != 1200 || writers != 1 {
		t.Errorf("%d rows, written by %d transactions", rows, writers)
	}
}

// C4: the codes by which a run knows what to do: leave the source alone, or plan again.
func TestApplyReindex_SaysWhoHasTheLastWord(t *testing.T) {
	f := newFixture(t)
	s := f.open(t, "porchlight_runtime")
	src := corpus.Source{Type: "faq", Key: "faq/hours.md", Title: "Hours", Language: "en", Visibility: corpus.Tenant}
	var runs []string
	for range 3 {
		started, err := s.StartReindex(t.Context(), f.bob, false)
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, started.RunID)
	}
	plan := func(run, text string) (store.Apply, error) {
		chunks := []corpus.Chunk{{Content: text}}
		p, err := s.PlanReindex(t.Context(), f.bob, run, src, chunks, nil)
		return store.Apply{Source: src, Chunks: chunks, Generation: p.Generation, New: p.New}, err
	}
	first, err := plan(runs[0], "nine")
	if err != nil {
		t.Fatal(err)
	}
	third, err := plan(runs[2], "eleven")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.ApplyReindex(t.Context(), f.bob, runs[0], first); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ApplyReindex(t.Context(), f.bob, runs[2], third); code(err) != problem.ReindexRunning {
		t.Errorf("a plan on another state: %v", err)
	}
	if third, err = plan(runs[2], "eleven"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ApplyReindex(t.Context(), f.bob, runs[2], third); err != nil {
		t.Error(err)
	}
	if _, err := plan(runs[1], "ten"); code(err) != problem.NewerSnapshot {
		t.Errorf("an older run plans: %v", err)
	}
	if _, err := s.ApplyReindex(t.Context(), f.bob, runs[1], third); code(err) != problem.NewerSnapshot {
		t.Errorf("an older run applies: %v", err)
	}
	f.exec(t, `update app.reindex_runs set lease_ends_at = now() - interval '1 second'`)
	view, err := s.GetReindex(t.Context(), f.bob, runs[1])
	if err != nil || view.Status != "failed" || view.Reason == nil || *view.Reason != "abandoned" {
		t.Errorf("a run that fell silent: %+v, %v", view, err)
	}
	if err := s.RenewReindex(t.Context(), f.bob, runs[1]); code(err) != problem.NotFound {
		t.Errorf("it comes back: %v", err)
	}
	if err := s.RenewReindex(t.Context(), f.bob, runs[2]); err != nil {
		t.Errorf("one that nobody has looked at is still there: %v", err)
	}
}
