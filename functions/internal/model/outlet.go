package model

import (
	"errors"
	"fmt"
	"strings"
)

// sinkError is a failure of the sink that is no rejection: nobody listens any more.
type sinkError struct{ err error }

func (e *sinkError) Error() string { return "deliver the answer: " + e.err.Error() }
func (e *sinkError) Unwrap() error { return e.err }

// outlet stands between one attempt and the sink. It holds text back until its sentence is
// complete, so that no half sentence and no half number is ever seen.
type outlet struct {
	sink    Sink
	held    string // not yet delivered
	sent    strings.Builder
	isDirty bool  // the sink got something
	err     error // the first error of the sink
}

// maxAnswerBytes is ten times what the output tokens that a turn asks for hold. A model that talks on is
// stopped: it would be read, checked, sent and stored for as long as it likes.
const maxAnswerBytes = 16 << 10

// write takes the next piece from the model.
func (o *outlet) write(delta string) error {
	if o.sent.Len()+len(o.held)+len(delta) > maxAnswerBytes {
		o.err = fmt.Errorf("%w: it does not end", ErrRejected)
		return o.err
	}
	o.held += delta
	return o.deliver(sentenceEnd(o.held, false))
}

// finish delivers what is held at the end of the answer: all of it, or only whole sentences when
// the model was cut off.
func (o *outlet) finish(f Finish) error {
	if f == FinishMaxTokens {
		return o.deliver(sentenceEnd(o.held, true))
	}
	return o.deliver(len(strings.TrimRight(o.held, " \t\r\n")))
}

// deliver hands the first n held bytes to the sink.
func (o *outlet) deliver(n int) error {
	text := o.held[:n]
	if strings.TrimSpace(text) == "" {
		return nil
	}
	o.held = o.held[n:]
	o.isDirty = true
	if err := o.sink.Delta(text); err != nil {
		o.err = err
		if !errors.Is(err, ErrRejected) {
			o.err = &sinkError{err}
		}
		return o.err
	}
	o.sent.WriteString(text)
	return nil
}

// text is everything that was delivered, without outer white space.
func (o *outlet) text() string { return strings.TrimSpace(o.sent.String()) }

// discard makes the sink forget a failed attempt and returns cause, or the sink's new error.
func (o *outlet) discard(model string, cause error) error {
	var broken *sinkError
	if !o.isDirty || errors.As(cause, &broken) {
		return cause
	}
	if err := o.sink.Reset(model); err != nil {
		return &sinkError{err}
	}
	return cause
}
