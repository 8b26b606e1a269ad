package pdf

import (
	"context"
	"errors"
	"fmt"
)

// The reasons of a Refusal. They are stable: people and programs read them in a run's report.
const (
	Encrypted   = "encrypted"   // it opens only with a password
	NoText      = "no_text"     // no text layer, such as a scan
	Damaged     = "damaged"     // it can't be read, or not all of it
	TooLarge    = "too_large"   // bytes, pages, text or memory
	TimedOut    = "timed_out"   // more than 10 s
	Cancelled   = "cancelled"   // the caller gave up
	Unreadable  = "unreadable"  // its bytes could not be got
	Unavailable = "unavailable" // the reading process did not start
)

// Refusal says why a PDF was not read. It holds nothing of its text.
type Refusal struct {
	Reason string // one of the constants above
	Detail string // one short clause for the person who has to repair it; may be empty
	Err    error  // the cause, for the log; may be nil
}

// Error names the reason and the cause.
func (r *Refusal) Error() string {
	if r.Err != nil {
		return r.Why() + ": " + r.Err.Error()
	}
	return r.Why()
}

// Unwrap returns the cause.
func (r *Refusal) Unwrap() error { return r.Err }

// Why returns reason and detail, such as "too_large: more than 200 pages".
func (r *Refusal) Why() string {
	if r.Detail == "" {
		return r.Reason
	}
	return r.Reason + ": " + r.Detail
}

func refuse(reason, detail string, args ...any) *Refusal {
	return &Refusal{Reason: reason, Detail: fmt.Sprintf(detail, args...)}
}

// ended says why a context is done: our own limits are its cause, anything else is the caller's.
func ended(ctx context.Context) *Refusal {
	var r *Refusal
	switch cause := context.Cause(ctx); {
	case errors.As(cause, &r):
		return r
	case errors.Is(cause, context.DeadlineExceeded):
		return &Refusal{Reason: TimedOut, Err: cause}
	default:
		return &Refusal{Reason: Cancelled, Err: cause}
	}
}
