package model

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// The kinds of failure. A provider's failure is one of them inside a *CallError.
var (
	ErrBlockedPrompt = errors.New("the provider refused the prompt")
	ErrSafety        = errors.New("the provider withheld the answer for safety")
	ErrRecitation    = errors.New("the provider withheld the answer as a recitation")
	ErrEmpty         = errors.New("the model gave no text")
	ErrUnavailable   = errors.New("the provider can't be reached or can't answer now")
	ErrFailed        = errors.New("the provider failed")

	// ErrModelNotFound is for the operator: no waiting helps, another model must be chosen.
	ErrModelNotFound = errors.New("the provider does not know this model: it is retired or misspelt, choose another")
	// ErrBadVector says that an embedding can't be stored or compared.
	ErrBadVector = errors.New("the vector can't be used")
	// ErrRejected is what a Sink returns, wrapped or not, when it does not accept the text.
	ErrRejected = errors.New("the answer was rejected")
	// ErrExhausted says that every model of the ladder was tried without an answer.
	ErrExhausted = errors.New("no model gave an answer")
)

// CallError is a failed call of one model.
type CallError struct {
	Model  string
	Reason string // the provider's own code, such as "RECITATION" or "503 UNAVAILABLE", if there is one
	Err    error  // one of the kinds above, or the error of the context
}

// Error names the model, the kind and the provider's code, nothing of the request or its answer.
func (e *CallError) Error() string {
	if e.Reason == "" {
		return fmt.Sprintf("model %s: %v", e.Model, e.Err)
	}
	return fmt.Sprintf("model %s: %v (%s)", e.Model, e.Err, e.Reason)
}

// Unwrap returns the kind.
func (e *CallError) Unwrap() error { return e.Err }

// QuotaError says that the provider's quota for a model is used up.
type QuotaError struct {
	Model      string
	Daily      bool          // gone until the provider's next day; otherwise until the next minute
	RetryAfter time.Duration // as the provider told; 0 when it did not
	Err        error         // the cause for the log; may be nil
}

// Error names the model and the period.
func (e *QuotaError) Error() string {
	period := "minute"
	if e.Daily {
		period = "day"
	}
	return fmt.Sprintf("model %s: the quota of the %s is used up", e.Model, period)
}

// Unwrap returns the cause.
func (e *QuotaError) Unwrap() error { return e.Err }

// outcomes is the only place where a kind of failure meets its word in the log of a turn.
var outcomes = []struct {
	kind    error
	outcome string
}{
	{ErrRejected, OutcomeGuard},
	{ErrBlockedPrompt, OutcomeBlockedPrompt},
	{ErrSafety, OutcomeSafety},
	{ErrRecitation, OutcomeRecitation},
	{ErrEmpty, OutcomeEmpty},
	{ErrModelNotFound, OutcomeNotFound},
	{ErrUnavailable, OutcomeUnavailable},
	{context.DeadlineExceeded, OutcomeTimeout},
}

// outcomeOf is the outcome of a failed attempt.
func outcomeOf(err error) string {
	var quota *QuotaError
	if errors.As(err, &quota) {
		if quota.Daily {
			return OutcomeQuotaDay
		}
		return OutcomeQuotaMinute
	}
	for _, o := range outcomes {
		if errors.Is(err, o.kind) {
			return o.outcome
		}
	}
	return OutcomeError
}
