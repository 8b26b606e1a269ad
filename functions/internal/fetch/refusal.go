package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// The reasons of a Refusal. They are stable: people and programs read them in a run's report.
const (
	BadURL           = "bad_url"            // no http or https URL that is taken
	ForbiddenAddress = "forbidden_address"  // its host is no public address
	NameNotFound     = "name_not_found"     // no address was found for its host
	Unreachable      = "unreachable"        // no connection, or one that broke off
	TLSFailed        = "tls_failed"         // the certificate does not prove the host
	TimedOut         = "timed_out"          // more than 10 s in all
	Cancelled        = "cancelled"          // the caller gave up
	TooManyRedirects = "too_many_redirects" // more than 5
	HTTPStatus       = "http_status"        // neither a page nor a redirect; Status says which
	BadResponse      = "bad_response"       // not HTTP, header too large, damaged or unknown encoding
	TooLarge         = "too_large"          // more than 5 MB
	Empty            = "empty"              // no body
)

// Refusal says why a page was not fetched. It holds nothing of a response but its status, and nothing
// of the URL but scheme, host and path: what may be a secret is not repeated. // O80
type Refusal struct {
	URL        string        // where it was looked for; empty for a URL that was not taken
	Reason     string        // one of the constants above
	Detail     string        // one short clause for the person who has to repair it; may be empty
	Status     int           // of HTTPStatus, else 0
	RetryAfter time.Duration // when the server asks to come back; 0 where it does not say
	Err        error         // a context's error or the system's, for the log; may be nil
}

// Error names the URL, the reason and the cause.
func (r *Refusal) Error() string {
	s := r.Why()
	if r.URL != "" {
		s = r.URL + ": " + s
	}
	if r.Err != nil {
		s += ": " + r.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (r *Refusal) Unwrap() error { return r.Err }

// Why returns reason and detail, such as "http_status: 404 Not Found".
func (r *Refusal) Why() string {
	if r.Detail == "" {
		return r.Reason
	}
	return r.Reason + ": " + r.Detail
}

func refuse(reason, detail string, args ...any) *Refusal {
	return &Refusal{Reason: reason, Detail: fmt.Sprintf(detail, args...)}
}

// ofStatus makes a refusal of a status that is no page. The phrase is ours: the server's may say anything.
func ofStatus(response *http.Response, now time.Time) *Refusal {
	r := refuse(HTTPStatus, "%s", strings.TrimSpace(strconv.Itoa(response.StatusCode)+" "+http.StatusText(response.StatusCode)))
	r.Status = response.StatusCode
	after := response.Header.Get("Retry-After")
	if seconds, err := strconv.Atoi(after); err == nil && seconds > 0 {
		r.RetryAfter = time.Duration(min(seconds, int(maxRetryAfter/time.Second))) * time.Second
	} else if at, err := http.ParseTime(after); err == nil {
		r.RetryAfter = min(max(at.Sub(now), 0), maxRetryAfter)
	}
	return r
}

// maxRetryAfter bounds what a server may ask for.
const maxRetryAfter = 24 * time.Hour

// failed says why there is no response. Errors of the HTTP reader quote what was sent, so only the
// kinds that do not are kept.
func failed(ctx context.Context, err error) *Refusal {
	var refusal *Refusal
	var certificate *tls.CertificateVerificationError
	var alert tls.AlertError
	var host x509.HostnameError
	var network *net.OpError
	var errno syscall.Errno
	switch {
	case ctx.Err() != nil:
		return gaveUp(ctx.Err())
	case errors.As(err, &refusal):
		return refusal
	case errors.As(err, &certificate), errors.As(err, &alert), errors.As(err, &host):
		return refuse(TLSFailed, "the certificate does not prove the host")
	case errors.As(err, &errno):
		return &Refusal{Reason: Unreachable, Err: errno}
	case errors.As(err, &network), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return refuse(Unreachable, "the connection ended early")
	}
	return refuse(BadResponse, "it can't be read as HTTP")
}

// unread says why a body was not read to its end.
func unread(ctx context.Context, err error) *Refusal {
	r := failed(ctx, err)
	if r.Reason == BadResponse {
		r.Detail = "the body is damaged"
	}
	return r
}

func gaveUp(err error) *Refusal {
	if errors.Is(err, context.DeadlineExceeded) {
		return &Refusal{Reason: TimedOut, Err: err}
	}
	return &Refusal{Reason: Cancelled, Err: err}
}
