package model

import (
	"context"
	"errors"
	"math"
	"time"
)

// The roles of a Message.
const (
	RoleUser  = "user"
	RoleModel = "model"
)

// Message is one turn of the conversation so far.
type Message struct {
	Role string // RoleUser or RoleModel
	Text string
}

// Prompt is everything that a model is told. Rules are in System only; labelled data and the
// question are in User only.
type Prompt struct {
	System          string
	History         []Message // oldest first; empty turns and turns out of order are repaired
	User            string
	MaxOutputTokens int // 0 leaves it to the provider
}

// Finish says how a usable answer ended.
type Finish string

// The ways an answer ends.
const (
	FinishStop      Finish = "stop"       // the model had said everything
	FinishMaxTokens Finish = "max_tokens" // the answer is incomplete: its budget ran out
)

// Generation is what one call of a model gave. The token counts are what the provider reported
// until then, also beside an error; 0 when it reported none.
type Generation struct {
	Text         string // everything that was emitted, joined
	Finish       Finish
	InputTokens  int
	OutputTokens int // answer and thoughts: what the provider charges
}

// Generator calls one model of one provider, once.
//
// It hands every piece of the text to emit as it arrives, and stops at once with emit's error when
// there is one. Its own errors are a *QuotaError, a *CallError, or the error of ctx. An answer that
// ended for another reason than those of Finish is an error.
type Generator interface {
	Generate(ctx context.Context, model string, p Prompt, emit func(delta string) error) (Generation, error)
}

// Sink receives the answer while it is made.
type Sink interface {
	// Delta takes the next piece: whole sentences, or the rest of the answer. An error that is
	// ErrRejected gives the turn to the next model; any other ends the generation.
	Delta(text string) error
	// Reset says that everything since the last Reset came from model, which failed, and must be
	// forgotten.
	Reset(model string) error
}

// Attempt is one call of a model, for the log of the turn.
type Attempt struct {
	Model        string `json:"model"`
	Outcome      string `json:"outcome"` // one of the Outcome constants
	MS           int64  `json:"ms"`
	InputTokens  int    `json:"input_tokens"`
	OutputTokens int    `json:"output_tokens"`
	WaitSeconds  int    `json:"wait_seconds,omitempty"` // after quota_minute, as the provider told
}

// NewAttempt is the record of a call that took d and ended with err, which may be nil.
func NewAttempt(model string, d time.Duration, err error) Attempt {
	a := Attempt{Model: model, Outcome: OutcomeOK, MS: d.Milliseconds()}
	if err != nil {
		a.Outcome = outcomeOf(err)
	}
	var quota *QuotaError
	if errors.As(err, &quota) && !quota.Daily {
		a.WaitSeconds = int(math.Ceil(quota.RetryAfter.Seconds()))
	}
	return a
}

// The outcomes of an Attempt.
const (
	OutcomeOK            = "ok"
	OutcomeMaxTokens     = "max_tokens" // used, but incomplete
	OutcomeQuotaDay      = "quota_day"
	OutcomeQuotaMinute   = "quota_minute"
	OutcomeUnavailable   = "unavailable"
	OutcomeBlockedPrompt = "blocked_prompt"
	OutcomeSafety        = "safety"
	OutcomeRecitation    = "recitation"
	OutcomeEmpty         = "empty"
	OutcomeTimeout       = "timeout"
	OutcomeNotFound      = "not_found"
	OutcomeGuard         = "guard" // the sink rejected the text
	OutcomeError         = "error"
)

// Result is what the ladder gave. Attempts is filled also beside an error.
type Result struct {
	Model        string // the model whose answer it is
	Text         string // what the sink received since its last Reset, without outer white space
	Finish       Finish
	InputTokens  int
	OutputTokens int
	Attempts     []Attempt
}
