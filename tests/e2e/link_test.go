package e2e

import (
	"context"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
)

// link stands between a server and its Postgres, and its pooler where there is one. It can be cut, as when
// the database stops, or held, as when a network swallows packets. It works the same on any Postgres.
type link struct {
	postgres, pooler door

	gate  sync.RWMutex      // held for writing while nothing may pass
	mutex sync.Mutex        // guards the rest
	ends  map[net.Conn]bool // of connections
}

// door is where a link takes connections and where it leads them. The link's mutex guards it.
type door struct {
	address, target string       // host:port
	listener        net.Listener // nil while cut
}

// openLink opens a link to the Postgres at that host:port, and to a pooler unless that is empty.
func openLink(t *testing.T, postgres, pooler string) *link {
	t.Helper()
	l := &link{postgres: door{target: postgres}, pooler: door{target: pooler}, ends: map[net.Conn]bool{}}
	l.mend(t)
	t.Cleanup(l.cut)
	return l
}

// hostOf is the host:port of an address.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		panic(err) // it is our own
	}
	return u.Host
}

// through is the address of a database by way of another host.
func through(address, host string) string {
	u, err := url.Parse(address)
	if err != nil {
		panic(err) // it is our own
	}
	u.Host = host
	return u.String()
}

// mend lets connections through, at the addresses that the link had before.
func (l *link) mend(t *testing.T) {
	t.Helper()
	l.mutex.Lock()
	defer l.mutex.Unlock()
	for _, d := range []*door{&l.postgres, &l.pooler} {
		if d.target == "" {
			continue
		}
		if d.address == "" {
			d.address = "127.0.0.1:0"
		}
		listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp4", d.address)
		if err != nil {
			t.Fatal(err)
		}
		d.listener, d.address = listener, listener.Addr().String()
		go l.accept(listener, d.target)
	}
}

// cut ends all connections and lets none through.
func (l *link) cut() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	for _, d := range []*door{&l.postgres, &l.pooler} {
		if d.listener != nil {
			_ = d.listener.Close()
			d.listener = nil
		}
	}
	for end := range l.ends {
		_ = end.Close()
	}
	l.ends = map[net.Conn]bool{}
}

// lead makes the link lead to another Postgres once it is mended.
func (l *link) lead(postgres string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.postgres.target = postgres
}

// hold stops every byte on its way until release.
func (l *link) hold()    { l.gate.Lock() }
func (l *link) release() { l.gate.Unlock() }

func (l *link) accept(listener net.Listener, target string) {
	for {
		near, err := listener.Accept()
		if err != nil {
			return
		}
		far, err := (&net.Dialer{}).DialContext(context.Background(), "tcp4", target)
		if err != nil {
			_ = near.Close()
			continue
		}
		l.mutex.Lock()
		l.ends[near], l.ends[far] = true, true
		l.mutex.Unlock()
		go l.pass(near, far)
		go l.pass(far, near)
	}
}

// pass copies one direction; the end of either ends both.
func (l *link) pass(from, to net.Conn) {
	_, _ = io.Copy(gated{to, &l.gate}, from)
	_, _ = from.Close(), to.Close()
	l.mutex.Lock()
	defer l.mutex.Unlock()
	delete(l.ends, from)
	delete(l.ends, to)
}

type gated struct {
	net.Conn
	gate *sync.RWMutex
}

func (g gated) Write(p []byte) (int, error) {
	g.gate.RLock()
	defer g.gate.RUnlock()
	return g.Conn.Write(p)
}
