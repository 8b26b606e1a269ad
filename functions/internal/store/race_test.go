package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"porchlight/functions/internal/identity"
	"porchlight/functions/internal/model"
	"porchlight/functions/internal/problem"
	"porchlight/functions/internal/store"
	"porchlight/functions/internal/turn"
)

// racers ask at once.
const racers = 100

// shared is the pool of brands that have no key of their own.
var shared = []string{"shared"}

func (f fixture) openWide(t *testing.T, connections int32) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{
		URL: f.address("porchlight_runtime"), MaxConnections: connections, StatementTimeout: 30 * time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// begin begins a turn. On a busy machine a connection may not be made in time; who is told so comes back.
func begin(ctx context.Context, s *store.Store, p identity.Principal, q turn.Question) (b turn.Begun, err error) {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if b, err = s.BeginTurn(ctx, p, q, shared); code(err) != problem.DatabaseUnavailable {
			break
		}
	}
	return b, err
}

// race begins a turn of each racer at once, and returns how many may go on and the models that lead.
func race(t *testing.T, s *store.Store, p identity.Principal, refusal problem.Code) (granted int, models map[string]int) {
	t.Helper()
	models = map[string]int{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for range racers {
		all.Go(func() {
			b, err := begin(t.Context(), s, p, turn.Question{Text: "q"})
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				granted++
				if len(b.Models) > 0 {
					models[b.Models[0]]++
				}
			case code(err) != refusal:
				t.Errorf("got %v", err)
			}
		})
	}
	all.Wait()
	return granted, models
}

// limit is a cap of ten turns.
type limit struct {
	name, set, use string // use takes nine of the ten
	refusal        problem.Code
}

var limits = []limit{
	{
		"a user's minute", `update app.tenant_limits set turns_per_minute = 10`,
		`insert into private.user_minutes values ('` + aliceID + `', date_trunc('minute', now()), 9)`, problem.RateLimited,
	},
	{
		"a brand's day", `update app.tenant_limits set turns_per_day = 10`,
		`insert into private.tenant_days select id, current_date, 9 from app.tenants`, problem.TenantCapReached,
	},
	{
		"the installation's day", `update private.installation set turns_per_day = 10`,
		`update private.installation set day = current_date, turns = 9`, problem.GlobalCapReached,
	},
}

// C7 O81: a hundred requests at once never pass a cap of ten, nor does one of them get less than there is:
// over connections that are still to be made, and over those that the last hundred left.
func TestBeginTurn_GrantsExactlyTheCap(t *testing.T) {
	f := newFixture(t)
	for _, l := range limits {
		for _, connections := range []int32{1, 20} {
			for _, left := range []int{10, 1} {
				t.Run(fmt.Sprintf("%s, %d connections, %d left", l.name, connections, left), func(t *testing.T) {
					cold := func() *store.Store { return f.openWide(t, connections) }
					warm := f.raceTo(t, l, left, cold)
					f.raceTo(t, l, left, func() *store.Store { return warm })
				})
			}
		}
	}
}

// raceTo races for what is left of a limit, again if the minute turned meanwhile, and returns the store.
func (f fixture) raceTo(t *testing.T, l limit, left int, open func() *store.Store) (s *store.Store) {
	t.Helper()
	for got := -1; got != left; {
		s = open()
		minute := time.Now().Truncate(time.Minute)
		f.exec(t, `truncate private.user_minutes, private.tenant_days, app.turns cascade`)
		f.exec(t, `update private.installation set turns_per_day = 20000, turns = 0`)
		f.exec(t, `update app.tenant_limits set turns_per_minute = 1000, turns_per_day = 1000`)
		f.exec(t, l.set)
		if left == 1 {
			f.exec(t, l.use)
		}
		got, _ = race(t, s, f.alice, l.refusal)
		if isSame := time.Now().Truncate(time.Minute).Equal(minute); isSame && got != left {
			t.Fatalf("%d were granted", got)
		}
	}
	if n := f.count(t, `select count(*) from private.turn_reservations`); n != left {
		t.Errorf("%d are in the ledger", n)
	}
	return s
}

func TestBeginTurn_ReservesNoMoreCallsThanAModelHas(t *testing.T) {
	f := newFixture(t)
	f.exec(t, `update app.models set calls_per_day = 10`)
	f.exec(t, `update app.tenant_limits set turns_per_minute = 1000`)
	granted, models := race(t, f.openWide(t, 20), f.alice, "")
	if granted != racers {
		t.Errorf("%d turns began", granted)
	}
	for name, n := range models {
		if n != 10 {
			t.Errorf("%s was given to %d turns", name, n)
		}
	}
	if len(models) != 3 {
		t.Errorf("models %v", models)
	}
}

