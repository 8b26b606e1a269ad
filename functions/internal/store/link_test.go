package store_test

import (
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"

	"porchlight/functions/internal/store"
)

// link is a proxy in front of the server. It counts round trips, how often the client speaks again after
// the server has answered, and can lose answers: the server did what it was asked, and nobody hears of it.
type link struct {
	net.Listener
	mu     sync.Mutex
	answer bool // the server spoke last
	trips  int
	losing int // answers to batches that are still to be lost
}

// openThrough opens a store of one connection through a link.
func (f fixture) openThrough(t *testing.T, role string) (*store.Store, *link) {
	t.Helper()
	address, err := url.Parse(f.address(role))
	if err != nil {
		t.Fatal(err)
	}
	l := newLink(t, address.Host)
	address.Host = l.Addr().String()
	s, err := store.Open(t.Context(), store.Options{URL: address.String(), MaxConnections: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, l
}

func newLink(t *testing.T, target string) *link {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &link{Listener: listener, answer: true}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			upstream, err := net.Dial("tcp", target)
			if err != nil {
				client.Close()
				return
			}
			l.carry(client, upstream)
		}
	}()
	return l
}

// parse is the first byte of a batch; what a client says while it connects begins with others.
const parse = 'P'

// carry passes both directions on until either side ends or an answer is lost.
func (l *link) carry(client, upstream net.Conn) {
	var isConnected atomic.Bool
	go pass(client, upstream, func(said []byte) bool {
		if said[0] == parse {
			isConnected.Store(true)
		}
		l.speak(false)
		return true
	})
	go pass(upstream, client, func([]byte) bool {
		l.speak(true)
		return !isConnected.Load() || !l.loses()
	})
}

func pass(from, to net.Conn, may func([]byte) bool) {
	defer from.Close()
	defer to.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil || !may(buffer[:n]) {
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

func (l *link) speak(isAnswer bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !isAnswer && l.answer {
		l.trips++
	}
	l.answer = isAnswer
}

// lose loses the next answers to batches, each with its connection.
func (l *link) lose(answers int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.losing = answers
}

func (l *link) loses() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.losing == 0 {
		return false
	}
	l.losing--
	return true
}

func (l *link) count(work func()) int {
	l.mu.Lock()
	before := l.trips
	l.mu.Unlock()
	work()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.trips - before
}
