package fetch

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
)

// U7, U8
func TestParse_RefusesWhatIsNoPlainURL(t *testing.T) {
	long := strings.Repeat("a", 63)
	for _, c := range []struct{ raw, reason string }{
		{"https://user:pass@docs.example/", BadURL},
		{"https://user@docs.example/", BadURL},
		{"https://@docs.example/", BadURL},
		{"https://user@a@docs.example/", BadURL},
		{`https://docs.example\@inside.example/`, BadURL},
		{`https:\\docs.example/`, BadURL},
		{"https://docs.example/a\tb", BadURL},
		{"https://docs.ex\nample/", BadURL},
		{"https://docs.example/\r\nHost: inside", BadURL},
		{" https://docs.example/", BadURL},
		{"https://docs.example/%00", BadURL},
		{"https://docs.example/%0d%0aHost:%20inside", BadURL},
		{"https://docs.example%00.inside.example/", BadURL},
		{"https://docs.example:0/", BadURL},
		{"https://docs.example:22/", BadURL},
		{"https://docs.example:6379/", BadURL},
		{"https://docs.example:99999/", BadURL},
		{"https://docs.example:0x50/", BadURL},
		{"https://docs.example:0443/", BadURL},
		{"https://docs.example:/", BadURL},
		{"https://docs.example:-80/", BadURL},
		{"file:///etc/passwd", BadURL},
		{"ftp://docs.example/", BadURL},
		{"gopher://docs.example:80/_x", BadURL},
		{"data:text/html,hello", BadURL},
		{"javascript:alert(1)", BadURL},
		{"//docs.example/", BadURL},
		{"docs.example/prices", BadURL},
		{"https:docs.example", BadURL},
		{"https:///prices", BadURL},
		{"", BadURL},
		{"https://" + strings.Repeat(long+".", 32) + "example/", BadURL}, // 2 KB
		{"https://" + strings.Repeat(long+".", 4) + "example/", BadURL},
		{"https://docs.example/" + strings.Repeat("a", 64<<10), BadURL},
		{"https://docs..example/", BadURL},
		{"https://docs.example../", BadURL},
		{"https://.docs.example/", BadURL},
		{"https://docs_a.example/", BadURL},
		{"https://xn--a.example/", BadURL},
		{"https://docs.example.0/", BadURL},
		{"https://[::1/", BadURL},
		{"https://[docs.example]/", BadURL},
		{"https://[1:2]/", BadURL},
		{"https://intranet/", ForbiddenAddress},
		{"https://printer.local/", ForbiddenAddress},
		{"https://wiki.corp.internal./", ForbiddenAddress},
	} {
		t.Run(fmt.Sprintf("%.60q", c.raw), func(t *testing.T) {
			_, err := Canonical(c.raw)
			refused(t, err, c.reason)
		})
	}
}

// U8, U13
func TestCanonical_IsOneSpellingOfAPage(t *testing.T) {
	for _, c := range []struct{ raw, want string }{
		{"HTTPS://Docs.Example", "https://docs.example/"},
		{"https://docs.example./prices", "https://docs.example/prices"},
		{"https://docs.example:443/prices#home", "https://docs.example/prices"},
		{"http://docs.example:443/", "http://docs.example:443/"},
		{"http://docs.example:80", "http://docs.example/"},
		{"https://docs.example/p?utm_source=mail&utm_medium=x", "https://docs.example/p"},
		{"https://docs.example/p?id=7&gclid=1&lang=de&fbclid=2#a", "https://docs.example/p?id=7&lang=de"},
		{"https://docs.example/p?b=1&a=2", "https://docs.example/p?b=1&a=2"},
		{"https://docs.example/p?utmost=1&x_utm_source=2", "https://docs.example/p?utmost=1&x_utm_source=2"},
		{"https://docs.example/p?", "https://docs.example/p"},
		{"https://docs.example/#@inside.example/", "https://docs.example/"},
		{"https://docs.example/Straße/a%2Fb", "https://docs.example/Stra%C3%9Fe/a%2Fb"},
		{"https://docs.example/p?q=Wärme&a={b}", "https://docs.example/p?q=W%C3%A4rme&a=%7Bb%7D"},
		{"https://bücher.example/", "https://xn--bcher-kva.example/"},
		{"https://www.xn--80ak6aa92e.com/", "https://www.xn--80ak6aa92e.com/"},
		{"https://www.аррӏе.com/", "https://www.xn--80ak6aa92e.com/"}, // Cyrillic: seen not to be Latin
		{"https://ｄｏｃｓ.example/", "https://docs.example/"},
		{"https://r3---sn-a.docs.example/", "https://r3---sn-a.docs.example/"},
		{"https://8.8.8.8/", "https://8.8.8.8/"},
		{"https://[2606:4700:0::1111]:443/", "https://[2606:4700::1111]/"},
		{"http://[2606:4700::1111]:443/", "http://[2606:4700::1111]:443/"},
	} {
		if got, err := Canonical(c.raw); err != nil || got != c.want {
			t.Errorf("%s: %s, %v; want %s", c.raw, got, err, c.want)
		}
	}
}

