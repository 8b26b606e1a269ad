package e2e

import (
	"context"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
)

// link stands between a server and its Postgres and can be cut, as when the database stops, or held,
// as when a network swallows packets. It works the same on any Postgres.
type link struct {
	address, target string

	gate  sync.RWMutex // held for writing while nothing may pass
	mutex sync.Mutex   // guards the rest
	door  net.Listener // nil while cut
	ends  map[net.Conn]bool
}

func openLink(t *testing.T) *link {
	t.Helper()
	target, err := url.Parse(cluster.AdminURL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	l := &link{address: "127.0.0.1:0", target: target.Host, ends: map[net.Conn]bool{}}
	l.mend(t)
	t.Cleanup(l.cut)
	return l
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

// mend lets connections through, at the address that the link had before.
func (l *link) mend(t *testing.T) {
	t.Helper()
	door, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp4", l.address)
	if err != nil {
		t.Fatal(err)
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.door, l.address = door, door.Addr().String()
	go l.accept(door)
}

// cut ends all connections and lets none through.
func (l *link) cut() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.door != nil {
		_ = l.door.Close()
	}
	for end := range l.ends {
		_ = end.Close()
	}
	l.door, l.ends = nil, map[net.Conn]bool{}
}

// hold stops every byte on its way until release.
func (l *link) hold()    { l.gate.Lock() }
func (l *link) release() { l.gate.Unlock() }

func (l *link) accept(door net.Listener) {
	for {
		near, err := door.Accept()
		if err != nil {
			return
		}
		far, err := (&net.Dialer{}).DialContext(context.Background(), "tcp4", l.target)
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
