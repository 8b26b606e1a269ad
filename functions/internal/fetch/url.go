package fetch

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// maxURL is the most bytes of a URL.
const maxURL = 2048

// ambiguous finds what parsers of URLs read differently: blanks, control characters, written out or
// escaped, and the backslash.
var ambiguous = regexp.MustCompile(`[\x00-\x20\x7f\\]|%(?:0[0-9A-Fa-f]|1[0-9A-Fa-f]|7[Ff])`)

// Canonical returns the one spelling of a URL, by which a page is one source however it was linked to:
// host in ASCII and lower case, no default port, no fragment, no parameters of campaigns. The order of
// the other parameters stays. The error is a *Refusal.
func Canonical(rawURL string) (string, error) {
	u, refusal := New(nil).policy.parse(rawURL)
	if refusal != nil {
		return "", refusal
	}
	return u.String(), nil
}

// parse takes a URL apart, refuses what is not meant here and returns its canonical form.
func (p policy) parse(raw string) (*url.URL, *Refusal) {
	u, refusal := split(raw)
	if refusal != nil {
		return nil, refusal
	}
	return p.check(u)
}

// redirect returns where a Location leads from u. From https it never leads back to http.
func (p policy) redirect(u *url.URL, location string) (*url.URL, *Refusal) {
	target, refusal := split(location)
	if refusal == nil {
		target, refusal = p.check(u.ResolveReference(target))
	}
	switch {
	case refusal != nil:
		refusal.Detail = "redirected to a URL that is not taken: " + refusal.Detail
		return nil, refusal
	case u.Scheme == "https" && target.Scheme == "http":
		return nil, refuse(BadURL, "redirected from https to http")
	}
	return target, nil
}

// split never repeats the URL in its refusal.
func split(raw string) (*url.URL, *Refusal) {
	switch {
	case len(raw) > maxURL:
		return nil, refuse(BadURL, "it has more than %d bytes", maxURL)
	case !utf8.ValidString(raw):
		return nil, refuse(BadURL, "it is not UTF-8")
	case ambiguous.MatchString(raw):
		return nil, refuse(BadURL, "it holds a blank, a control character or a backslash")
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, refuse(BadURL, "it can't be read")
	}
	return u, nil
}

func (p policy) check(u *url.URL) (*url.URL, *Refusal) {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, refuse(BadURL, "only http and https are read")
	case u.Opaque != "" || u.Host == "":
		return nil, refuse(BadURL, "it has no host")
	case u.User != nil:
		return nil, refuse(BadURL, "take the name and password out")
	}
	host, refusal := canonicalHost(u.Hostname())
	if refusal != nil {
		return nil, refusal
	}
	port, usual := u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme]
	if port == "" && !strings.HasSuffix(u.Host, ":") {
		port = usual
	}
	if !slices.Contains(p.ports, port) {
		return nil, refuse(BadURL, "only the ports 80 and 443 are read")
	}
	switch {
	case port != usual:
		host = net.JoinHostPort(host, port)
	case strings.Contains(host, ":"):
		host = "[" + host + "]"
	}
	canonical := &url.URL{Scheme: u.Scheme, Host: host, Path: u.Path, RawPath: escaped(u.RawPath), RawQuery: escaped(withoutCampaign(u.RawQuery))}
	if canonical.Path == "" {
		canonical.Path = "/"
	}
	return canonical, nil
}

// escaped writes what has no place in a path or query as browsers do. Without it net/url would write
// the whole path anew, and "%2F" would become a slash.
func escaped(raw string) string {
	var b strings.Builder
	for i := range len(raw) {
		if c := raw[i]; c > '~' || strings.IndexByte("\"<>^`{|}#", c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// hostNames turns a name into ASCII as browsers do: wide and circled digits become digits, letters of
// other scripts punycode, in which a look-alike is seen to be one.
var hostNames = idna.New(
	idna.MapForLookup(), idna.BidiRule(), idna.StrictDomainName(true), idna.VerifyDNSLength(true), idna.CheckHyphens(false),
)

// inside are names that only a machine or its network gives.
var inside = []string{"localhost", "local", "localdomain", "internal", "intranet", "lan", "home.arpa"}

// numeric is a last label that the C library reads as part of an IPv4 address: 127.1, 0x7f000001.
var numeric = regexp.MustCompile(`(?:^|\.)(?:\d+|0x[0-9a-f]*)$`)

// canonicalHost returns a public-looking name, or an address in its one spelling.
func canonicalHost(host string) (string, *Refusal) {
	if strings.Contains(host, ":") {
		address, err := netip.ParseAddr(host)
		if err != nil || address.Zone() != "" {
			return "", refuse(BadURL, "its address can't be read")
		}
		return address.String(), nil
	}
	name, err := hostNames.ToASCII(strings.TrimSuffix(host, "."))
	if err == nil { // once more: what is taken must be a name to everybody who reads it
		name, err = hostNames.ToASCII(name)
	}
	if err != nil || strings.HasSuffix(name, ".") {
		return "", refuse(BadURL, "its host is no name of the internet")
	}
	name = strings.ToLower(name)
	if numeric.MatchString(name) {
		address, err := netip.ParseAddr(name)
		if err != nil {
			return "", refuse(BadURL, "its address is not written as four numbers")
		}
		return address.String(), nil
	}
	isInside := func(suffix string) bool { return strings.HasSuffix("."+name, "."+suffix) }
	if !strings.Contains(name, ".") || slices.ContainsFunc(inside, isInside) {
		return "", refuse(ForbiddenAddress, "its host is not on the public internet")
	}
	return name, nil
}

// campaign are parameters that say where a reader came from and change nothing on the page.
var campaign = regexp.MustCompile(`^(?:utm_[a-z_]+|gclid|dclid|fbclid|msclkid|mc_cid|mc_eid)(?:=|$)`)

func withoutCampaign(query string) string {
	kept := slices.DeleteFunc(strings.Split(query, "&"), campaign.MatchString)
	return strings.Join(kept, "&")
}

// shown is what of a URL may stand in a report: no query, which may hold a key.
func shown(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String()
}
