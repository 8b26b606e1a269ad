package web

import (
	"fmt"
	"net/http"
)

// Stream is a response of NDJSON: one JSON value a line, each sent when it is known. It is not for
// concurrent use.
type Stream struct {
	w     http.ResponseWriter
	begun bool
}

// NewStream returns a stream over w. Nothing is sent before the first Send, so that a handler can
// still fail with a status of its own.
func NewStream(w http.ResponseWriter) *Stream { return &Stream{w: w} }

// Send writes v as one line and flushes it where the writer can. An error means that v could not be
// encoded or that nobody reads any more.
func (s *Stream) Send(v any) error {
	if !s.begun {
		h := s.w.Header()
		h.Set("Content-Type", typeNDJSON)
		h.Set("Cache-Control", "no-store")
		h.Set("X-Accel-Buffering", "no") // a proxy must not hold lines back
		s.begun = true
	}
	return writeLine(s.w, v)
}

// writeLine writes a line in one piece: no client ever reads half a line and then an error.
func writeLine(w http.ResponseWriter, v any) error {
	line, err := encode(v)
	if err != nil {
		return err
	}
	if _, err := w.Write(line); err != nil {
		return fmt.Errorf("write line: %w", err)
	}
	_ = http.NewResponseController(w).Flush() // lambdaurl can't, and sends each write at once anyway
	return nil
}
