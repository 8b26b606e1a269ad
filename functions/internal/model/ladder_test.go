package model_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"porchlight/functions/internal/model"

	"github.com/google/go-cmp/cmp"
)

// firstModel is what the first of two models does, and what that must lead to.
type firstModel struct {
	name     string
	script   script
	outcome  string
	stops    error // nil: the second model answers
	sinkSees []string
}

const yes = "Yes, it is."

func firstModels() []firstModel {
	return []firstModel{
		{"quota of the day: next at once", script{err: quota(true, time.Second)}, "quota_day", nil, []string{yes}}, // O85
		{"quota of the minute: next at once", script{err: quota(false, time.Second)}, "quota_minute", nil, []string{yes}},
		{"unreachable: next", script{err: failed(model.ErrUnavailable)}, "unavailable", nil, []string{yes}},
		{"retired: next", script{err: failed(model.ErrModelNotFound)}, "not_found", nil, []string{yes}}, // O50
		{"any other failure: next", script{err: failed(model.ErrFailed)}, "error", nil, []string{yes}},
		{"a failure of no kind: next", script{err: errors.New("odd")}, "error", nil, []string{yes}},
		{"recitation: next", script{err: failed(model.ErrRecitation)}, "recitation", nil, []string{yes}},  // O88
		{"withheld without text: next", script{err: failed(model.ErrEmpty)}, "empty", nil, []string{yes}}, // O86
		{"no text: next", script{}, "empty", nil, []string{yes}},
		{"only white space: next", script{deltas: []string{" \n", "\t"}}, "empty", nil, []string{yes}},
		{"cut off before a sentence: next", script{deltas: []string{"The fee is 4"}, finish: model.FinishMaxTokens}, "empty", nil, []string{yes}}, // O89
		{"deadline of the attempt: next", script{err: failed(context.DeadlineExceeded)}, "timeout", nil, []string{yes}},
		{"refused prompt: stop", script{err: failed(model.ErrBlockedPrompt)}, "blocked_prompt", model.ErrBlockedPrompt, nil}, // O87
		{"safety: stop", script{err: failed(model.ErrSafety)}, "safety", model.ErrSafety, nil},
		{
			"safety after some text: forget it and stop",
			script{deltas: []string{"The plan is new. An"}, err: failed(model.ErrSafety)},
			"safety", model.ErrSafety,
			[]string{"The plan is new. ", "reset a"},
		},
		{ // O96: the two answers are never glued
			"failure after some text: forget it",
			script{deltas: []string{"The plan is new. ", "It costs"}, err: failed(model.ErrUnavailable)},
			"unavailable", nil,
			[]string{"The plan is new. ", "reset a", yes},
		},
		{ // Q19
			"no end: forget it",
			script{deltas: []string{"The plan is new. And", strings.Repeat("and so ", 4000)}},
			"guard", nil,
			[]string{"The plan is new. ", "reset a", yes},
		},
		{
			"failure after half a sentence: nothing to forget",
			script{deltas: []string{"The plan is"}, err: failed(model.ErrUnavailable)},
			"unavailable", nil,
			[]string{yes},
		},
	}
}

