package turn_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"porchlight/functions/internal/corpus"
	"porchlight/functions/internal/model"
	"porchlight/functions/internal/prompt"
	"porchlight/functions/internal/turn"
)

const grounded = "Home Flex costs 12,50 € a month."

func TestAsk_StreamsWhatAModelWritesWithTheDateOfItsPrice(t *testing.T) {
	s := newStage(t)
	s.useModels(func(sink model.Sink) (model.Result, error) {
		return model.Result{Model: "first", Attempts: []model.Attempt{{Model: "first", Outcome: "ok"}}}, sink.Delta(grounded)
	})
	if err := s.ask(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{grounded}, s.said()); diff != "" {
		t.Error(diff)
	}
	done := s.events[len(s.events)-1].Done
	if done.Model != "first" || done.AsOf == nil || *done.AsOf != "2026-11-18" {
		t.Errorf("done is %+v", done)
	}
	if f := s.store.finished[0]; len(f.Attempts) != 2 || f.Attempts[1] != (model.Attempt{Model: "first", Outcome: "ok"}) {
		t.Errorf("logged %+v", f)
	}
}

// A stale price never reaches a model, not even beside a fresh one; neither does what lies below the
// threshold of the search.
func TestAsk_ShowsModelsOnlyFreshEvidence(t *testing.T) {
	s := newStage(t)
	stale := stalePrice()
	stale.Content = "Home Flex costs 99 € a month."
	far := price()
	far.ChunkID, far.SourceID, far.Content, far.IsRelevant = "chunk-3", "source-3", "Home Flex costs 77 € a month.", false
	s.store.matches["local"] = []corpus.Match{price(), stale, far}
	s.useModels(func(sink model.Sink) (model.Result, error) { return model.Result{Model: "first"}, sink.Delta(grounded) })
	if err := s.ask(t.Context()); err != nil {
		t.Fatal(err)
	}
	p := s.writer.prompt
	if strings.Contains(p.User+p.System, "99 €") || strings.Contains(p.User+p.System, "77 €") || !strings.Contains(p.User, "12,50 €") {
		t.Errorf("the prompt is %+v", p)
	}
	if !strings.Contains(p.User, question) || len(p.History) != 0 {
		t.Errorf("the question is not in the user turn alone: %+v", p)
	}
	for name, text := range map[string]string{"evidence": "12,50 €", "the title of a document": stale.SourceTitle, "the question": question} {
		if strings.Contains(p.System, text) {
			t.Errorf("%s is in the system instruction", name)
		}
	}
	// what the answer rests on, as it is told and logged, is what the model saw
	if used := s.store.finished[0].Used; len(used) != 1 || used[0].ChunkID != price().ChunkID {
		t.Errorf("logged as used: %+v", used)
	}
	if sources := s.events[2].Sources; len(sources) != 1 || sources[0].IsStale {
		t.Errorf("told as sources: %+v", sources)
	}
}

func TestAsk_ForgetsTheSentencesOfAModelThatAGuardStopped(t *testing.T) {
	s := newStage(t)
	s.useModels(func(sink model.Sink) (model.Result, error) {
		if err := sink.Delta(grounded); err != nil {
			return model.Result{}, err
		}
		if err := sink.Delta("It falls to 9,90 € in May."); !errors.Is(err, model.ErrRejected) {
			t.Errorf("an invented price was let through: %v", err)
		}
		if err := sink.Reset("first"); err != nil {
			return model.Result{}, err
		}
		return model.Result{Model: "second"}, sink.Delta(grounded)
	})
	if err := s.ask(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []string{"turn", "sentence", "reset", "sentence", "sources", "actions", "done"}
	if diff := cmp.Diff(want, s.types()); diff != "" {
		t.Error(diff)
	}
	if f := s.store.finished[0]; f.Answer != grounded || f.Model != "second" {
		t.Errorf("logged %+v", f)
	}
}

func TestAsk_QuotesTheDocumentsWhenNoModelAnswers(t *testing.T) {
	for name, cause := range map[string]error{
		"none left": model.ErrExhausted, "the prompt is refused": model.ErrBlockedPrompt, "withheld": model.ErrSafety,
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.useExtract(answer())
			attempts := []model.Attempt{{Model: "first", Outcome: "quota_day"}}
			s.useModels(func(model.Sink) (model.Result, error) { return model.Result{Attempts: attempts}, cause })
			if err := s.ask(t.Context()); err != nil {
				t.Fatal(err)
			}
			f := s.store.finished[0]
			if f.Model != "extractive" || f.Answer != grounded || f.Attempts[1].Outcome != "quota_day" {
				t.Errorf("logged %+v", f)
			}
		})
	}
}

func TestAsk_SaysTheBrandsWordsWhenAModelFindsNoAnswer(t *testing.T) {
	s := newStage(t)
	s.useModels(func(sink model.Sink) (model.Result, error) {
		return model.Result{Model: "first"}, sink.Delta(prompt.NoAnswer)
	})
	if err := s.ask(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"I would rather not guess."}, s.said()); diff != "" {
		t.Error(diff)
	}
}

// Whatever a model says around it, the brand's own words stand alone.
func TestAsk_TakesBackWhatAModelSaidBeforeItFoundNoAnswer(t *testing.T) {
	s := newStage(t)
	s.useModels(func(sink model.Sink) (model.Result, error) {
		for _, text := range []string{"It costs 12,50 €.", prompt.NoAnswer, "It has no term."} {
			if err := sink.Delta(text); err != nil {
				return model.Result{}, err
			}
		}
		return model.Result{Model: "first"}, nil
	})
	if err := s.ask(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"I would rather not guess."}, s.said()); diff != "" {
		t.Error(diff)
	}
	if f := s.store.finished[0]; f.Status != turn.NoMatch || f.Answer != "I would rather not guess." {
		t.Errorf("logged %+v", f)
	}
}

func TestAsk_StopsWhenTheClientLeavesWhileAModelWrites(t *testing.T) {
	s := newStage(t)
	ctx, leave := context.WithCancel(t.Context())
	s.useModels(func(model.Sink) (model.Result, error) {
		leave()
		return model.Result{Attempts: []model.Attempt{{Model: "first", Outcome: "error"}}}, context.Canceled
	})
	if err := s.ask(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if f := s.store.finished[0]; f.Status != "aborted" || len(f.Attempts) != 2 {
		t.Errorf("logged %+v", f)
	}
}

func TestAsk_GivesTheModelTheConversation(t *testing.T) {
	s := newStage(t)
	s.store.begun.History = []turn.Exchange{{Question: "Hello?", Answer: "Yes."}}
	s.useModels(func(sink model.Sink) (model.Result, error) { return model.Result{Model: "first"}, sink.Delta(grounded) })
	if err := s.ask(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []model.Message{{Role: model.RoleUser, Text: "Hello?"}, {Role: model.RoleModel, Text: "Yes."}}
	if diff := cmp.Diff(want, s.writer.prompt.History); diff != "" {
		t.Error(diff)
	}
}