// Turns of two brands that begin, fail, are left, asked again and swept away at once: nobody waits for
// each other in a circle, and in the end the counters are the sums of the ledger.
func TestLedger_AddsUpAfterAStorm(t *testing.T) {
	f := newFixture(t)
	f.exec(t, `update app.tenant_limits set turns_per_minute = 1000, turns_per_day = 400`)
	s := f.openWide(t, 16)
	people := []identity.Principal{f.alice, f.bob, f.carol}
	var failures atomic.Int64
	var all sync.WaitGroup
	for worker := range 16 {
		all.Go(func() {
			random := rand.New(rand.NewPCG(4711, uint64(worker)))
			for range 60 {
				if err := storm(t.Context(), s, people[random.IntN(len(people))], random); err != nil {
					failures.Add(1)
					t.Errorf("worker %d: %v", worker, err)
				}
			}
		})
	}
	expiring := make(chan struct{})
	go func() { // processes die all the while
		defer close(expiring)
		for range 40 {
			f.exec(t, `set session_replication_role = replica`) // the ledger would not let anybody
			f.exec(t, `update private.turn_reservations r
				set lease_ends_at = now(), minute = minute - interval '5 minutes' where (tenant_id, turn_id, run) in (
				select o.tenant_id, o.turn_id, o.run from private.turn_reservations o
				where o.state = 'open' and random() < 0.3 for update skip locked)`)
			time.Sleep(20 * time.Millisecond)
		}
	}()
	all.Wait()
	<-expiring
	for name, query := range map[string]string{
		"brand": `select count(*) from private.tenant_days d where d.turns <> (select count(*)
			from private.turn_reservations r where r.tenant_id = d.tenant_id and r.day = d.day and r.state <> 'refunded')`,
		"installation": `select count(*) from private.installation i where i.turns <> (select count(*)
			from private.turn_reservations r where r.global_day = i.day and r.state <> 'refunded')`,
		// a lease is longer than a minute, so what a dead process took from it is not given back
		"user": `select count(*) from private.user_minutes m where m.turns < (select count(*)
			from private.turn_reservations r where r.user_id = m.user_id and r.minute = m.minute and r.state <> 'refunded')
			and m.minute > now() - interval '1 minute'`,
		"model": `select count(*) from private.model_days d where d.calls <> (select count(*)
			from private.call_reservations c where c.model = d.model and c.pool = d.pool and c.day = d.day and c.state <> 'refunded')`,
		"call of a closed turn": `select count(*) from private.call_reservations c
			join private.turn_reservations r using (tenant_id, turn_id, run) where c.state = 'open' and r.state <> 'open'`,
	} {
		if n := f.count(t, query); n != 0 {
			t.Errorf("%s: %d sums are wrong", name, n)
		}
	}
	t.Logf("%d turns, %d refunded, %d failures", f.count(t, `select count(*) from app.turns`),
		f.count(t, `select count(*) from private.turn_reservations where state = 'refunded'`), failures.Load())
}

// storm takes one turn to a random end, perhaps twice.
func storm(ctx context.Context, s *store.Store, p identity.Principal, random *rand.Rand) error {
	q := turn.Question{Text: "q", TurnID: uuid.NewString()}
	for range 1 + random.IntN(2) {
		b, err := begin(ctx, s, p, q)
		if isLimit(err) || err == nil && b.State != turn.Open {
			return nil
		}
		if err != nil {
			return err
		}
		done := turn.Finished{TurnID: b.TurnID, Run: b.Run, Status: []string{"no_match", "failed", "aborted"}[random.IntN(3)]}
		if len(b.Models) > 0 {
			done.Attempts = append(done.Attempts, model.Attempt{Model: b.Models[0], Outcome: model.OutcomeUnavailable})
		}
		if random.IntN(2) == 0 && len(b.Models) > 1 {
			isReserved, err := s.ReserveCall(ctx, p, b.TurnID, b.Run, b.Models[1])
			if err != nil && code(err) != problem.NotFound {
				return err
			}
			if isReserved {
				done.Attempts = append(done.Attempts, model.Attempt{Model: b.Models[1], Outcome: model.OutcomeOK})
			}
		}
		if random.IntN(8) == 0 {
			return nil // the process dies
		}
		// a turn whose lease was ended is somebody else's
		if err := s.FinishTurn(ctx, p, done); err != nil && code(err) != problem.NotFound {
			return err
		}
	}
	return nil
}

func isLimit(err error) bool {
	var p *problem.Error
	return errors.As(err, &p) && (p.Code == problem.RateLimited || p.Code == problem.TenantCapReached)
}
