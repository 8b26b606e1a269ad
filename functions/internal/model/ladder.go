package model

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// maxMinuteWait is the longest wait for a quota of the minute that a person at a screen is asked
// to sit through.
const maxMinuteWait = 2 * time.Second

// Ladder asks models one after the other until one answers.
type Ladder struct {
	Generator      Generator
	AttemptTimeout time.Duration // the longest that one model may take; 0: as long as ctx allows
	Now            func() time.Time
	Sleep          func(ctx context.Context, d time.Duration) error // returns ctx's error when it ends first
}

// Reserve says whether a model may be called once more. It is asked before each call, since other
// turns call the same models.
type Reserve func(ctx context.Context, model string) (bool, error)

// Generate asks the models in their order and streams the first usable answer to sink. A model that
// reserve refuses counts as one whose quota is used up.
//
// The next model is asked after a used-up quota, an unreachable or unknown model, a timeout, an
// empty or withheld recitation, a rejection by the sink, or any other failure of the provider. A
// refused prompt (ErrBlockedPrompt), an answer withheld for safety (ErrSafety), any other error of
// the sink and the end of ctx stop the ladder with that error. When the last model failed too, the
// error is ErrExhausted around the last failure; only for the last model a quota of the minute is
// waited for, once, and at most maxMinuteWait.
//
// Text of a failed attempt never stays in the sink: it is Reset before the next attempt and before
// an error is returned, unless the sink itself failed.
func (l Ladder) Generate(
	ctx context.Context, models []string, reserve Reserve, p Prompt, sink Sink,
) (Result, error) {
	var res Result
	var err error
	for i, m := range models {
		err = l.attempt(ctx, m, reserve, p, sink, &res)
		if wait := minuteWait(err); wait > 0 && i == len(models)-1 {
			if err := l.Sleep(ctx, wait); err != nil {
				return res, fmt.Errorf("wait for model %s: %w", m, err)
			}
			err = l.attempt(ctx, m, reserve, p, sink, &res)
		}
		switch {
		case err == nil:
			return res, nil
		case ctx.Err() != nil:
			return res, fmt.Errorf("ask model %s: %w", m, ctx.Err())
		case isFinal(err):
			return res, err
		}
	}
	if err == nil {
		return res, fmt.Errorf("%w: there is no model to ask", ErrExhausted)
	}
	return res, fmt.Errorf("%w: %w", ErrExhausted, err)
}

// attempt calls one model, records it in res, and leaves the sink clean when it fails.
func (l Ladder) attempt(ctx context.Context, model string, reserve Reserve, p Prompt, sink Sink, res *Result) error {
	isReserved, err := reserve(ctx, model)
	if err != nil {
		return &reserveError{err}
	}
	if !isReserved {
		return &QuotaError{Model: model, Daily: true}
	}
	began := l.Now()
	out := &outlet{sink: sink}
	gen, err := l.call(ctx, model, p, out)
	a := NewAttempt(model, l.Now().Sub(began), err)
	a.InputTokens, a.OutputTokens = gen.InputTokens, gen.OutputTokens
	if err == nil && gen.Finish == FinishMaxTokens {
		a.Outcome = OutcomeMaxTokens
	}
	res.Attempts = append(res.Attempts, a)
	if err != nil {
		return out.discard(model, err)
	}
	res.Model, res.Text, res.Finish = model, gen.Text, gen.Finish
	res.InputTokens, res.OutputTokens = gen.InputTokens, gen.OutputTokens
	return nil
}

// call runs the generator within its deadline and lets the end of the answer out.
func (l Ladder) call(ctx context.Context, model string, p Prompt, out *outlet) (Generation, error) {
	if l.AttemptTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, l.AttemptTimeout)
		defer cancel()
	}
	gen, err := l.Generator.Generate(ctx, model, p, out.write)
	if out.err != nil { // the sink's own error, whatever the generator made of it
		return gen, out.err
	}
	if err != nil {
		return gen, err
	}
	if err := out.finish(gen.Finish); err != nil {
		return gen, err
	}
	if gen.Text = out.text(); gen.Text == "" {
		return gen, &CallError{Model: model, Reason: string(gen.Finish), Err: ErrEmpty}
	}
	return gen, nil
}

// isFinal says that asking another model is forbidden or pointless.
func isFinal(err error) bool {
	var broken *sinkError
	var unknown *reserveError
	return errors.Is(err, ErrBlockedPrompt) || errors.Is(err, ErrSafety) || errors.As(err, &broken) ||
		errors.As(err, &unknown)
}

// reserveError is an error of Reserve: without its word no model is called.
type reserveError struct{ err error }

func (e *reserveError) Error() string { return "reserve a call: " + e.err.Error() }
func (e *reserveError) Unwrap() error { return e.err }

// minuteWait is how long waiting for the same model is worth it; 0: not at all.
func minuteWait(err error) time.Duration {
	var quota *QuotaError
	if errors.As(err, &quota) && !quota.Daily && quota.RetryAfter <= maxMinuteWait {
		return quota.RetryAfter
	}
	return 0
}

// Sleep waits for d or the end of ctx, whose error it then returns: the Sleep of a real Ladder.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
