package e2e

import (
	"context"
	"net"
	"net/url"
	"sync"
	"testing"
)

// tap stands between a process and its Postgres, counts what the process says, and after so many bytes
// lets no further one through: the process then stands still in the middle of whatever it was doing.
type tap struct {
	address string
	reached chan struct{} // closed when the bytes are spent
	target  string

	mutex sync.Mutex
	left  int // bytes that may still pass; below zero: all
	said  int
}

// openTap opens a tap for that many bytes; below zero for all.
func openTap(t *testing.T, bytes int) *tap {
	t.Helper()
	target, err := url.Parse(cluster.AdminURL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	door, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = door.Close() })
	p := &tap{address: door.Addr().String(), reached: make(chan struct{}), target: target.Host, left: bytes}
	go p.accept(door)
	return p
}

func (p *tap) accept(door net.Listener) {
	for {
		near, err := door.Accept()
		if err != nil {
			return
		}
		far, err := (&net.Dialer{}).DialContext(context.Background(), "tcp4", p.target)
		if err != nil {
			_ = near.Close()
			continue
		}
		go p.pass(near, far, p.measure)
		go p.pass(far, near, func(b []byte) []byte { return b })
	}
}

// pass copies one direction; the end of either ends both, so that Postgres sees a process die.
func (p *tap) pass(from, to net.Conn, filter func([]byte) []byte) {
	defer func() { _, _ = from.Close(), to.Close() }()
	buffer := make([]byte, 16<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		if b := filter(buffer[:n]); len(b) > 0 {
			if _, err := to.Write(b); err != nil {
				return
			}
		}
	}
}

// measure returns what of b may pass.
func (p *tap) measure(b []byte) []byte {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.said += len(b)
	if p.left < 0 || len(b) < p.left {
		if p.left >= 0 {
			p.left -= len(b)
		}
		return b
	}
	if p.left > 0 {
		b, p.left = b[:p.left], 0
		close(p.reached)
		return b
	}
	return nil
}

// bytes is what the process has said so far.
func (p *tap) bytes() int {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.said
}
