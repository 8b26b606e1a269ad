package fetch

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// insideHosts are spellings of addresses inside: U1 to U4.
var insideHosts = []string{
	// U1
	"127.0.0.1", "[::1]", "0.0.0.0", "0", "localhost", "localhost.", "LOCALHOST", "①②⑦.⓪.⓪.①", "127.1", "2130706433",
	"0x7f000001", "0X7F.1", "0177.0.0.1", "127.0.0.1.", "１２７.０.０.１", "127。0。0。1", "127.0.0.01", "127.255.255.254",
	"a.localhost", "localhost.localdomain", "017700000001", "0x7f.0.0.1", "%31%32%37.0.0.1", "127.0.0.1%00.docs.example",
	// U2
	"169.254.169.254", "[fd00:ec2::254]", "168.63.129.16", "100.100.100.200", "metadata.google.internal", "metadata", "2852039166",
	// U3
	"10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "198.18.0.1", "198.19.255.255", "240.0.0.1",
	"0.1.2.3", "255.255.255.255", "224.0.0.1", "192.0.0.192",
	// U4
	"[::ffff:127.0.0.1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[fe80::1%25lo]", "[fe80::1]", "[fec0::1]",
	"[64:ff9b:1::7f00:1]", "[::]", "[::ffff:a9fe:a9fe]", "[::ffff:0:127.0.0.1]", "[2001:0:7f00:1::1]", "[ff02::1]", "[100::1]", "[fc00::1]",
}

// everywhere is a resolver that leads every name to this machine: the worst that one can do.
type everywhere struct{}

func (everywhere) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return addresses("127.0.0.1"), nil
}

// U1, U2, U3, U4, S1
func TestFetch_ConnectsToNothingInside(t *testing.T) {
	w := newWorld(t, says("outside"))
	w.resolver = everywhere{}
	for _, host := range append(insideHosts, "docs.example", "xn--80ak6aa92e.com") {
		for _, port := range []string{"", ":" + w.inside, ":80"} {
			_, err := w.Fetch(t.Context(), "http://"+host+port+"/secret")
			refused(t, err, BadURL, ForbiddenAddress)
		}
	}
}

// U6, O19
func TestFetch_FollowsNoRedirectToTheInside(t *testing.T) {
	var target string
	w := newWorld(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
		w.Header().Set("Location", target)
		w.WriteHeader(status)
	}))
	for _, host := range insideHosts {
		for _, status := range []int{301, 302, 303, 307, 308} {
			target = "http://" + host + ":" + w.inside + "/secret"
			_, err := w.Fetch(t.Context(), fmt.Sprintf("%s/%d", w.outside, status))
			refused(t, err, BadURL, ForbiddenAddress)
		}
	}
	target = "//127.0.0.1:" + w.inside + "/secret"
	_, err := w.Fetch(t.Context(), w.outside+"/302")
	refused(t, err, ForbiddenAddress)
}

// U5
func TestFetch_ConnectsToTheAddressThatItChecked(t *testing.T) {
	calls := 0
	w := newWorld(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls++
		if r.URL.Path == "/again" {
			http.Redirect(w, r, "/", http.StatusFound)
		}
		_, _ = w.Write([]byte("outside"))
	}))
	port := strings.TrimPrefix(w.outside, "http://docs.example:")
	for _, c := range []struct {
		name    string
		answers [][]netip.Addr
		path    string
		want    string // a reason; "" for the page
		calls   int
	}{
		{"public first, then inside: there is no second look-up", [][]netip.Addr{addresses("127.0.0.1"), addresses("10.0.0.1")}, "/", "", 1},
		{"inside when the redirect is looked up", [][]netip.Addr{addresses("127.0.0.1"), addresses("10.0.0.1")}, "/again", ForbiddenAddress, 1},
		{"A outside and AAAA inside", [][]netip.Addr{addresses("127.0.0.1", "::1")}, "/", ForbiddenAddress, 0},
		{"the inside hidden in IPv6", [][]netip.Addr{addresses("::ffff:10.0.0.1")}, "/", ForbiddenAddress, 0},
		{"a public address that does not answer is not the last", [][]netip.Addr{addresses("127.0.0.1", "127.0.0.1")}, "/", "", 1},
		{"no address at all", [][]netip.Addr{{}}, "/", NameNotFound, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			calls = 0
			w.names["rebinding.example."] = c.answers
			_, err := w.Fetch(t.Context(), "http://rebinding.example:"+port+c.path)
			if c.want != "" {
				refused(t, err, c.want)
			} else if err != nil {
				t.Error(err)
			}
			if calls != c.calls {
				t.Errorf("%d requests, want %d", calls, c.calls)
			}
		})
	}
}

