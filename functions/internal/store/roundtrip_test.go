package store_test

import (
	"testing"

	"porchlight/functions/internal/turn"
)

func TestStore_TakesOneRoundTripForEachTransaction(t *testing.T) {
	f := newFixture(t)
	s, l := f.openThrough(t, "porchlight_runtime")
	if err := s.Check(t.Context()); err != nil { // connects
		t.Fatal(err)
	}
	var begun turn.Begun
	steps := []struct {
		name string
		work func() error
	}{
		{"begin", func() (err error) {
			begun, err = s.BeginTurn(t.Context(), f.alice, turn.Question{Text: "q"}, nil)
			return err
		}},
		{"match", func() error { _, err := s.MatchChunks(t.Context(), f.alice, search("q")); return err }},
		{"finish", func() error {
			return s.FinishTurn(t.Context(), f.alice, turn.Finished{TurnID: begun.TurnID, Run: begun.Run, Status: turn.NoMatch})
		}},
	}
	for _, step := range steps {
		var err error
		if n := l.count(func() { err = step.work() }); err != nil || n != 1 {
			t.Errorf("%s took %d round trips, want 1 (%v)", step.name, n, err)
		}
	}
}
