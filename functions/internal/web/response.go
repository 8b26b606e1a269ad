package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"porchlight/functions/internal/identity"
	"porchlight/functions/internal/problem"
	"porchlight/functions/internal/turn"
)

const (
	typeJSON   = "application/json; charset=utf-8"
	typeNDJSON = "application/x-ndjson; charset=utf-8"

	codeClientGone problem.Code = "client_gone" // for the log only
)

// response notes what became of a response: whether and how it began, whether its client still
// reads, and who asked.
type response struct {
	http.ResponseWriter
	status int // 0: not begun
	stream bool
	broken bool // a write failed: nobody reads any more
	caller identity.Principal
}

// Unwrap lets http.ResponseController reach the writer below.
func (r *response) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// WriteHeader begins the response, once.
func (r *response) WriteHeader(status int) {
	if r.status != 0 {
		return
	}
	r.status = status
	r.stream = r.Header().Get("Content-Type") == typeNDJSON
	r.ResponseWriter.WriteHeader(status)
}

// Write begins the response with 200 unless it has begun.
func (r *response) Write(b []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	n, err := r.ResponseWriter.Write(b)
	r.broken = r.broken || err != nil
	return n, err
}

// begin sets the headers of every response.
func (r *response) begin(id string) {
	h := r.Header()
	h.Set("X-Request-Id", id)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
}

// lost says that the client left. Under lambdaurl only a failing write tells. A server that stops
// cancels requests too, with a problem as the cause: their clients still listen.
func (r *response) lost(ctx context.Context) bool {
	var stop *problem.Error
	return r.broken || errors.Is(ctx.Err(), context.Canceled) && !errors.As(context.Cause(ctx), &stop)
}

// finish writes err where that is still possible, and returns what to log.
func (r *response) finish(ctx context.Context, err error) (int, problem.Code) {
	if err == nil {
		if r.status == 0 {
			r.WriteHeader(http.StatusOK)
		}
		return r.status, ""
	}
	if r.lost(ctx) {
		return statusClientGone, codeClientGone
	}
	p := of(err)
	switch {
	case r.status == 0:
		writeProblem(r, p)
	case r.stream:
		_ = writeLine(r, turn.Failed(p.Code, p.Message())) // the last word; nobody left to tell
	}
	return r.status, p.Code
}

// of is problem.From for codes that have a status: any other is our own fault.
func of(err error) *problem.Error {
	if p := problem.From(err); problem.Known(p.Code) {
		return p
	}
	return problem.New(problem.Internal, err)
}

// writeProblem writes the whole error response. The cause stays here.
func writeProblem(w http.ResponseWriter, p *problem.Error) {
	if p.RetryAfter > 0 {
		seconds := (p.RetryAfter + time.Second - 1) / time.Second
		w.Header().Set("Retry-After", strconv.FormatInt(int64(seconds), 10))
	}
	if p.Code == problem.Unauthenticated {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	type body struct {
		Code    problem.Code `json:"code"`
		Message string       `json:"message"`
	}
	_ = writeJSON(w, p.Status(), map[string]body{"error": {p.Code, p.Message()}})
}

// writeJSON writes v as the whole body. Nothing is written when v can't be encoded.
func writeJSON(w http.ResponseWriter, status int, v any) error {
	line, err := encode(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", typeJSON)
	w.WriteHeader(status)
	if _, err := w.Write(line); err != nil {
		return fmt.Errorf("write response: %w", err)
	}
	return nil
}

// encode is v in one line of JSON with its line feed, "<", ">" and "&" as they are: no browser reads
// it as HTML, and people read it in terminals.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode response: %w", err)
	}
	return b.Bytes(), nil
}
