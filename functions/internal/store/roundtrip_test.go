package store_test

import (
	"net"
	"net/url"
	"sync"
	"testing"

	"porchlight/functions/internal/store"
	"porchlight/functions/internal/turn"
)

// link is a proxy in front of the server that counts round trips: how often the client speaks again
// after the server has answered.
type link struct {
	net.Listener
	mu     sync.Mutex
	answer bool // the server spoke last
	trips  int
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
			go l.pass(client, upstream, false)
			go l.pass(upstream, client, true)
		}
	}()
	return l
}

func (l *link) pass(from, to net.Conn, isAnswer bool) {
	defer to.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		l.mu.Lock()
		if !isAnswer && l.answer {
			l.trips++
		}
		l.answer = isAnswer
		l.mu.Unlock()
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
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

func TestStore_TakesOneRoundTripForEachTransaction(t *testing.T) {
	f := newFixture(t)
	address, err := url.Parse(server.URL("porchlight_runtime", f.name))
	if err != nil {
		t.Fatal(err)
	}
	l := newLink(t, address.Host)
	address.Host = l.Addr().String()
	s, err := store.Open(t.Context(), store.Options{URL: address.String(), MaxConnections: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Check(t.Context()); err != nil { // connects
		t.Fatal(err)
	}
	var begun turn.Begun
	steps := []struct {
		name string
		work func() error
	}{
		{"begin", func() (err error) {
			begun, err = s.BeginTurn(t.Context(), f.alice, turn.Question{Text: "q"}, nil)
			return err
		}},
		{"match", func() error { _, err := s.MatchChunks(t.Context(), f.alice, search("q")); return err }},
		{"finish", func() error {
			return s.FinishTurn(t.Context(), f.alice, turn.Finished{TurnID: begun.TurnID, Run: begun.Run, Status: turn.NoMatch})
		}},
	}
	for _, step := range steps {
		if n := l.count(func() { err = step.work() }); err != nil || n != 1 {
			t.Errorf("%s took %d round trips, want 1 (%v)", step.name, n, err)
		}
	}
}
