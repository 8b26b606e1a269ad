package model_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"porchlight/functions/internal/model"
)

// script is what one call of a fake model does.
type script struct {
	deltas []string
	finish model.Finish // empty: stop
	err    error
	hangs  bool // until its context ends
}

// fakeGenerator plays the scripts of each model in their order and fails on any other call.
type fakeGenerator struct {
	t       *testing.T
	scripts map[string][]script
	clock   *clock
}

func (f *fakeGenerator) Generate(ctx context.Context, name string, _ model.Prompt, emit func(string) error) (model.Generation, error) {
	queue := f.scripts[name]
	if len(queue) == 0 {
		f.t.Errorf("nobody registered this call of %s", name)
		return model.Generation{}, errors.New("unregistered")
	}
	s := queue[0]
	f.scripts[name] = queue[1:]
	f.clock.now = f.clock.now.Add(250 * time.Millisecond)
	gen := model.Generation{Finish: model.FinishStop, InputTokens: 100, OutputTokens: len(s.deltas)}
	if s.finish != "" {
		gen.Finish = s.finish
	}
	for _, d := range s.deltas {
		gen.Text += d
		if err := emit(d); err != nil {
			return gen, fmt.Errorf("emit: %w", err)
		}
	}
	if s.hangs {
		<-ctx.Done()
		return gen, ctx.Err()
	}
	return gen, s.err
}

// clock is the time of a test: only calls and sleeps move it.
type clock struct {
	now   time.Time
	slept []time.Duration
}

func (c *clock) Now() time.Time { return c.now }

func (c *clock) Sleep(ctx context.Context, d time.Duration) error {
	c.slept = append(c.slept, d)
	c.now = c.now.Add(d)
	return ctx.Err()
}

// recorder is a sink that writes down what it is told.
type recorder struct {
	log    []string
	refuse map[string]error // what Delta answers to a text
}

func (r *recorder) Delta(text string) error {
	r.log = append(r.log, text)
	return r.refuse[text]
}

func (r *recorder) Reset(name string) error {
	r.log = append(r.log, "reset "+name)
	return nil
}

func newLadder(t *testing.T, scripts map[string][]script) (model.Ladder, *clock) {
	c := &clock{now: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)}
	t.Cleanup(func() {
		for name, left := range scripts {
			if len(left) > 0 {
				t.Errorf("%d calls of %s did not happen", len(left), name)
			}
		}
	})
	return model.Ladder{Generator: &fakeGenerator{t, scripts, c}, Now: c.Now, Sleep: c.Sleep}, c
}

func failed(kind error) error { return &model.CallError{Model: "a", Err: kind} }

func quota(daily bool, retry time.Duration) error {
	return &model.QuotaError{Model: "a", Daily: daily, RetryAfter: retry}
}

func outcomes(res model.Result) []string {
	var of []string
	for _, a := range res.Attempts {
		of = append(of, a.Model+" "+a.Outcome)
	}
	return of
}

// free reserves every call.
func free(context.Context, string) (bool, error) { return true, nil }
