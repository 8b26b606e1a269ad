package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"time"
)

// policy says which ports and addresses may be connected to.
type policy struct {
	ports   []string
	forbids func(netip.AddrPort) bool
}

// resolver finds the addresses of a host. *net.Resolver is one, the pure Go and the C library's alike.
type resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// forbidden4 are the blocks of IPv4 that are not the public internet's: IANA's special-purpose registry
// (RFC 6890), multicast, and the address at which Azure serves its virtual machines. 169.254.0.0/16
// holds the metadata services of the clouds, 100.64.0.0/10 that of Alibaba.
var forbidden4 = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "168.63.129.16/32", "169.254.0.0/16",
	"172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15",
	"198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
)

// public6 is what IANA has opened of IPv6 as global unicast. Loopback, link-local, site-local, unique
// local, multicast, NAT64 and the old IPv4-compatible addresses lie outside.
var public6 = netip.MustParsePrefix("2000::/3")

// forbidden6 are the blocks of public6 that are not public: protocol assignments with Teredo, the two
// of documentation, and 6to4, which carries any IPv4 address inside.
var forbidden6 = prefixes("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")

func prefixes(blocks ...string) []netip.Prefix {
	parsed := make([]netip.Prefix, len(blocks))
	for i, block := range blocks {
		parsed[i] = netip.MustParsePrefix(block)
	}
	return parsed
}

// isForbidden says that an address is not one of the public internet.
func isForbidden(to netip.AddrPort) bool {
	address := to.Addr().Unmap()
	contains := func(p netip.Prefix) bool { return p.Contains(address) }
	if address.Is4() {
		return slices.ContainsFunc(forbidden4, contains)
	}
	return address.Zone() != "" || !public6.Contains(address) || slices.ContainsFunc(forbidden6, contains)
}

// A host with many addresses gets a few attempts of a bounded time, so that a dead one leaves time.
const (
	maxAttempts = 4
	maxAttempt  = 3 * time.Second
)

// dial connects to an address of the host that it has looked up and checked itself, so that no second
// look-up can say another one. A host with one forbidden address is refused as a whole.
func (f *Fetcher) dial(ctx context.Context, network, hostPort string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(hostPort)
	if err != nil {
		return nil, refuse(BadURL, "it has no host")
	}
	addresses, refusal := f.lookUp(ctx, host)
	if refusal != nil {
		return nil, refusal
	}
	targets := make([]netip.AddrPort, len(addresses))
	for i, address := range addresses {
		if targets[i], err = netip.ParseAddrPort(net.JoinHostPort(address.String(), port)); err != nil {
			return nil, refuse(BadURL, "it has no port")
		}
		if f.policy.forbids(targets[i]) {
			return nil, refuse(ForbiddenAddress, "its host is not on the public internet")
		}
	}
	dialer := net.Dialer{Timeout: maxAttempt, ControlContext: f.control}
	var conn net.Conn
	for _, target := range targets[:min(len(targets), maxAttempts)] {
		if conn, err = dialer.DialContext(ctx, network, target.String()); err == nil || ctx.Err() != nil {
			break
		}
	}
	return conn, err
}

// control checks the address once more when the socket is about to connect: nothing comes after it.
func (f *Fetcher) control(_ context.Context, _, address string, _ syscall.RawConn) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil || f.policy.forbids(target) {
		return refuse(ForbiddenAddress, "its host is not on the public internet")
	}
	return nil
}

// lookUp returns the addresses of a host, IPv4 first. The name is asked with its final dot, so that no
// search list of the machine can make another one of it.
func (f *Fetcher) lookUp(ctx context.Context, host string) ([]netip.Addr, *Refusal) {
	if address, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{address.Unmap()}, nil
	}
	addresses, err := f.resolver.LookupNetIP(ctx, "ip", host+".")
	switch {
	case ctx.Err() != nil:
		return nil, gaveUp(ctx.Err())
	case err != nil || len(addresses) == 0:
		return nil, refuse(NameNotFound, "its host has no address")
	}
	for i, address := range addresses {
		addresses[i] = address.Unmap()
	}
	slices.SortStableFunc(addresses, func(a, b netip.Addr) int { return a.BitLen() - b.BitLen() })
	return addresses, nil
}

func tlsConfig(roots *x509.CertPool, now func() time.Time) *tls.Config {
	return &tls.Config{RootCAs: roots, Time: now, MinVersion: tls.VersionTLS12}
}