func TestLadder_MovesOnOrStops(t *testing.T) {
	for _, c := range firstModels() {
		t.Run(c.name, func(t *testing.T) {
			scripts := map[string][]script{"a": {c.script}, "b": {{deltas: []string{yes}}}}
			if c.stops != nil {
				scripts["b"] = nil
			}
			l, clock := newLadder(t, scripts)
			sink := &recorder{}
			res, err := l.Generate(t.Context(), []string{"a", "b"}, free, model.Prompt{}, sink)
			if !errors.Is(err, c.stops) || err != nil && errors.Is(err, model.ErrExhausted) {
				t.Errorf("got %v, want %v", err, c.stops)
			}
			want := []string{"a " + c.outcome}
			if c.stops == nil {
				want = append(want, "b ok")
				if res.Model != "b" || res.Text != yes || res.Finish != model.FinishStop {
					t.Errorf("got %+v", res)
				}
			}
			if diff := cmp.Diff(want, outcomes(res)); diff != "" {
				t.Errorf("attempts (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.sinkSees, sink.log); diff != "" {
				t.Errorf("sink (-want +got):\n%s", diff)
			}
			if len(clock.slept) > 0 {
				t.Errorf("slept %v", clock.slept)
			}
		})
	}
}

func TestLadder_WaitsOnlyForTheMinuteOfTheLastModel(t *testing.T) {
	answer := script{deltas: []string{"Yes."}}
	cases := []struct {
		name     string
		calls    []script
		slept    []time.Duration
		attempts []string
		err      error
	}{
		{"as told", []script{{err: quota(false, 2*time.Second)}, answer}, []time.Duration{2 * time.Second}, []string{"a quota_minute", "a ok"}, nil},
		{
			"once only",
			[]script{{err: quota(false, time.Second)}, {err: quota(false, time.Second)}},
			[]time.Duration{time.Second},
			[]string{"a quota_minute", "a quota_minute"},
			model.ErrExhausted,
		},
		{"not longer than two seconds", []script{{err: quota(false, 2001*time.Millisecond)}}, nil, []string{"a quota_minute"}, model.ErrExhausted},
		{"not when nothing was told", []script{{err: quota(false, 0)}}, nil, []string{"a quota_minute"}, model.ErrExhausted},
		{"not for the day", []script{{err: quota(true, time.Second)}}, nil, []string{"a quota_day"}, model.ErrExhausted}, // O85
		{"not after other failures", []script{{err: failed(model.ErrUnavailable)}}, nil, []string{"a unavailable"}, model.ErrExhausted},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l, clock := newLadder(t, map[string][]script{"a": c.calls})
			res, err := l.Generate(t.Context(), []string{"a"}, free, model.Prompt{}, &recorder{})
			if !errors.Is(err, c.err) {
				t.Errorf("got %v, want %v", err, c.err)
			}
			if diff := cmp.Diff(c.slept, clock.slept); diff != "" {
				t.Errorf("slept (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.attempts, outcomes(res)); diff != "" {
				t.Errorf("attempts (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLadder_TriesTheNextModelWhenTheSinkRejects(t *testing.T) {
	l, _ := newLadder(t, map[string][]script{
		"a": {{deltas: []string{"The plan is new. ", "It costs 7 €. ", "Buy"}}},
		"b": {{deltas: []string{"The plan is old", ", quite. It cos", "ts 49 €."}}},
	})
	sink := &recorder{refuse: map[string]error{"It costs 7 €. ": fmt.Errorf("unknown number: %w", model.ErrRejected)}}
	res, err := l.Generate(t.Context(), []string{"a", "b"}, free, model.Prompt{}, sink)
	if err != nil || res.Text != "The plan is old, quite. It costs 49 €." {
		t.Errorf("got %q, %v", res.Text, err)
	}
	want := []string{"The plan is new. ", "It costs 7 €. ", "reset a", "The plan is old, quite. ", "It costs 49 €."}
	if diff := cmp.Diff(want, sink.log); diff != "" {
		t.Errorf("sink (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a guard", "b ok"}, outcomes(res)); diff != "" {
		t.Errorf("attempts (-want +got):\n%s", diff)
	}
}

func TestLadder_StopsWhenNobodyListens(t *testing.T) {
	gone := errors.New("client gone")
	l, _ := newLadder(t, map[string][]script{"a": {{deltas: []string{"The plan is new. It"}}}, "b": nil})
	sink := &recorder{refuse: map[string]error{"The plan is new. ": gone}}
	res, err := l.Generate(t.Context(), []string{"a", "b"}, free, model.Prompt{}, sink)
	if !errors.Is(err, gone) || errors.Is(err, model.ErrExhausted) {
		t.Errorf("got %v", err)
	}
	if diff := cmp.Diff([]string{"a error"}, outcomes(res)); diff != "" {
		t.Errorf("attempts (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"The plan is new. "}, sink.log); diff != "" {
		t.Errorf("sink (-want +got):\n%s", diff)
	}
}

// O89: an answer that was cut off is used up to its last sentence and marked.
func TestLadder_ShortensAnAnswerThatWasCutOff(t *testing.T) {
	l, _ := newLadder(t, map[string][]script{"a": {{
		deltas: []string{"Home Flex costs 12", ",50 € a month. The", " connection costs 4"}, finish: model.FinishMaxTokens,
	}}})
	sink := &recorder{}
	res, err := l.Generate(t.Context(), []string{"a"}, free, model.Prompt{}, sink)
	want := "Home Flex costs 12,50 € a month."
	if err != nil || res.Text != want || res.Finish != model.FinishMaxTokens {
		t.Errorf("got %+v, %v", res, err)
	}
	if diff := cmp.Diff([]string{want + " "}, sink.log); diff != "" {
		t.Errorf("sink (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a max_tokens"}, outcomes(res)); diff != "" {
		t.Errorf("attempts (-want +got):\n%s", diff)
	}
}

func TestLadder_RecordsTimeAndTokens(t *testing.T) {
	l, _ := newLadder(t, map[string][]script{"a": {{err: failed(model.ErrUnavailable)}}, "b": {{deltas: []string{"Yes", "."}}}})
	res, err := l.Generate(t.Context(), []string{"a", "b"}, free, model.Prompt{}, &recorder{})
	if err != nil {
		t.Fatal(err)
	}
	want := model.Result{
		Model: "b", Text: "Yes.", Finish: model.FinishStop, InputTokens: 100, OutputTokens: 2,
		Attempts: []model.Attempt{
			{Model: "a", Outcome: "unavailable", MS: 250, InputTokens: 100},
			{Model: "b", Outcome: "ok", MS: 250, InputTokens: 100, OutputTokens: 2},
		},
	}
	if diff := cmp.Diff(want, res); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
}

func TestLadder_EndsOneModelAtItsDeadlineAndAllWithTheContext(t *testing.T) {
	l, _ := newLadder(t, map[string][]script{"a": {{hangs: true}}, "b": {{deltas: []string{"Yes."}}}})
	l.AttemptTimeout = 10 * time.Millisecond
	res, err := l.Generate(t.Context(), []string{"a", "b"}, free, model.Prompt{}, &recorder{})
	if err != nil || res.Model != "b" {
		t.Errorf("got %+v, %v", res, err)
	}
	if diff := cmp.Diff([]string{"a timeout", "b ok"}, outcomes(res)); diff != "" {
		t.Errorf("attempts (-want +got):\n%s", diff)
	}

	l, _ = newLadder(t, map[string][]script{"a": {{hangs: true}}, "b": nil})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	res, err = l.Generate(ctx, []string{"a", "b"}, free, model.Prompt{}, &recorder{})
	if !errors.Is(err, context.Canceled) || errors.Is(err, model.ErrExhausted) {
		t.Errorf("got %v", err)
	}
	if len(res.Attempts) != 1 {
		t.Errorf("attempts: %v", outcomes(res))
	}
}

func TestLadder_SaysThatNoModelIsLeft(t *testing.T) {
	l, _ := newLadder(t, nil)
	res, err := l.Generate(t.Context(), nil, free, model.Prompt{}, &recorder{})
	if !errors.Is(err, model.ErrExhausted) || len(res.Attempts) != 0 {
		t.Errorf("got %+v, %v", res, err)
	}
	l, _ = newLadder(t, map[string][]script{"a": {{err: failed(model.ErrModelNotFound)}}})
	_, err = l.Generate(t.Context(), []string{"a"}, free, model.Prompt{}, &recorder{})
	if !errors.Is(err, model.ErrExhausted) || !errors.Is(err, model.ErrModelNotFound) { // the log learns why
		t.Errorf("got %v", err)
	}
}

func TestSleep_EndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := model.Sleep(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := model.Sleep(t.Context(), time.Nanosecond); err != nil {
		t.Errorf("got %v", err)
	}
}

// Another turn may take the last call of a model after the list was made.
func TestLadder_SkipsAModelOfWhichNoCallIsLeft(t *testing.T) {
	l, _ := newLadder(t, map[string][]script{"b": {{deltas: []string{"Yes."}}}})
	var asked []string
	res, err := l.Generate(t.Context(), []string{"a", "b"}, func(_ context.Context, m string) (bool, error) {
		asked = append(asked, m)
		return m == "b", nil
	}, model.Prompt{}, &recorder{})
	if err != nil || res.Model != "b" || len(res.Attempts) != 1 {
		t.Errorf("%+v, %v", res, err)
	}
	if !slices.Equal(asked, []string{"a", "b"}) {
		t.Errorf("reserved %q", asked)
	}
}

// Without the word of the database no model is called: a broken counter must not cost money.
func TestLadder_CallsNobodyWhenItCannotReserve(t *testing.T) {
	l, _ := newLadder(t, nil)
	broken := errors.New("the database is away")
	_, err := l.Generate(t.Context(), []string{"a", "b"}, func(context.Context, string) (bool, error) {
		return false, broken
	}, model.Prompt{}, &recorder{})
	if !errors.Is(err, broken) || errors.Is(err, model.ErrExhausted) {
		t.Errorf("got %v", err)
	}
}
