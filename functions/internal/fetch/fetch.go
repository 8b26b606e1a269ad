// Package fetch gets one page by its URL, for the libraries of brands. Whoever names the URL and
// whoever answers it are not trusted: only public addresses are connected to, by every hop, and what
// comes back is bounded in size and time. One call, one page: nothing is crawled or tried again.
package fetch

import (
	"context"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"
)

// The limits of one Fetch.
const (
	maxTime      = 10 * time.Second // from the first look-up to the last byte
	maxRedirects = 5
	maxBytes     = 5 << 20  // of the body, decoded, and as it travels
	maxHeader    = 64 << 10 // of a response
)

// Page is what stands behind a URL.
type Page struct {
	URL         string    // the canonical URL of the last hop
	ContentType string    // media type with its charset; what the bytes prove wins over what is said
	Body        []byte    // decoded, at least 1 byte, at most 5 MB
	FetchedAt   time.Time // says nothing about the content, so it belongs in no hash. O34
}

// Fetcher gets pages. It keeps no connection, cookie or answer between two calls and is safe for
// concurrent use.
type Fetcher struct {
	resolver resolver
	policy   policy
	limits   limits
	roots    *x509.CertPool // nil: those of the system
	now      func() time.Time
}

type limits struct {
	time      time.Duration
	redirects int
	bytes     int64
}

// New returns a Fetcher for public addresses.
func New(now func() time.Time) *Fetcher {
	return &Fetcher{
		resolver: net.DefaultResolver,
		policy:   policy{ports: []string{"80", "443"}, forbids: isForbidden},
		limits:   limits{maxTime, maxRedirects, maxBytes},
		now:      now,
	}
}

// Fetch gets the page of rawURL: http or https, on port 80 or 443, without a name and password in it.
// It takes 10 s and 5 redirects at most. Every error is a *Refusal.
func (f *Fetcher) Fetch(ctx context.Context, rawURL string) (Page, error) {
	ctx, cancel := context.WithTimeout(ctx, f.limits.time)
	defer cancel()
	u, refusal := f.policy.parse(rawURL)
	if refusal != nil {
		return Page{}, refusal
	}
	page, refusal := f.follow(ctx, u)
	if refusal != nil {
		refusal.URL = shown(u)
		return Page{}, refusal
	}
	return page, nil
}

// follow goes from hop to hop until a response is no redirect. Each hop is a connection of its own,
// so each is checked when it is dialled. // O19
func (f *Fetcher) follow(ctx context.Context, u *url.URL) (Page, *Refusal) {
	transport := f.transport()
	for redirects := 0; ; redirects++ {
		response, refusal := get(ctx, transport, u)
		if refusal != nil {
			return Page{}, refusal
		}
		if !isRedirect(response) {
			defer response.Body.Close()
			return f.page(ctx, u, response)
		}
		response.Body.Close()
		if redirects == f.limits.redirects {
			return Page{}, refuse(TooManyRedirects, "more than %d", f.limits.redirects)
		}
		if u, refusal = f.policy.redirect(u, response.Header.Get("Location")); refusal != nil {
			return Page{}, refusal
		}
	}
}

// transport makes connections that meet the policy, and nothing else: no proxy of the environment, no
// cookies, no connection of an earlier hop, no decoding behind our back.
func (f *Fetcher) transport() *http.Transport {
	return &http.Transport{
		DialContext:            f.dial,
		TLSClientConfig:        tlsConfig(f.roots, f.now),
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHeader,
	}
}

func get(ctx context.Context, transport *http.Transport, u *url.URL) (*http.Response, *Refusal) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, refuse(BadURL, "it can't be read")
	}
	request.Header.Set("Accept", "text/html, text/markdown, text/plain, text/csv, application/json, application/pdf, */*;q=0.1")
	request.Header.Set("Accept-Encoding", "gzip, deflate")
	request.Header.Set("User-Agent", "Porchlight (reads single pages for their owners)")
	response, err := transport.RoundTrip(request)
	if err != nil {
		return nil, failed(ctx, err)
	}
	return response, nil
}

// isRedirect says that a response names another place. 300 and 304 do not.
func isRedirect(r *http.Response) bool {
	switch r.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return r.Header.Get("Location") != ""
	}
	return false
}

func (f *Fetcher) page(ctx context.Context, u *url.URL, response *http.Response) (Page, *Refusal) {
	switch response.StatusCode {
	case http.StatusOK:
	case http.StatusNoContent, http.StatusResetContent:
		return Page{}, refuse(Empty, "status %d", response.StatusCode)
	default:
		return Page{}, ofStatus(response, f.now())
	}
	body, refusal := read(ctx, response, f.limits.bytes)
	if refusal != nil {
		return Page{}, refusal
	}
	return Page{
		URL:         u.String(),
		ContentType: contentType(response.Header.Get("Content-Type"), body),
		Body:        body,
		FetchedAt:   f.now(),
	}, nil
}

// read returns the decoded body, of at most that many bytes.
func read(ctx context.Context, response *http.Response, most int64) ([]byte, *Refusal) {
	travels := &io.LimitedReader{R: response.Body, N: most + 1}
	decoded, refusal := decode(response.Header.Values("Content-Encoding"), travels)
	if refusal != nil {
		return nil, refusal
	}
	body, err := io.ReadAll(io.LimitReader(decoded, most+1))
	switch {
	case int64(len(body)) > most || travels.N == 0:
		return nil, refuse(TooLarge, "more than %d MB", most>>20)
	case err != nil:
		return nil, unread(ctx, err)
	case len(body) == 0:
		return nil, refuse(Empty, "the response has no body")
	}
	return body, nil
}
