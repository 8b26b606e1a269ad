package store_test

import (
	"fmt"
	"testing"
	"time"

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
		started, err := s.StartReindex(t.Context(), f.bob, true, nil)
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
		view, err := s.FinishReindex(t.Context(), f.bob, run, store.End{Listing: []string{src.Key}})
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
		started, err := s.StartReindex(t.Context(), f.bob, false, nil)
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

// prepared is a run with what it is about to apply: one source of one passage.
func (f fixture) prepared(t *testing.T, key, text string, isComplete bool) (s *store.Store, run string, a store.Apply) {
	t.Helper()
	s = f.open(t, "porchlight_runtime")
	started, err := s.StartReindex(t.Context(), f.bob, isComplete, nil)
	if err != nil {
		t.Fatal(err)
	}
	src := corpus.Source{Type: "faq", Key: key, Title: key, Language: "en", Visibility: corpus.Tenant}
	chunks := []corpus.Chunk{{Content: text}}
	plan, err := s.PlanReindex(t.Context(), f.bob, started.RunID, src, chunks, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s, started.RunID, store.Apply{Source: src, Chunks: chunks, Generation: plan.Generation, New: plan.New}
}

// meanwhile does the work while the table of chunks lets nobody write; each of it has to be held up before
// the next begins. It returns the errors.
func (f fixture) meanwhile(t *testing.T, work ...func() error) []error {
	t.Helper()
	f.exec(t, `begin`)
	f.exec(t, `lock table app.chunks in share mode`)
	results := make([]chan error, len(work))
	for i, do := range work {
		results[i] = make(chan error, 1)
		go func() { results[i] <- do() }()
		const waiting = `select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
		for deadline := time.Now().Add(4 * time.Second); f.count(t, waiting) <= i; time.Sleep(5 * time.Millisecond) {
			// a transaction lists the connections of its first look, and a pooler may have opened one since
			f.exec(t, `select pg_stat_clear_snapshot()`)
			if time.Now().After(deadline) { // the statements themselves may take 5 s
				t.Errorf("work %d does not wait", i)
				break
			}
		}
	}
	f.exec(t, `commit`)
	errs := make([]error, len(work))
	for i := range work {
		errs[i] = <-results[i]
	}
	return errs
}

// C1 O40: two runs write a source that is new to both. The second waits, and learns that it has to plan anew.
func TestApplyReindex_WaitsForTheRunThatWritesTheSource(t *testing.T) {
	f := newFixture(t)
	s, older, a := f.prepared(t, "faq/hours.md", "nine", false)
	s2, newer, b := f.prepared(t, "faq/hours.md", "nine", false)
	errs := f.meanwhile(t,
		func() error { _, err := s.ApplyReindex(t.Context(), f.bob, older, a); return err },
		func() error { _, err := s2.ApplyReindex(t.Context(), f.bob, newer, b); return err },
	)
	if errs[0] != nil || code(errs[1]) != problem.ReindexRunning {
		t.Errorf("the first: %v, the second: %v", errs[0], errs[1])
	}
	plan, err := s2.PlanReindex(t.Context(), f.bob, newer, b.Source, b.Chunks, nil)
	if err != nil || plan.Kept != 1 || plan.Generation == 0 {
		t.Errorf("the new plan: %+v, %v", plan, err)
	}
}

// C4: a newer run that listed everything ends while an older one is writing a source that it did not list.
func TestFinishReindex_WaitsForARunThatWrites(t *testing.T) {
	f := newFixture(t)
	f.exec(t, `update app.tenant_limits set removal_percent = 100`)
	s, older, a := f.prepared(t, "faq/taken-back.md", "never mind", false)
	s2, newer, b := f.prepared(t, "faq/hours.md", "nine", true)
	if _, err := s2.ApplyReindex(t.Context(), f.bob, newer, b); err != nil {
		t.Fatal(err)
	}
	errs := f.meanwhile(t,
		func() error { _, err := s.ApplyReindex(t.Context(), f.bob, older, a); return err },
		func() error {
			_, err := s2.FinishReindex(t.Context(), f.bob, newer, store.End{Listing: []string{b.Source.Key}})
			return err
		},
	)
	if errs[0] != nil || errs[1] != nil {
		t.Errorf("the older: %v, the newer: %v", errs[0], errs[1])
	}
	if n := f.count(t, `select count(*) from app.sources where source_key = 'faq/taken-back.md'`); n != 0 {
		t.Error("what the newest listing lacks is there")
	}
}
