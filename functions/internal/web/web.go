// Package web is the only room that speaks HTTP. It reads requests strictly, hands them on as plain
// values, and answers in NDJSON or JSON. It is also the only room that logs: one line a request, with
// ids, codes and milliseconds, never with a question, a token, a body or a query string.
//
// The handlers run under net/http and under lambdaurl alike. The latter recovers no panic, has no
// Flusher, and reads the header map while the handler still runs: nothing here touches a header once
// the response has begun.
package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"porchlight/functions/internal/identity"
	"porchlight/functions/internal/problem"
)

// statusClientGone is what the log says of a request whose client left. It is never sent.
const statusClientGone = 499

// Handler is an http.Handler that returns its failure instead of writing it.
type Handler func(w http.ResponseWriter, r *http.Request) error

// Options is what every handler needs. Logger, Now and NewID are required.
type Options struct {
	Logger  *slog.Logger
	Now     func() time.Time
	NewID   func() string // a fresh uuid
	Origins []string      // browser origins that may read responses, spelled as browsers do; none: no CORS
}

// Wrap makes an http.Handler of a Handler. It gives the request an id, recovers panics, turns a
// returned error into the response that package problem knows for it, and writes the access log.
func Wrap(o Options) func(Handler) http.Handler {
	return func(h Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			begin := o.Now()
			res := &response{ResponseWriter: w}
			id := o.requestID(r)
			res.begin(id)
			var err error
			if !o.cors(res, r) {
				err = run(h, res, r)
			}
			status, code := res.finish(r.Context(), err)
			o.log(r, res.caller, err, code,
				slog.String("request_id", id),
				slog.String("method", r.Method),
				slog.String("route", route(r)),
				slog.Int("status", status),
				slog.Int64("ms", o.Now().Sub(begin).Milliseconds()))
		})
	}
}

// requestID takes the caller's id only when it is a uuid, so that nobody writes into our log.
func (o Options) requestID(r *http.Request) string {
	if given := r.Header.Values("X-Request-Id"); len(given) == 1 {
		if id, ok := parseUUID(given[0]); ok {
			return id
		}
	}
	return o.NewID()
}

// panicError is the error of a handler that panicked. Its text names only the kind of the value, which
// may hold anything; a runtime error's text holds no content.
type panicError struct {
	what  string
	stack []byte
}

func (p *panicError) Error() string { return "panic: " + p.what }

func run(h Handler, w http.ResponseWriter, r *http.Request) (err error) {
	defer func() {
		if v := recover(); v != nil {
			p := &panicError{what: fmt.Sprintf("%T", v), stack: debug.Stack()}
			if e, ok := v.(runtime.Error); ok {
				p.what = e.Error()
			}
			err = p
		}
	}()
	return h(w, r)
}

// log writes the one line of a request: an error where we are at fault, information otherwise.
func (o Options) log(r *http.Request, p identity.Principal, err error, code problem.Code, attrs ...slog.Attr) {
	level := slog.LevelInfo
	if problem.New(code, nil).Status() >= http.StatusInternalServerError {
		level = slog.LevelError
	}
	for _, a := range []slog.Attr{
		slog.String("code", string(code)),
		slog.String("user_id", p.UserID),
		slog.String("tenant", p.TenantClaim),
	} {
		if a.Value.String() != "" {
			attrs = append(attrs, a)
		}
	}
	if err != nil {
		attrs = append(attrs, slog.String("error", scrub(err.Error())))
	}
	var panicked *panicError
	if errors.As(err, &panicked) {
		level = slog.LevelError
		attrs = append(attrs, slog.String("stack", string(panicked.stack)))
	}
	// A cancelled request is logged all the same.
	o.Logger.LogAttrs(context.WithoutCancel(r.Context()), level, "request", attrs...)
}

// route is the path pattern that matched; the path itself may carry ids or worse.
func route(r *http.Request) string {
	if _, p, ok := strings.Cut(r.Pattern, " "); ok {
		return p
	}
	if r.Pattern != "" {
		return r.Pattern
	}
	return "unmatched"
}

// mount serves patterns such as "POST /v1/ask", one method a path. Another method gets
// method_not_allowed, any other path not_found, a path that is not clean too: no redirects.
func mount(o Options, routes map[string]Handler) http.Handler {
	wrap, mux := Wrap(o), http.NewServeMux()
	for pattern, h := range routes {
		method, p, _ := strings.Cut(pattern, " ")
		mux.Handle(pattern, wrap(h))
		mux.Handle(p, wrap(func(w http.ResponseWriter, _ *http.Request) error {
			w.Header().Set("Allow", method)
			return problem.New(problem.MethodNotAllowed, nil)
		}))
	}
	lost := wrap(func(http.ResponseWriter, *http.Request) error {
		return problem.New(problem.NotFound, nil)
	})
	mux.Handle("/", lost)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path.Clean(r.URL.Path) != r.URL.Path {
			lost.ServeHTTP(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}
