package fetch

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

var testTime = time.Date(2026, 11, 18, 9, 0, 0, 0, time.UTC)

// names is a resolver that knows what it was told: of a name its answers, one a look-up, the last one
// for ever.
type names map[string][][]netip.Addr

func (n names) LookupNetIP(_ context.Context, network, host string) ([]netip.Addr, error) {
	answers := n[host]
	if network != "ip" || len(answers) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	if len(answers) > 1 {
		n[host] = answers[1:]
	}
	return slices.Clone(answers[0]), nil
}

func addresses(all ...string) []netip.Addr {
	parsed := make([]netip.Addr, len(all))
	for i, a := range all {
		parsed[i] = netip.MustParseAddr(a)
	}
	return parsed
}

// world has one server that stands for the public internet, though it runs on this machine, and one
// that stands for what is inside: nobody may ever connect to it.
type world struct {
	*Fetcher
	names   names
	outside string // http://docs.example:port
	inside  string // the port of the inside
	touched *atomic.Int64
}

func newWorld(t *testing.T, outside http.Handler) *world {
	t.Helper()
	server := httptest.NewServer(outside)
	t.Cleanup(server.Close)
	w := &world{names: names{"docs.example.": {addresses("127.0.0.1")}}, touched: &atomic.Int64{}}
	inside, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = inside.Close() })
	go func() {
		for {
			conn, err := inside.Accept()
			if err != nil {
				return
			}
			w.touched.Add(1)
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() {
		if n := w.touched.Load(); n > 0 {
			t.Errorf("%d connections reached the inside", n)
		}
	})
	_, w.inside, _ = net.SplitHostPort(inside.Addr().String())
	w.Fetcher = New(func() time.Time { return testTime })
	w.resolver = w.names
	w.policy.ports = append(w.policy.ports, w.inside)
	w.outside = "http://docs.example:" + w.open(server.Listener.Addr())
	return w
}

// open makes a listener of this machine a place of the public internet and returns its port.
func (w *world) open(a net.Addr) string {
	public := netip.MustParseAddrPort(a.String())
	before := w.policy.forbids
	w.policy.forbids = func(to netip.AddrPort) bool { return to != public && before(to) }
	port := strings.TrimPrefix(a.String(), public.Addr().String()+":")
	w.policy.ports = append(w.policy.ports, port)
	return port
}

// refused wants a refusal for one of the reasons and returns it.
func refused(t *testing.T, err error, reasons ...string) *Refusal {
	t.Helper()
	var r *Refusal
	if !errors.As(err, &r) {
		t.Fatalf("no refusal but %v, want one of %v", err, reasons)
	}
	if !slices.Contains(reasons, r.Reason) {
		t.Errorf("refused as %v, want one of %v", r, reasons)
	}
	return r
}

func says(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }
}

func TestFetch_ReturnsThePageOfTheLastHop(t *testing.T) {
	var seen http.Header
	w := newWorld(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "s", Value: "1"})
		if r.URL.Path == "/old" {
			http.Redirect(w, r, "/new?b=2&utm_source=x&a=1#top", http.StatusFound)
			return
		}
		seen = r.Header
		w.Header().Set("Content-Type", "Text/HTML; Charset=ISO-8859-1")
		_, _ = w.Write([]byte("<p>Hearthfix 12: 11.40</p>"))
	}))
	page, err := w.Fetch(t.Context(), w.outside+"/old?token=1")
	if err != nil {
		t.Fatal(err)
	}
	if page.URL != w.outside+"/new?b=2&a=1" || page.ContentType != "text/html; charset=iso-8859-1" ||
		string(page.Body) != "<p>Hearthfix 12: 11.40</p>" || !page.FetchedAt.Equal(testTime) {
		t.Errorf("got %+v", page)
	}
	for _, name := range []string{"Cookie", "Authorization", "Referer"} {
		if seen.Get(name) != "" {
			t.Errorf("%s was sent", name)
		}
	}
}

func TestFetch_RepeatsNoSecretOfAURLOrAResponse(t *testing.T) {
	const secret = "kanarienvogel"
	w := newWorld(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/broken":
			conn, _, _ := w.(http.Hijacker).Hijack()
			_, _ = conn.Write([]byte("HTTP/1.1 200 OK\r\n" + secret + " no header\r\n\r\n"))
			_ = conn.Close()
		case "/away":
			w.Header().Set("Location", "https://user:"+secret+"@docs.example/?key="+secret)
			w.WriteHeader(http.StatusFound)
		case "/gone":
			w.WriteHeader(http.StatusGone)
			_, _ = w.Write([]byte(secret))
		}
	}))
	for _, raw := range []string{
		w.outside + "/broken?key=" + secret, w.outside + "/away", w.outside + "/gone?key=" + secret,
		"https://user:" + secret + "@docs.example/", "https://docs.example:99/?" + secret, "ht!tp://" + secret,
		"https://unknown.example/?key=" + secret + "#" + secret, "http://docs.example/%zz" + secret,
	} {
		_, err := w.Fetch(t.Context(), raw)
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", strings.ReplaceAll(raw, secret, "…"), err)
		}
		for cause := err; cause != nil; cause = errors.Unwrap(cause) {
			var u *url.Error
			if errors.As(cause, &u) {
				t.Errorf("%v keeps a url.Error", err)
			}
		}
	}
}
