package ingest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"porchlight/functions/internal/problem"
)

func TestReindex_StoresWhatIsNew(t *testing.T) {
	w := newWorld(t, map[string]string{
		"prices/homes.md": "---\nverified_at: 2026-11-20\n---\n# Homes\n\nHome Flex costs 12,50 €.",
		"faq/english.md":  "# FAQ\n\n## Why?\n\nBecause.\n\n## When?\n\nNow.",
	})
	fallback := &vectorFake{index: "fallback"}
	w.Embedders = append(w.Embedders, fallback)
	got := w.run(t)
	want := Summary{Run: Run{"run-1"}, Status: Ready, Sources: 2, Indexed: 2, Counts: Counts{Added: 3}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	wantTexts := [][]string{{"FAQ › Why?\nBecause.", "FAQ › When?\nNow."}, {"Homes\nHome Flex costs 12,50 €."}}
	for _, e := range []*vectorFake{w.primary, fallback} {
		if diff := cmp.Diff(wantTexts, e.calls); diff != "" {
			t.Errorf("%s: %s", e.index, diff)
		}
	}
	if v := w.store.applied[0].Vectors[1]; v.Index != "fallback" || v.Model != "fallback-model" {
		t.Errorf("vectors of index %s, model %s", v.Index, v.Model)
	}
	if src := w.store.sources["prices/homes.md"].source; src.Type != "price" || !src.VerifiedAt.Equal(*day("2026-11-20")) {
		t.Errorf("source %+v", src)
	}
	wantProgress := []Progress{{1, 2, "faq/english.md", "ready", ""}, {2, 2, "prices/homes.md", "ready", ""}}
	if diff := cmp.Diff(wantProgress, w.progress); diff != "" {
		t.Error(diff)
	}
}

// O38: a second run over the same files writes no row and embeds nothing, so no date moves.
func TestReindex_TouchesNothingThatIsUnchanged(t *testing.T) {
	w := newWorld(t, map[string]string{"a.md": "# A\n\none\n\n# B\n\ntwo", "b.md": "three"})
	w.run(t)
	applied, calls := len(w.store.applied), len(w.primary.calls)
	w.put("a.md", "\ufeff# A\r\n\r\none\r\n\r\n# B\r\n\r\ntwo\r\n") // O29: another platform saved it
	got := w.run(t)
	want := Summary{Run: Run{"run-1"}, Status: Ready, Sources: 2, Unchanged: 2, Counts: Counts{Kept: 3}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(w.store.applied) != applied || len(w.primary.calls) != calls {
		t.Error("an unchanged library was applied or embedded again")
	}
}

func TestReindex_EmbedsOnlyThePassageThatChanged(t *testing.T) {
	w := newWorld(t, map[string]string{"a.md": "# A\n\n49 €\n\n# B\n\ntwo\n\n# C\n\nthree"})
	w.run(t)
	w.primary.calls = nil
	w.put("a.md", "# A\n\n59 €\n\n# B\n\ntwo\n\n# C\n\nthree")
	got := w.run(t)
	if want := (Counts{Added: 1, Kept: 2, Removed: 1}); got.Counts != want {
		t.Errorf("counts %+v, want %+v", got.Counts, want)
	}
	if diff := cmp.Diff([][]string{{"A\n59 €"}}, w.primary.calls); diff != "" {
		t.Error(diff)
	}
	last := w.store.applied[len(w.store.applied)-1]
	if !slices.Equal(last.New, []int{0}) || len(last.Chunks) != 3 {
		t.Errorf("applied %+v", last)
	}
}

func TestReindex_WritesChangedFactsWithoutEmbedding(t *testing.T) {
	w := newWorld(t, map[string]string{"a.md": "---\nvisibility: public\n---\ntext"})
	w.run(t)
	w.primary.calls = nil
	w.put("a.md", "---\nvisibility: tenant\n---\ntext")
	if got := w.run(t); got.Indexed != 1 || got.Added != 0 || w.primary.calls != nil {
		t.Errorf("summary %+v, calls %q", got, w.primary.calls)
	}
	if v := w.store.sources["a.md"].source.Visibility; v != "tenant" {
		t.Errorf("visibility %q", v)
	}
}

func TestReindex_FillsAnIndexThatCameLater(t *testing.T) {
	w := newWorld(t, map[string]string{"a.md": "# A\n\none\n\n# B\n\ntwo"})
	w.run(t)
	fallback := &vectorFake{index: "fallback"}
	w.Embedders = append(w.Embedders, fallback)
	w.primary.calls = nil
	got := w.run(t)
	if want := (Counts{Kept: 2}); got.Counts != want || w.primary.calls != nil || len(fallback.calls) != 1 {
		t.Errorf("counts %+v, primary %q, fallback %q", got.Counts, w.primary.calls, fallback.calls)
	}
	if last := w.store.applied[len(w.store.applied)-1]; last.New != nil {
		t.Errorf("text was sent again: %+v", last.New)
	}
}

// O28: of a page that became shorter nothing is left behind.
func TestReindex_RemovesThePassagesOfAPageThatBecameShorter(t *testing.T) {
	var long strings.Builder
	for i := range 8 {
		fmt.Fprintf(&long, "# H%d\n\n%d9 €\n\n", i, i+3)
	}
	w := newWorld(t, map[string]string{"a.md": long.String()})
	w.run(t)
	w.put("a.md", "# H0\n\n39 €\n\n# H1\n\n49 €\n\n# H2\n\n59 €\n")
	if got := w.run(t); got.Removed != 5 || got.Kept != 3 {
		t.Errorf("counts %+v", got.Counts)
	}
	if diff := cmp.Diff([]string{"39 €", "49 €", "59 €"}, w.store.texts("a.md")); diff != "" {
		t.Error(diff)
	}
}

// O37: a passage that a document repeats is stored as often as it stands there.
func TestReindex_KeepsRepeatedPassages(t *testing.T) {
	const legal = "All prices include VAT."
	w := newWorld(t, map[string]string{
		"a.md": "# A\n\n" + legal + "\n\n# B\n\n" + legal + "\n\n# A\n\n" + legal + "\n\n# A\n\n" + legal,
	})
	w.run(t)
	if diff := cmp.Diff([]string{legal, legal, legal, legal}, w.store.texts("a.md")); diff != "" {
		t.Error(diff)
	}
	var occurrences []int
	for _, id := range w.store.sources["a.md"].order {
		occurrences = append(occurrences, id.occurrence)
	}
	if diff := cmp.Diff([]int{0, 0, 1, 2}, occurrences); diff != "" {
		t.Error(diff)
	}
	if got := w.run(t); got.Unchanged != 1 {
		t.Errorf("a second run: %+v", got)
	}
}

// O35: when one text can't be embedded nothing of its source is stored, hashes included, and the next
// run tries again.
func TestReindex_StoresNothingOfASourceThatCouldNotBeEmbedded(t *testing.T) {
	w := newWorld(t, map[string]string{
		"a.md": "# A\n\n1\n\n# B\n\n2\n\n# C\n\nsecret three\n\n# D\n\n4\n\n# E\n\n5",
		"b.md": "other",
	})
	w.primary.fail = map[string]error{"C\nsecret three": errors.New("503 while embedding: secret three")}
	got := w.run(t)
	if got.Status != Partial || got.Indexed != 1 || len(got.Failures) != 1 || w.store.sources["a.md"] != nil {
		t.Errorf("summary %+v", got)
	}
	if reason := w.store.failed["a.md"]; reason != "embedding_failed: index primary" {
		t.Errorf("reason %q", reason)
	}
	w.primary.fail = nil
	if got := w.run(t); got.Status != Ready || got.Added != 5 || w.store.vectors != 6 {
		t.Errorf("second run %+v", got)
	}
}

func TestReindex_FailsASourceByNameAndGoesOn(t *testing.T) {
	const good = "# A\n\nfirst version"
	tests := []struct {
		name, text, reason string
		breaks             func(*world)
	}{
		{name: "a file that became empty", text: "", reason: "empty"},
		{name: "a file that is no text", text: "\xff", reason: "undecodable: its characters are in no encoding that can be told; save it as UTF-8"},
		{name: "front matter that can't be read", text: "---\nverified_at: soon\n---\nx", reason: "malformed: line 2: verified_at is not a date like 2026-11-20"},
		{name: "an index of another model", text: "second", reason: "store_failed: apply: model_mismatch", breaks: func(w *world) {
			w.store.applyErr = map[string]error{"b.md": problem.New(problem.ModelMismatch, errors.New("second"))}
		}},
		{name: "a database error", text: "second", reason: "store_failed: plan", breaks: func(w *world) {
			w.store.planErr = map[string]error{"b.md": errors.New("syntax error near second")}
		}},
		{name: "a vector too few", text: "second", reason: "embedding_failed: index primary", breaks: func(w *world) { w.primary.short = true }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"a.md": good, "b.md": good, "c.md": good})
			w.run(t)
			w.put("b.md", tt.text)
			if tt.breaks != nil {
				tt.breaks(w)
			}
			got := w.run(t)
			if got.Status != Partial || got.Unchanged != 2 || len(got.Failures) != 1 || got.Failures[0].Key != "b.md" {
				t.Errorf("summary %+v", got)
			}
			if diff := cmp.Diff(map[string]string{"b.md": tt.reason}, w.store.failed); diff != "" {
				t.Error(diff)
			}
			// O18: what was indexed before stays.
			if diff := cmp.Diff([]string{"first version"}, w.store.texts("b.md")); diff != "" {
				t.Error(diff)
			}
		})
	}
}
