package ingest

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"porchlight/functions/internal/problem"
)

// C4: an older run learns from the plan, before it pays for vectors, or from the store when it applies.
func TestReindex_LeavesASourceToTheRunThatStartedLater(t *testing.T) {
	newer := map[string]error{"b.md": problem.New(problem.NewerSnapshot, nil)}
	for name, breaks := range map[string]func(*world){
		"at the plan":  func(w *world) { w.store.planErr = newer },
		"at the apply": func(w *world) { w.store.applyErr = newer },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"a.md": "one", "b.md": "two"})
			breaks(w)
			got := w.run(t)
			want := Summary{Run: Run{"run-1"}, Status: Ready, Sources: 2, Indexed: 1, Superseded: 1, Counts: Counts{Added: 1}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(map[string]string{"b.md": "newer_snapshot"}, w.store.failed); diff != "" {
				t.Error(diff)
			}
			if w.progress[1] != (Progress{2, 2, "b.md", "superseded", "newer_snapshot"}) {
				t.Errorf("progress %+v", w.progress[1])
			}
			if calls := len(w.primary.calls); name == "at the plan" && calls != 1 {
				t.Errorf("%d calls of the embedder", calls)
			}
		})
	}
}

// C4: what an older run writes between plan and apply makes the plan worthless, not the newer run.
func TestReindex_PlansAgainWhenAnOlderRunCameBetween(t *testing.T) {
	const text = "# A\n\none\n\n# B\n\ntwo\n\n# C\n\nthree"
	w := newWorld(t, map[string]string{"a.md": text})
	w.run(t)
	w.put("a.md", text+"\n\n# D\n\nfour")
	older := func() {
		held := w.store.held("a.md")
		gone := held.order[0]
		delete(held.rows, gone)
		held.order = held.order[1:]
		held.generation++
	}
	w.store.overtaken = []func(){older, older}
	w.primary.calls = nil
	got := w.run(t)
	if got.Status != Ready || got.Counts != (Counts{Added: 3, Kept: 1}) {
		t.Errorf("summary %+v", got)
	}
	if diff := cmp.Diff([]string{"one", "two", "three", "four"}, w.store.texts("a.md")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([][]string{{"D\nfour"}, {"A\none"}, {"B\ntwo"}}, w.primary.calls); diff != "" {
		t.Errorf("a vector was made twice: %s", diff)
	}
}

// O105: a run whose model takes its time says that it is alive, also when the database is away at first.
func TestReindex_RenewsItsRunWhileAModelIsSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, map[string]string{"a.md": "one"})
		w.store.renewErr = problem.New(problem.DatabaseUnavailable, nil)
		w.primary.hook = func() { time.Sleep(4*renewEvery + time.Second) }
		if s := w.run(t); s.Status != Ready || w.store.renewed != 4 {
			t.Errorf("%s, renewed %d times", s.Status, w.store.renewed)
		}
	})
}

// O107: a run that was given up embeds and writes nothing more.
func TestReindex_StopsWhenItsRunWasGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, map[string]string{"a.md": "one", "b.md": "two"})
		w.store.renewErr = problem.New(problem.NotFound, nil)
		w.primary.hook = func() { time.Sleep(renewEvery + time.Second) }
		s, err := w.Run(context.Background(), Selection{All: true})
		if problem.From(err).Code != problem.NotFound || s.Status != Failed || len(w.store.applied) != 0 {
			t.Errorf("%+v, %v", s, err)
		}
		if len(w.primary.calls) != 1 || len(w.store.failed) != 0 || w.store.ends[0].Listing != nil {
			t.Errorf("%d calls, failed %q: the source is not to blame", len(w.primary.calls), w.store.failed)
		}
	})
}

// C3: what the store says of the run or of its owner is not a source's fault.
func TestReindex_EndsWithTheBrandOrTheRun(t *testing.T) {
	for _, code := range []problem.Code{problem.NotFound, problem.NotAMember, problem.NotAnAdmin, problem.TenantSuspended} {
		w := newWorld(t, map[string]string{"a.md": "one", "b.md": "two"})
		w.store.applyErr = map[string]error{"a.md": problem.New(code, errors.New("refused"))}
		s, err := w.Run(context.Background(), Selection{All: true})
		if problem.From(err).Code != code || s.Failures != nil || len(w.store.failed) != 0 {
			t.Errorf("%s: %+v, %v", code, s, err)
		}
	}
}
