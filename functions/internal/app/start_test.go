package app

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"testing"
	"time"
)

// door is an address at which a database may appear later.
type door struct{ address, target string }

// newDoor returns a closed door, and the given address of a database by way of it.
func newDoor(t *testing.T, address string) (door, string) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := door{listener.Addr().String(), u.Host}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	u.Host = d.address
	return d, u.String()
}

// open lets connections through until the end of the test.
func (d door) open(t *testing.T) {
	t.Helper()
	listener, err := net.Listen("tcp4", d.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp4", d.target)
			if err != nil {
				near.Close()
				continue
			}
			pass := func(from, to net.Conn) { _, _ = io.Copy(to, from); from.Close(); to.Close() }
			go pass(near, far)
			go pass(far, near)
		}
	}()
}

// settled asks until the App no longer says that the database is away.
func (f fixture) settled(ctx context.Context, a *App) reply {
	for deadline := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		if r := f.ask(ctx, a); !r.isBusy() || time.Now().After(deadline) {
			return r
		}
	}
}

// P5: a process that starts while the database is away says so, and serves once it is there.
func TestNew_StartsWithoutTheDatabase(t *testing.T) {
	f := newFixture(t)
	d, address := newDoor(t, server.RuntimeURL(f.name))
	a, err := f.open(t.Context(), address, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	defer a.store.Close()
	if r := f.ask(t.Context(), a); !r.isBusy() {
		t.Errorf("while it is away: %+v", r)
	}
	d.open(t)
	if r := f.settled(t.Context(), a); !r.isAnswer() {
		t.Errorf("when it is there: %+v", r)
	}
}

// E5: a login that no policy holds does not serve, whether the start could find that out or not.
func TestNew_NeverServesAsALoginThatNoPolicyHolds(t *testing.T) {
	f := newFixture(t)
	if a, err := f.open(t.Context(), server.AdminURL(f.name), io.Discard); err == nil {
		a.store.Close()
		t.Error("it started")
	}
	d, address := newDoor(t, server.AdminURL(f.name))
	a, err := f.open(t.Context(), address, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	defer a.store.Close()
	d.open(t)
	for range 2 {
		if r := f.settled(t.Context(), a); r.status != http.StatusInternalServerError || r.answer != "internal" {
			t.Errorf("got %+v", r)
		}
	}
	if n := f.count(t, `select count(*) from app.turns`); n != 0 {
		t.Errorf("%d turns were begun", n)
	}
}
