package ingest

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"porchlight/functions/internal/problem"
)

// brokenLibrary is a Library whose listing or one of whose documents can't be read.
type brokenLibrary struct {
	Library
	listErr error
	openErr map[string]error
}

func (b brokenLibrary) List(ctx context.Context) ([]string, error) {
	if b.listErr != nil {
		return nil, b.listErr
	}
	return b.Library.List(ctx)
}

func (b brokenLibrary) Open(ctx context.Context, key string) (io.ReadCloser, error) {
	if err := b.openErr[key]; err != nil {
		return nil, err
	}
	return b.Library.Open(ctx, key)
}

func TestReindex_RetiresWhatACompleteListingLacks(t *testing.T) {
	w := newWorld(t, map[string]string{"a.md": "one", "b.md": "two", "c.md": "three"})
	w.run(t)
	delete(w.files, "b.md")
	w.put("c.md", "\xff") // a document that failed is still in the library
	got := w.run(t)
	if got.Status != Partial || got.Retired != 1 {
		t.Errorf("summary %+v", got)
	}
	if w.store.sources["b.md"] != nil || w.store.sources["a.md"] == nil || w.store.sources["c.md"] == nil {
		t.Error("not exactly the vanished source was retired")
	}
}

func TestReindex_RetiresNothingWithoutACompleteListing(t *testing.T) {
	broken := errors.New("mount gone")
	tests := []struct {
		name   string
		breaks func(*world)
		sel    Selection
		want   error
		status Status
	}{
		{"when the library is empty", func(w *world) { clear(w.files) }, Selection{All: true}, ErrEmptyLibrary, Failed},
		{"when the listing failed", func(w *world) { w.Library = brokenLibrary{Library: w.Library, listErr: broken} }, Selection{All: true}, broken, Failed},
		{"when only some are selected", func(w *world) { delete(w.files, "b.md") }, Selection{Keys: []string{"a.md"}}, nil, Ready},
		{"when nothing could be read", func(w *world) {
			delete(w.files, "b.md")
			w.Library = brokenLibrary{Library: w.Library, openErr: map[string]error{"a.md": broken}}
		}, Selection{All: true}, nil, Failed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"a.md": "one", "b.md": "two"})
			w.run(t)
			tt.breaks(w)
			s, err := w.Run(context.Background(), tt.sel)
			if !errors.Is(err, tt.want) || s.Status != tt.status {
				t.Errorf("status %s, error %v", s.Status, err)
			}
			if w.store.open || w.store.ends[1].Listing != nil {
				t.Errorf("open %t, listing %q", w.store.open, w.store.ends[1].Listing)
			}
			if len(w.store.sources) != 2 {
				t.Errorf("%d sources are left of 2", len(w.store.sources))
			}
		})
	}
}

func TestReindex_ReportsASelectedKeyThatIsNotThere(t *testing.T) {
	w := newWorld(t, map[string]string{"a.md": "one"})
	s, err := w.Run(context.Background(), Selection{Keys: []string{"none.md", "../a.md", "a.md", "a.md"}})
	if err != nil || s.Status != Partial || s.Sources != 3 || s.Indexed != 1 {
		t.Errorf("summary %+v, error %v", s, err)
	}
	if diff := cmp.Diff(map[string]string{"none.md": "missing", "../a.md": "missing"}, w.store.failed); diff != "" {
		t.Error(diff)
	}
}

func TestReindex_ChecksBeforeItStarts(t *testing.T) {
	all := Selection{All: true}
	tests := []struct {
		name   string
		breaks func(*Reindexer)
		sel    Selection
	}{
		{"an empty selection", nil, Selection{}},
		{"a selection of all and some", nil, Selection{All: true, Keys: []string{"a.md"}}},
		{"no embedder", func(r *Reindexer) { r.Embedders = nil }, all},
		{"two embedders of one index", func(r *Reindexer) { r.Embedders = append(r.Embedders, r.Embedders[0]) }, all},
		{"a profile that never ends", func(r *Reindexer) { r.Profile.Overlap = r.Profile.MaxCharacters }, all}, // O21
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"a.md": "one"})
			if tt.breaks != nil {
				tt.breaks(w.Reindexer)
			}
			if _, err := w.Run(context.Background(), tt.sel); err == nil {
				t.Error("no error")
			}
			if w.store.open || w.store.ends != nil {
				t.Error("a run was opened")
			}
		})
	}
}

// More would go than the brand allows: the run stops before it embeds or writes more, and says how many.
func TestReindex_StopsWhenItWouldRemoveTooMuch(t *testing.T) {
	files := map[string]string{"a.md": "one", "b.md": "two", "c.md": "three"}
	for name, tt := range map[string]struct {
		breaks func(*memory)
		end    End
		calls  int
	}{
		"of a source, as its plan says": {func(m *memory) { m.planRefused = map[string]int{"b.md": 7} }, End{nil, true, 7}, 1},
		"of the library, at the end":    {func(m *memory) { m.refused = 7 }, End{[]string{"a.md", "b.md", "c.md"}, false, 0}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, files)
			tt.breaks(w.store)
			s, err := w.Run(context.Background(), Selection{All: true})
			if p := problem.From(err); p.Code != problem.RemovalRefused || !strings.Contains(p.Message(), "It would be 7 or more") {
				t.Errorf("error %v", err)
			}
			if diff := cmp.Diff([]End{tt.end}, w.store.ends); diff != "" {
				t.Error(diff)
			}
			if len(w.primary.calls) != tt.calls || len(s.Failures) != 0 || len(w.store.failed) != 0 {
				t.Errorf("%d calls, summary %+v, failed %q", len(w.primary.calls), s, w.store.failed)
			}
		})
	}
}

func TestReindex_EndsItsRunWhenItsContextEnds(t *testing.T) {
	w := newWorld(t, map[string]string{"a.md": "one", "b.md": "two", "c.md": "three"})
	ctx, cancel := context.WithCancel(context.Background())
	w.primary.hook = func() {
		if len(w.primary.calls) == 1 {
			cancel()
		}
	}
	s, err := w.Run(ctx, Selection{All: true})
	if !errors.Is(err, context.Canceled) || s.Status != Partial || s.Indexed != 1 || s.Failures != nil {
		t.Errorf("summary %+v, error %v", s, err)
	}
	if len(w.primary.calls) != 2 || len(w.store.failed) != 0 {
		t.Errorf("%d calls, failed %q: the source is not to blame", len(w.primary.calls), w.store.failed)
	}
	if w.store.open || w.store.ends[0].Listing != nil || !w.store.ends[0].IsInterrupted {
		t.Error("the run was left open, retired something or passed for a whole one")
	}
}

func TestReindex_StopsWhenTheStoreCannotRecord(t *testing.T) {
	gone := errors.New("connection lost")
	w := newWorld(t, map[string]string{"a.md": "\xff", "b.md": "two"})
	w.store.failErr = gone
	s, err := w.Run(context.Background(), Selection{All: true})
	if !errors.Is(err, gone) || s.Status != Failed || len(w.primary.calls) != 0 {
		t.Errorf("summary %+v, error %v", s, err)
	}

	w = newWorld(t, map[string]string{"a.md": "one"})
	w.store.startErr = gone
	if _, err := w.Run(context.Background(), Selection{All: true}); !errors.Is(err, gone) || w.store.ends != nil {
		t.Errorf("error %v", err)
	}
}

func TestReindex_NeedsNoProgress(t *testing.T) {
	w := newWorld(t, map[string]string{"a.md": "one"})
	w.Progress = nil
	if s := w.run(t); s.Status != Ready {
		t.Errorf("summary %+v", s)
	}
}
