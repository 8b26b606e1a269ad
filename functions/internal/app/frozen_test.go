package app

import (
	"context"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// working returns the goroutines that run the project's code, by the line that names each.
func working() map[string]string {
	stacks := make([]byte, 4<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	found := map[string]string{}
	for stack := range strings.SplitSeq(string(stacks), "\n\n") {
		name, frames, _ := strings.Cut(stack, " ")
		id, _, _ := strings.Cut(frames, " ")
		if strings.Contains(frames, "porchlight/functions/internal/") {
			found[name+" "+id] = stack
		}
	}
	return found
}

// The platform may stop the process as soon as the handler has returned, and start it again hours later. So
// everything is done by then: no goroutine is at work, no statement runs, no turn is open. P8 O111
func TestAsk_IsDoneWhenTheHandlerReturns(t *testing.T) {
	f := newFixture(t)
	a, err := f.open(t.Context(), server.RuntimeURL(f.name), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	defer a.store.Close()
	before := working()
	done := func(name string) {
		t.Helper()
		for id, stack := range working() {
			if _, known := before[id]; !known {
				t.Errorf("%s: still at work:\n%s", name, stack)
			}
		}
		if n := f.count(t, `select count(*) from pg_stat_activity where usename = 'porchlight_runtime'
			and datname = current_database() and state <> 'idle'`); n != 0 {
			t.Errorf("%s: %d statements still run", name, n)
		}
		if n := f.count(t, `select count(*) from app.turns where status = 'running'`); n != 0 {
			t.Errorf("%s: %d turns are open", name, n)
		}
	}

	for range 5 {
		if r := f.ask(t.Context(), a); !r.isAnswer() {
			t.Fatalf("%+v", r)
		}
		done("an answer")
	}
	for _, c := range []struct {
		name   string
		within time.Duration // after which the client leaves
		status int           // 0: nobody is told
	}{
		{"a client that leaves", 100 * time.Millisecond, 0},
		{"a search that is cut", patience, http.StatusServiceUnavailable},
	} {
		unlock := f.lock(t, `lock table app.chunk_terms in access exclusive mode`)
		ctx, cancel := context.WithCancel(t.Context())
		left := time.AfterFunc(c.within, cancel)
		if r := f.ask(ctx, a); c.status != 0 && r.status != c.status {
			t.Errorf("%s: %+v", c.name, r)
		}
		done(c.name)
		left.Stop()
		cancel()
		unlock()
	}
	if n := f.count(t, `select count(*) from app.turns`); n != 7 {
		t.Errorf("%d turns are logged, want 7", n)
	}
}

// lock holds a lock on a connection of its own until the returned function is called.
func (f fixture) lock(t *testing.T, statement string) (unlock func()) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), server.AdminURL(f.name))
	if err == nil {
		_, err = conn.Exec(t.Context(), "begin; "+statement)
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := conn.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
