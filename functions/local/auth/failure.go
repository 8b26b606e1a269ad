package auth

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"porchlight/functions/internal/problem"
)

const (
	codeHeader    = "X-Sb-Error-Code"
	versionHeader = "X-Supabase-Api-Version"
	// newShape is the API version since which an error is {code, message}.
	newShape = "2024-01-01"
)

// failure is an error with the codes of Supabase Auth. The client sees all but the cause.
type failure struct {
	status  int
	code    string
	message string
	cause   error
}

func (f *failure) Error() string { return f.code + ": " + f.message }

func (f *failure) Unwrap() error { return f.cause }

func refuse(status int, code, message string) error {
	return &failure{status: status, code: code, message: message}
}

// broken is a failure on our side. A database that can't be reached is 503: clients try again then,
// where a 500 would make them forget their session.
func broken(message string, cause error) error {
	f := &failure{http.StatusInternalServerError, "unexpected_failure", message, cause}
	if p := problem.From(cause); p.Code == problem.DatabaseUnavailable {
		f.status = http.StatusServiceUnavailable
	}
	return f
}

// fail writes err in the shape that the client asked for.
func (s *server) fail(w http.ResponseWriter, r *http.Request, err error) {
	var f *failure
	if !errors.As(err, &f) {
		f = &failure{http.StatusInternalServerError, "unexpected_failure", "Unexpected failure", err}
	}
	if f.status >= http.StatusInternalServerError {
		s.Log.ErrorContext(r.Context(), "auth request failed", "path", r.URL.Path, "status", f.status, "error", f.cause)
	}
	if p := problem.From(f.cause); p.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(p.RetryAfter.Seconds())))
	}
	w.Header().Set(codeHeader, f.code)
	var body any = struct {
		Code    int    `json:"code"`
		Error   string `json:"error_code"`
		Message string `json:"msg"`
	}{f.status, f.code, f.message}
	if wantsNewShape(r) {
		w.Header().Set(versionHeader, newShape)
		body = struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		}{f.code, f.message}
	}
	_ = write(w, f.status, body) // two strings and a number always marshal
}

func wantsNewShape(r *http.Request) bool {
	version := r.Header.Get(versionHeader)
	_, err := time.Parse(time.DateOnly, version)
	return err == nil && version >= newShape
}
