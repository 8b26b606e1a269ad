package store_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"porchlight/functions/internal/problem"
	"porchlight/functions/internal/store"
	"porchlight/functions/internal/turn"
)

// patience is how long a test waits for what has to happen at some time.
const patience = 60 * time.Second

// step is one of the three transactions of a turn.
type step struct {
	name    string
	table   string // that it needs, and begin does not
	isRead  bool
	perform func(ctx context.Context, s *store.Store) error
}

// steps are those of a new turn, which stands before its match; begin is that of yet another one.
func (f fixture) steps(t *testing.T, s *store.Store) []step {
	t.Helper()
	const question = "What does Flex cost?"
	begun, err := s.BeginTurn(t.Context(), f.alice, turn.Question{Text: question}, nil)
	if err != nil {
		t.Fatal(err)
	}
	matches, err := s.MatchChunks(t.Context(), f.alice, search(question))
	if err != nil || len(matches) != 1 {
		t.Fatal(len(matches), err)
	}
	return []step{
		{"begin", "app.personas", false, func(ctx context.Context, s *store.Store) error {
			_, err := s.BeginTurn(ctx, f.alice, turn.Question{Text: question, TurnID: uuid.NewString()}, nil)
			return err
		}},
		{"match", "app.chunk_terms", true, func(ctx context.Context, s *store.Store) error {
			found, err := s.MatchChunks(ctx, f.alice, search(question))
			if err == nil && len(found) != 1 {
				t.Errorf("%d matches, want 1", len(found))
			}
			return err
		}},
		{"finish", "app.turn_sources", false, func(ctx context.Context, s *store.Store) error {
			return s.FinishTurn(ctx, f.alice, turn.Finished{
				TurnID: begun.TurnID, Run: begun.Run, Status: turn.Answered, Answer: "12,50 €.", Used: matches,
			})
		}},
	}
}

// hold locks a table on a connection of its own until the returned function is called.
func (f fixture) hold(t *testing.T, table string) (release func()) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), server.AdminURL(f.name))
	if err == nil {
		_, err = conn.Exec(t.Context(), "begin; lock table "+table+" in access exclusive mode")
	}
	if err != nil {
		t.Fatal(err)
	}
	release = sync.OnceFunc(func() { conn.Close(context.Background()) })
	t.Cleanup(release)
	return release
}

// runtimeAtWork are the connections of the runtime login in the database that are in a statement.
const runtimeAtWork = `from pg_stat_activity where usename = 'porchlight_runtime' and datname = current_database()
	and state <> 'idle'`

