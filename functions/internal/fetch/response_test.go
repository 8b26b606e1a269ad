package fetch

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"
)

// U9
func TestFetch_BelievesTheBytesMoreThanTheirType(t *testing.T) {
	var said, body string
	w := newWorld(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = []string{said}
		_, _ = w.Write([]byte(body))
	}))
	for _, c := range []struct{ said, body, want string }{
		{"text/html", "%PDF-1.7 …", "application/pdf"},
		{"text/html", "\n\n%PDF-1.7 …", "application/pdf"},
		{"application/pdf", "<!doctype html><title>Sign in</title>", "text/html"},
		{"application/pdf", "%PDF-1.4", "application/pdf"},
		{"text/plain", "\x89PNG\x0d\x0a\x1a\x0a", "image/png"},
		{"application/octet-stream", "<html>", "text/html"},
		{"", "Name;Price\nA;1\n", "text/plain"},
		{"text/csv; charset=UTF-16", "Name;Price\nA;1\n", "text/csv; charset=utf-16"},
		{"application/json", `{"a":1}`, "application/json"},
		{"text/markdown; header=present", "# A", "text/markdown"},
		{"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "PK\x03\x04", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
		{"text/html; charset=\"", "<html>", "text/html"},
	} {
		said, body = c.said, c.body
		page, err := w.Fetch(t.Context(), w.outside)
		if err != nil || page.ContentType != c.want {
			t.Errorf("%q said of %q: %q, %v; want %q", c.said, c.body, page.ContentType, err, c.want)
		}
	}
}

// U9
func TestFetch_TakesStatus200Alone(t *testing.T) {
	var status int
	var after string
	w := newWorld(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", after)
		w.WriteHeader(status)
		if status >= 400 {
			_, _ = w.Write([]byte("no page"))
		}
	}))
	for _, c := range []struct {
		status int
		after  string
		reason string
		wait   time.Duration
	}{
		{204, "", Empty, 0},
		{205, "", Empty, 0},
		{200, "", Empty, 0},
		{206, "", HTTPStatus, 0},
		{300, "", HTTPStatus, 0},
		{304, "", HTTPStatus, 0},
		{404, "", HTTPStatus, 0},
		{418, "", HTTPStatus, 0},
		{599, "", HTTPStatus, 0},
		{429, "120", HTTPStatus, 2 * time.Minute},
		{503, "Wed, 18 Nov 2026 09:01:00 GMT", HTTPStatus, time.Minute},
		{503, "Wed, 18 Nov 2020 09:01:00 GMT", HTTPStatus, 0},
		{503, "-5", HTTPStatus, 0},
		{503, "9223372036854775807", HTTPStatus, 24 * time.Hour},
		{503, "soon", HTTPStatus, 0},
	} {
		status, after = c.status, c.after
		_, err := w.Fetch(t.Context(), w.outside)
		r := refused(t, err, c.reason)
		if r.RetryAfter != c.wait || c.reason == HTTPStatus && r.Status != c.status {
			t.Errorf("%d, %q: %+v", c.status, c.after, r)
		}
	}
}

// U9
func TestFetch_WorksAgainAfterAFailure(t *testing.T) {
	calls := 0
	w := newWorld(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if calls++; calls == 1 {
			w.WriteHeader(http.StatusBadGateway)
		}
		_, _ = w.Write([]byte("page"))
	}))
	_, err := w.Fetch(t.Context(), w.outside)
	refused(t, err, HTTPStatus)
	if _, err := w.Fetch(t.Context(), w.outside); err != nil || calls != 2 {
		t.Errorf("%d calls, %v", calls, err)
	}
}

func packed(t testing.TB, pack func(io.Writer) io.WriteCloser, size int64) []byte {
	t.Helper()
	var b bytes.Buffer
	w := pack(&b)
	if _, err := io.CopyN(w, zeros{}, size); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func zipped(w io.Writer) io.WriteCloser   { return gzip.NewWriter(w) }
func deflated(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) }
func rawly(w io.Writer) io.WriteCloser    { f, _ := flate.NewWriter(w, 9); return f }