// U6
func TestFetch_FollowsFiveRedirectsAndNoMore(t *testing.T) {
	w := newWorld(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var left int
		switch _, err := fmt.Sscanf(r.URL.Path, "/%d", &left); {
		case r.URL.Path == "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case err == nil && left > 0:
			w.Header().Set("Location", fmt.Sprintf("%d", left-1))
			w.WriteHeader(http.StatusFound)
		case err != nil:
			target, _ := url.QueryUnescape(r.URL.RawQuery)
			w.Header().Set("Location", target)
			w.WriteHeader(http.StatusFound)
		default:
			_, _ = w.Write([]byte("here"))
		}
	}))
	if page, err := w.Fetch(t.Context(), w.outside+"/5"); err != nil || page.URL != w.outside+"/0" {
		t.Errorf("%+v, %v", page, err)
	}
	for _, path := range []string{"/6", "/loop"} {
		_, err := w.Fetch(t.Context(), w.outside+path)
		refused(t, err, TooManyRedirects)
	}
	for _, target := range []string{
		"file:///etc/passwd", "ftp://docs.example/", "gopher://docs.example/", "data:text/html,x", "https://u:p@docs.example/",
		"https://docs.example:22/", `/\inside.example`, "/a b", "javascript:x", "https://" + strings.Repeat("a", 3000),
	} {
		_, err := w.Fetch(t.Context(), w.outside+"/to?"+url.QueryEscape(target))
		refused(t, err, BadURL)
	}
	r := refused(t, func() error { _, err := w.Fetch(t.Context(), w.outside+"/to"); return err }(), HTTPStatus)
	if r.Status != http.StatusFound {
		t.Errorf("a redirect to nowhere: %v", r)
	}
}

// FuzzParse: what is taken has one spelling, which every parser reads alike, and its host is an address
// that the policy judges or a name that no resolver takes for one.
func FuzzParse(f *testing.F) {
	for _, host := range insideHosts {
		f.Add("http://" + host + "/")
	}
	f.Add("https://docs.example:443/a%2Fb?c=d&utm_source=x#e")
	f.Add(`https://docs.example\@inside.example/`)
	f.Add("https://www.аррӏе.com./")
	f.Add("http://0.\xb0") // became a name that is none
	f.Fuzz(func(t *testing.T, raw string) {
		got, err := Canonical(raw)
		if err != nil {
			return
		}
		if again, err := Canonical(got); err != nil || again != got {
			t.Fatalf("%q became %q, then %q: %v", raw, got, again, err)
		}
		u, err := url.Parse(got)
		if err != nil || u.User != nil || u.Fragment != "" || strings.ContainsAny(got, "\\ \t\r\n\x00") {
			t.Fatalf("%q became %q: %v", raw, got, err)
		}
		host := u.Hostname()
		if _, err := netip.ParseAddr(host); err == nil {
			return
		}
		last := host[strings.LastIndexByte(host, '.')+1:]
		if !strings.Contains(host, ".") || last == "" || last[0] >= '0' && last[0] <= '9' && strings.Trim(last, "0123456789") == "" ||
			strings.Trim(host, "abcdefghijklmnopqrstuvwxyz0123456789-.") != "" {
			t.Fatalf("%q became %q with the host %q", raw, got, host)
		}
	})
}