// awaitAtWork waits until so many statements of the runtime login are at work.
func (f fixture) awaitAtWork(t *testing.T, n int) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for f.count(t, `select count(*) `+runtimeAtWork) != n {
		if time.Now().After(deadline) {
			t.Fatalf("there were never %d statements at work", n)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// written says what has been written: turns, open ones, and chunks that an answer used.
func (f fixture) written(t *testing.T) [3]int {
	t.Helper()
	return [3]int{
		f.count(t, `select count(*) from app.turns`),
		f.count(t, `select count(*) from app.turns where status = 'running'`),
		f.count(t, `select count(*) from app.turn_sources`),
	}
}

// writes is what each step adds to that when it succeeds.
var writes = map[string][3]int{"begin": {1, 1, 0}, "match": {0, 0, 0}, "finish": {0, -1, 1}}

func (f fixture) wantWritten(t *testing.T, before, more [3]int) {
	t.Helper()
	for i := range before {
		before[i] += more[i]
	}
	if after := f.written(t); after != before {
		t.Errorf("turns, open ones and sources are %v, want %v", after, before)
	}
}

// held is a step of a turn while somebody holds a table that it needs.
type held struct {
	fixture
	isRead  bool
	perform func(ctx context.Context) error
	release func()
}

// eachStep runs the test for each step of a turn, held. Unless it says that the step is done, nothing of it
// may be written, and taken again it works, once.
func eachStep(t *testing.T, limit time.Duration, test func(t *testing.T, h held) (isDone bool)) {
	t.Helper()
	f := newFixture(t)
	db := f.open(t, "porchlight_runtime")
	index(t, db, f.bob, "prices/a.md", "Flex costs 12,50 € a month.")
	for i, name := range []string{"begin", "match", "finish"} {
		t.Run(name, func(t *testing.T) {
			s := f.steps(t, db)[i]
			before := f.written(t)
			h := held{f, s.isRead, func(ctx context.Context) error { return s.perform(ctx, db.Within(limit)) }, f.hold(t, s.table)}
			isDone := test(t, h)
			f.awaitAtWork(t, 0)
			h.release()
			if !isDone {
				f.wantWritten(t, before, [3]int{})
				if err := s.perform(t.Context(), db); err != nil {
					t.Errorf("taken again: %v", err)
				}
			}
			f.wantWritten(t, before, writes[name])
		})
	}
}

// P3: the limit of a statement travels in its transaction, since a pooler refuses it in the address.
func TestStore_CutsAStatementThatTakesTooLong(t *testing.T) {
	eachStep(t, 500*time.Millisecond, func(t *testing.T, h held) bool {
		err := h.perform(t.Context())
		if code(err) != problem.DatabaseUnavailable || !strings.Contains(err.Error(), "SQLSTATE 57014") {
			t.Errorf("got %v", err)
		}
		return false
	})
}

func TestStore_LeavesNothingRunningWhenACallIsCancelled(t *testing.T) {
	eachStep(t, time.Minute, func(t *testing.T, h held) bool {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		result := make(chan error)
		go func() { result <- h.perform(ctx) }()
		h.awaitAtWork(t, 1)
		cancelled := time.Now()
		cancel()
		if err := <-result; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		h.awaitAtWork(t, 0)
		t.Logf("gone %s after the call was cancelled", time.Since(cancelled).Round(time.Millisecond))
		return false
	})
}

// O110: a read is taken once more, a write never: it fails with 503 and nothing of it stays.
func TestStore_BackendKilledInTheMiddle(t *testing.T) {
	eachStep(t, time.Minute, func(t *testing.T, h held) bool {
		result := make(chan error)
		go func() { result <- h.perform(t.Context()) }()
		h.awaitAtWork(t, 1)
		if n := h.count(t, `select count(pg_terminate_backend(pid, 60000)) `+runtimeAtWork); n != 1 {
			t.Errorf("%d were killed", n)
		}
		h.release() // what is taken once more goes through
		err := <-result
		if h.isRead {
			if err != nil {
				t.Errorf("a read: %v", err)
			}
			return true
		}
		if p := problem.From(err); err == nil || p.Code != problem.DatabaseUnavailable || p.RetryAfter == 0 {
			t.Errorf("a write: %v", err)
		}
		return false
	})
}

// O110: when the server has ended all idle connections, the way to a new one leads past none of them.
func TestStore_AllIdleConnectionsKilledAtOnce(t *testing.T) {
	f := newFixture(t)
	index(t, f.open(t, "porchlight_runtime"), f.bob, "prices/a.md", "Flex costs 12,50 € a month.")
	s, err := store.Open(t.Context(), store.Options{URL: server.RuntimeURL(f.name), MaxConnections: 4})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	steps := f.steps(t, s)
	begin, match := steps[0], steps[1]
	atOnce := 4
	if os.Getenv("PORCHLIGHT_POOLER") != "" {
		atOnce = 2 // the pooler has no more
	}
	for range 3 {
		release := f.hold(t, match.table)
		var reads sync.WaitGroup
		for range 4 {
			reads.Go(func() {
				if err := match.perform(t.Context(), s); err != nil {
					t.Error(err)
				}
			})
		}
		f.awaitAtWork(t, atOnce)
		release()
		reads.Wait()
		f.killRuntime(t)
		if err := match.perform(t.Context(), s); err != nil {
			t.Errorf("a read: %v", err)
		}
		f.killRuntime(t)
		before, want := f.written(t), writes["begin"]
		if err := begin.perform(t.Context(), s); err != nil {
			// not every system delivers the server's last word once the connection is gone
			want = [3]int{}
			if code(err) != problem.DatabaseUnavailable {
				t.Errorf("a write: %v", err)
			}
		}
		f.wantWritten(t, before, want)
	}
}

// A call that finds every connection taken gives up like one that finds a silent server.
func TestStore_SaysThatEveryConnectionIsBusy(t *testing.T) {
	f := newFixture(t)
	s := f.open(t, "porchlight_runtime") // has one
	index(t, s, f.bob, "prices/a.md", "Flex costs 12,50 € a month.")
	match := f.steps(t, s)[1]
	release := f.hold(t, match.table)
	result := make(chan error)
	go func() { result <- match.perform(t.Context(), s.Within(time.Minute)) }()
	f.awaitAtWork(t, 1)
	err := match.perform(t.Context(), s.Within(100*time.Millisecond))
	if p := problem.From(err); p.Code != problem.DatabaseUnavailable || p.RetryAfter == 0 {
		t.Errorf("got %v", err)
	}
	release()
	if err := <-result; err != nil {
		t.Errorf("the one that had it: %v", err)
	}
}