// U10, S4
func TestFetch_DecodesOneEncodingToFiveMegabytes(t *testing.T) {
	var encoding []string
	var body []byte
	w := newWorld(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Encoding"] = encoding
		_, _ = w.Write(body)
	}))
	const full, bomb = 5 << 20, 80 << 20
	twice := func(w io.Writer) io.WriteCloser { return gzip.NewWriter(gzip.NewWriter(w)) }
	empties := bytes.Repeat(packed(t, zipped, 0), 6<<20/20)
	for _, c := range []struct {
		name     string
		encoding []string
		body     []byte
		reason   string // "" for a page of full bytes
	}{
		{"gzip, full", []string{"gzip"}, packed(t, zipped, full), ""},
		{"gzip, one byte more", []string{"gzip"}, packed(t, zipped, full+1), TooLarge},
		{"gzip bomb", []string{"X-GZIP"}, packed(t, zipped, bomb), TooLarge},
		{"deflate, full", []string{"deflate"}, packed(t, deflated, full), ""},
		{"deflate bomb", []string{"deflate"}, packed(t, deflated, bomb), TooLarge},
		{"deflate without its header, full", []string{"deflate"}, packed(t, rawly, full), ""},
		{"deflate without its header, bomb", []string{"deflate"}, packed(t, rawly, bomb), TooLarge},
		{"not encoded, full", []string{"identity"}, make([]byte, full), ""},
		{"not encoded, one byte more", nil, make([]byte, full+1), TooLarge},
		{"many empty archives", []string{"gzip"}, empties, TooLarge},
		{"twice", []string{"gzip, gzip"}, packed(t, twice, 100), BadResponse},
		{"two lines", []string{"gzip", "deflate"}, packed(t, zipped, 100), BadResponse},
		{"br", []string{"br"}, []byte("\x0b\x02\x80"), BadResponse},
		{"not what it says", []string{"gzip"}, []byte("<html>"), BadResponse},
		{"cut off", []string{"gzip"}, packed(t, zipped, full)[:1000], Unreachable},
		{"damaged", []string{"deflate"}, append(packed(t, deflated, 100)[:6], "xxxxxxxx"...), BadResponse},
		{"an empty archive", []string{"gzip"}, packed(t, zipped, 0), Empty},
		{"one byte of deflate", []string{"deflate"}, []byte{0x78}, Unreachable},
	} {
		t.Run(c.name, func(t *testing.T) {
			encoding, body = c.encoding, c.body
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			page, err := w.Fetch(t.Context(), w.outside)
			runtime.ReadMemStats(&after)
			if c.reason != "" {
				refused(t, err, c.reason)
			} else if err != nil || len(page.Body) != full {
				t.Errorf("%d bytes, %v", len(page.Body), err)
			}
			if grown := after.TotalAlloc - before.TotalAlloc; grown > 64<<20 {
				t.Errorf("allocated %d MB", grown>>20)
			}
		})
	}
}

// U10
func TestFetch_WaitsForNobodyWithoutEnd(t *testing.T) {
	w := newWorld(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		head := "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
		switch r.URL.Path {
		case "/dripping-body":
			_, err = io.WriteString(conn, head+"\r\n")
			for err == nil {
				time.Sleep(20 * time.Millisecond)
				_, err = io.WriteString(conn, "x")
			}
		case "/dripping-header":
			_, err = io.WriteString(conn, head)
			for err == nil {
				time.Sleep(20 * time.Millisecond)
				_, err = io.WriteString(conn, "A")
			}
		case "/endless":
			_, err = io.WriteString(conn, head+"Transfer-Encoding: chunked\r\n\r\n")
			for err == nil {
				_, err = fmt.Fprintf(conn, "8000\r\n%s\r\n", strings.Repeat("x", 0x8000))
			}
		case "/header":
			_, err = io.WriteString(conn, head)
			for i := 0; err == nil && i < 11<<10; i++ {
				_, err = fmt.Fprintf(conn, "A: %s\r\n", strings.Repeat("x", 1<<10))
			}
		case "/long":
			_, _ = io.WriteString(conn, head+"Content-Length: 100\r\n\r\nshort")
		case "/short":
			_, _ = io.WriteString(conn, head+"Content-Length: 5\r\n\r\nshort and more")
		case "/negative":
			_, _ = io.WriteString(conn, head+"Content-Length: -5\r\n\r\nshort")
		case "/two":
			_, _ = io.WriteString(conn, head+"Content-Length: 5\r\nContent-Length: 6\r\n\r\nshort")
		case "/nothing":
		case "/silent":
			_, _ = conn.Read(make([]byte, 1))
		}
	}))
	w.limits.time = 500 * time.Millisecond
	for path, reason := range map[string]string{
		"/dripping-body": TimedOut, "/dripping-header": TimedOut, "/endless": TooLarge, "/header": BadResponse, "/long": Unreachable,
		"/negative": BadResponse, "/two": BadResponse, "/nothing": Unreachable, "/silent": TimedOut, "/short": "",
	} {
		t.Run(path, func(t *testing.T) {
			page, err := w.Fetch(t.Context(), w.outside+path)
			if reason != "" {
				refused(t, err, reason)
			} else if err != nil || string(page.Body) != "short" {
				t.Errorf("%q, %v", page.Body, err)
			}
		})
	}
}

func TestFetch_EndsWithItsCaller(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	w := newWorld(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	}))
	_, err := w.Fetch(ctx, w.outside)
	if refused(t, err, Cancelled); !errors.Is(err, context.Canceled) {
		t.Errorf("%v is no context.Canceled", err)
	}
}

func TestFetch_SaysThatNobodyListens(t *testing.T) {
	w := newWorld(t, says(""))
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := w.open(closed.Addr())
	_ = closed.Close()
	_, err = w.Fetch(t.Context(), "http://docs.example:"+port)
	refused(t, err, Unreachable)
	_, err = w.Fetch(t.Context(), "http://unknown.example/")
	refused(t, err, NameNotFound)
}

// U14
func TestFetch_UsesNoProxyOfTheEnvironment(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the proxy was asked") }))
	t.Cleanup(proxy.Close)
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		t.Setenv(name, proxy.URL)
	}
	t.Setenv("NO_PROXY", "")
	w := newWorld(t, says("page"))
	if w.transport().Proxy != nil {
		t.Error("the transport has a proxy")
	}
	if _, err := w.Fetch(t.Context(), w.outside); err != nil {
		t.Error(err)
	}
}
