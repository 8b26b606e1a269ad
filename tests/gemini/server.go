package gemini

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
)

// TB is the part of testing.TB that the server needs.
type TB interface {
	Helper()
	Cleanup(func())
	Errorf(format string, args ...any)
}

// Server is a fake Gemini API. Its methods may be called while requests run.
type Server struct {
	URL string // base address, for GeminiConfig.BaseURL

	http *httptest.Server
	once sync.Once
	stop chan struct{}
	left chan string

	mu       sync.Mutex
	queued   map[string][]Response
	handlers map[string]func(Request) Response
	requests []Request
	errs     []error
}

// NewServer starts a server. With a t it is closed at the end of the test, which fails if a request
// came that nobody registered; with nil the caller calls Close and looks at Err.
func NewServer(t TB) *Server {
	s := &Server{
		stop: make(chan struct{}), left: make(chan string, 64),
		queued: map[string][]Response{}, handlers: map[string]func(Request) Response{},
	}
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	s.URL = s.http.URL
	if t != nil {
		t.Cleanup(func() {
			t.Helper()
			s.Close()
			if err := s.Err(); err != nil {
				t.Errorf("fake Gemini server: %v", err)
			}
		})
	}
	return s
}

// Close ends the server and the requests that hang in it. A second call does nothing.
func (s *Server) Close() {
	s.once.Do(func() {
		close(s.stop)
		s.http.CloseClientConnections()
		s.http.Close()
	})
}

// Queue registers answers of a model that are given once each, in their order.
func (s *Server) Queue(model string, answers ...Response) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queued[model] = append(s.queued[model], answers...)
}

// On registers what a model answers whenever its queue is empty. f may compute the answer from the
// request, and may be called by several requests at once.
func (s *Server) On(model string, f func(Request) Response) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handlers[model] = f
}

// Requests returns everything that arrived, oldest first.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// RequestsOf returns what arrived for one model, oldest first.
func (s *Server) RequestsOf(model string) []Request {
	var of []Request
	for _, r := range s.Requests() {
		if r.Model == model {
			of = append(of, r)
		}
	}
	return of
}

// Count says how many requests arrived for one model.
func (s *Server) Count(model string) int { return len(s.RequestsOf(model)) }

// Left delivers the model's name each time a client leaves an answer that hangs.
func (s *Server) Left() <-chan string { return s.left }

// Err joins what went wrong: requests that nobody registered or that the real service refuses.
func (s *Server) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(s.errs...)
}

func (s *Server) serve(w http.ResponseWriter, h *http.Request) {
	r, err := readRequest(h)
	s.mu.Lock()
	s.requests = append(s.requests, r)
	s.mu.Unlock()
	if err != nil {
		s.fail(fmt.Errorf("%s: %w", r.Path, err))
		write(w, r, Fail(http.StatusBadRequest, "INVALID_ARGUMENT", err.Error()))
		return
	}
	answer, ok := s.answer(r)
	if !ok {
		s.fail(fmt.Errorf("nobody registered an answer for %s", r.Path))
		write(w, r, Fail(http.StatusNotImplemented, "UNIMPLEMENTED", "Nobody registered this request."))
		return
	}
	write(w, r, answer)
	switch answer.end {
	case hang:
		select {
		case <-h.Context().Done():
			select {
			case s.left <- r.Model:
			default: // nobody reads; a test that cares does
			}
		case <-s.stop:
		}
	case cut:
		panic(http.ErrAbortHandler) // net/http's way to break a connection
	}
}

func (s *Server) answer(r Request) (Response, bool) {
	s.mu.Lock()
	if q := s.queued[r.Model]; len(q) > 0 {
		s.queued[r.Model] = q[1:]
		s.mu.Unlock()
		return q[0], true
	}
	f := s.handlers[r.Model]
	s.mu.Unlock() // f may take its time, or ask the server something
	if f == nil {
		return Response{}, false
	}
	return f(r), true
}

func (s *Server) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.errs = append(s.errs, err)
}