func TestControl_RefusesASocketToTheInside(t *testing.T) {
	f := New(time.Now)
	for _, address := range []string{"127.0.0.1:80", "[::1]:443", "[::ffff:10.0.0.1]:80", "[fe80::1%lo]:80", "nothing"} {
		refused(t, f.control(t.Context(), "tcp", address, nil), ForbiddenAddress)
	}
	if err := f.control(t.Context(), "tcp", "8.8.8.8:443", nil); err != nil {
		t.Error(err)
	}
}

// Both resolvers of Go get the odd spellings behind the back of the URL check. The C library reads
// 127.1 as an address, Go's own ①②⑦.⓪.⓪.①. S2
func TestDial_BothResolversOfGoReachNothingInside(t *testing.T) {
	if port := os.Getenv("PORCHLIGHT_TEST_INSIDE"); port != "" {
		f := New(time.Now)
		for _, host := range []string{"127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0", "localhost", "①②⑦.⓪.⓪.①", "::1%lo", "ip6-localhost"} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			_, err := f.dial(ctx, "tcp", net.JoinHostPort(host, port))
			cancel()
			refused(t, err, ForbiddenAddress, NameNotFound, TimedOut, BadURL)
		}
		return
	}
	w := newWorld(t, says("outside"))
	for _, resolver := range []string{"go", "cgo"} {
		t.Run(resolver, func(t *testing.T) {
			again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestDial_BothResolversOfGoReachNothingInside$", "-test.v")
			again.Env = append(os.Environ(), "GODEBUG=netdns="+resolver, "PORCHLIGHT_TEST_INSIDE="+w.inside)
			if output, err := again.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, output)
			}
		})
	}
}

// S1: what Go's IsPrivate and its like let through is inside as well, and what lies beside is not.
func TestIsForbidden_KnowsTheEdgesOfEveryBlock(t *testing.T) {
	for address, want := range map[string]bool{
		"0.255.255.255": true, "1.0.0.0": false, "9.255.255.255": false, "10.255.255.255": true, "11.0.0.0": false,
		"100.63.255.255": false, "100.127.255.255": true, "100.128.0.0": false, "126.255.255.255": false, "128.0.0.0": false,
		"169.253.255.255": false, "169.255.0.0": false, "172.15.255.255": false, "172.32.0.0": false, "192.0.1.0": false,
		"192.0.2.1": true, "192.88.99.1": true, "192.167.255.255": false, "192.169.0.0": false, "198.17.255.255": false,
		"198.20.0.0": false, "198.51.100.9": true, "203.0.113.9": true, "223.255.255.255": false, "239.255.255.255": true,
		"168.63.129.15": false, "168.63.129.16": true, "255.255.255.255": true,
		"2606:4700:4700::1111": false, "2a00:1450:4001:80b::200e": false, "2001:4860:4860::8888": false, "2001:200::1": false,
		"2001::1": true, "2001:1ff::1": true, "2001:db8::1": true, "2002:808:808::1": true, "3fff:fff::1": true, "4000::1": true,
		"::8.8.8.8": true, "::ffff:8.8.8.8": false, "64:ff9b::808:808": true, "5f00::1": true, "fdff::1": true,
	} {
		if got := isForbidden(netip.AddrPortFrom(netip.MustParseAddr(address), 443)); got != want {
			t.Errorf("%s: forbidden %v, want %v", address, got, want)
		}
	}
	if !isForbidden(netip.AddrPort{}) {
		t.Error("no address is forbidden")
	}
}
