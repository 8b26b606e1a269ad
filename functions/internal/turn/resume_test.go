package turn_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"porchlight/functions/internal/corpus"
	"porchlight/functions/internal/model"
	"porchlight/functions/internal/problem"
	"porchlight/functions/internal/turn"
)

// answered is a stored turn that was answered from one source.
func answered() turn.Finished {
	return turn.Finished{
		TurnID: "turn-1", Status: turn.Answered, Answer: "It costs 12,50 €. It has no term.", Language: "de",
		AsOf: &verified, Index: "local", Model: "first", MS: turn.Millis{Total: 12},
		Used: []corpus.Match{{SourceID: "source-1", SourceTitle: "Home tariffs", VerifiedAt: &verified}},
	}
}

func TestAsk_TellsAFinishedTurnOnceMore(t *testing.T) {
	s := newStage(t) // neither a search, a model nor a log is expected
	s.store.begun = turn.Begun{TurnID: "turn-1", State: turn.Over}
	s.store.stored = map[string]turn.Finished{"turn-1": answered()}
	if err := s.ask(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []string{"turn", "sentence", "sources", "actions", "done"}
	if diff := cmp.Diff(want, s.types()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"It costs 12,50 €. It has no term."}, s.said()); diff != "" {
		t.Error(diff)
	}
	day := "2026-11-18"
	if diff := cmp.Diff(&turn.Done{
		Outcome: "answered", Model: "first", Index: "local", AsOf: &day, MS: turn.Millis{Total: 12},
	}, s.events[4].Done); diff != "" {
		t.Error(diff)
	}
	if got := s.events[3].Actions[0].Label; got != "„Home tariffs“ öffnen" {
		t.Errorf("the action is called %s", got)
	}
	if len(s.store.finished) != 0 {
		t.Error("it was logged again")
	}
}

func TestAsk_WaitsWhileAnotherRequestAnswersTheSameTurn(t *testing.T) {
	s := newStage(t)
	s.store.begun.State, s.store.running = turn.Over, 3
	s.store.stored = map[string]turn.Finished{"turn-1": answered()}
	if err := s.ask(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(s.said()) != 1 {
		t.Errorf("said %q", s.said())
	}
}

func TestAsk_TakesOverATurnThatAnotherRequestLeft(t *testing.T) {
	s := newStage(t)
	s.useExtract(answer())
	s.store.begun.Run, s.store.running = 2, 1
	if err := s.ask(t.Context()); err != nil {
		t.Fatal(err)
	}
	if f := s.store.finished[0]; f.Run != 2 || f.Status != turn.Answered {
		t.Errorf("logged %+v", f)
	}
}

func TestAsk_GivesUpWaitingForATurnThatNeverEnds(t *testing.T) {
	s := newStage(t)
	s.store.running = 1 << 30
	var waited time.Duration
	s.Sleep = func(_ context.Context, d time.Duration) error { waited += d; return nil }
	err := s.ask(t.Context())
	if p := problem.From(err); p.Code != problem.TurnRunning || p.RetryAfter == 0 {
		t.Errorf("got %v", err)
	}
	if waited != time.Minute {
		t.Errorf("waited %v", waited)
	}
}

func TestAsk_StopsWaitingWhenItsReaderLeaves(t *testing.T) {
	s := newStage(t)
	s.store.running = 1 << 30
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.ask(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestFinished_TellsASourceThatIsGoneWithoutAnAction(t *testing.T) {
	f := answered()
	f.Used = []corpus.Match{{SourceTitle: "One"}, {SourceTitle: "Two"}}
	var sources []turn.Source
	var actions []turn.Action
	err := f.Tell(func(e turn.Event) error {
		sources, actions = append(sources, e.Sources...), append(actions, e.Actions...)
		return nil
	})
	if err != nil || len(sources) != 2 || len(actions) != 0 {
		t.Errorf("%v, %d sources, %d actions", err, len(sources), len(actions))
	}
}

// A brand whose pool has no key here is answered from its documents, never with another brand's key.
func TestAsk_CallsTheModelsOfABrandsOwnPool(t *testing.T) {
	other := func() (turn.Provider, *fakeWriter) {
		w := &fakeWriter{t: t} // must not be called
		return turn.Provider{Writer: w, Embedders: []turn.Embedder{
			fakeEmbedder{index: "local", model: "foreign", err: errors.New("the other key was used")},
		}}, w
	}
	t.Run("its own", func(t *testing.T) {
		s := newStage(t)
		s.useModels(func(sink model.Sink) (model.Result, error) {
			return model.Result{Model: "first"}, sink.Delta("It costs 12,50 €.")
		})
		s.Providers["demo"], _ = other()
		if err := s.ask(t.Context()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"demo", "shared"}, s.store.pools); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("none", func(t *testing.T) {
		s := newStage(t)
		s.useExtract(answer())
		s.store.begun.Pool, s.store.begun.Models = "", nil
		s.Providers = map[string]turn.Provider{}
		s.Providers["shared"], _ = other()
		if err := s.ask(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

func TestAsk_ReservesEachFurtherCallOfAModel(t *testing.T) {
	s := newStage(t)
	s.store.refused = map[string]bool{"second": true}
	var got []bool
	s.useModels(func(sink model.Sink) (model.Result, error) {
		for _, name := range []string{"first", "first", "second"} {
			ok, err := s.writer.reserve(t.Context(), name)
			if err != nil {
				return model.Result{}, err
			}
			got = append(got, ok)
		}
		return model.Result{Model: "first"}, sink.Delta("It costs 12,50 €.")
	})
	if err := s.ask(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]bool{true, true, false}, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"first", "second"}, s.store.reserved); diff != "" {
		t.Error("the first call of the first model came with the begin:", diff)
	}
}

// The server's own end is no fault of the reader: it costs nothing, and the reader is told.
func TestAsk_FailsWithTheReasonWhenTheServerStops(t *testing.T) {
	s := newStage(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	s.useModels(func(model.Sink) (model.Result, error) {
		cancel(problem.New(problem.ServiceStopping, nil))
		return model.Result{}, ctx.Err()
	})
	if err := s.ask(ctx); problem.From(err).Code != problem.ServiceStopping {
		t.Errorf("got %v", err)
	}
	if f := s.store.finished[0]; f.Status != "failed" {
		t.Errorf("logged %+v", f)
	}
}
