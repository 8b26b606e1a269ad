package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// race is many workers who begin turns, reserve calls of models and finish, all as people of the brands and
// through the doors that the functions use. A model would only be slow, so none is asked.
type race struct {
	pool    *pgxpool.Pool
	claims  []string       // of each person
	last    []atomic.Value // of each person: the id of a turn, to be asked once more
	limit   int64
	taken   atomic.Int64 // turns
	begun   atomic.Int64 // runs
	refused atomic.Int64
	left    atomic.Int64 // turns whose process died
	calls   atomic.Int64 // that were reserved beside the first ones
}

// raceTurns takes 10,000 turns to a random end by 24 workers at once, while processes die: nobody waits for
// each other in a circle, and in the end each counter is the sum of its ledger. L1 D6 D7
func raceTurns(ctx context.Context, w *world) (row, error) {
	const turns, workers = 10_000, 24
	r := row{name: "turns of everybody to a random end", requests: turns, racers: workers}
	g := &race{limit: turns}
	if err := g.open(ctx, w, workers); err != nil {
		return r, fmt.Errorf("prepare the race: %w", err)
	}
	defer g.pool.Close()
	var before, after int
	if err := w.db.QueryRow(ctx, deadlocks).Scan(&before); err != nil {
		return r, err
	}
	racing, over := context.WithCancel(ctx)
	defer over()
	dying := make(chan error, 1)
	go func() { dying <- g.killProcesses(racing, w.db) }()
	failures := make([]error, workers)
	var working sync.WaitGroup
	begun := time.Now()
	for worker := range workers {
		working.Go(func() {
			random := rand.New(rand.NewPCG(4711, uint64(worker)))
			for failures[worker] == nil && g.taken.Add(1) <= g.limit {
				failures[worker] = g.takeTurn(ctx, random)
			}
		})
	}
	working.Wait()
	took := time.Since(begun)
	over()
	err := errors.Join(append(failures, <-dying)...)
	var deadlock *pgconn.PgError
	if err != nil && !(errors.As(err, &deadlock) && deadlock.Code == "40P01") {
		return r, err
	}
	g.pool.Close() // with the connections goes what they counted
	if err := w.db.QueryRow(ctx, deadlocks).Scan(&after); err != nil {
		return r, err
	}
	wrong, err := w.settleLedger(ctx)
	r.figures = fmt.Sprintf("%d runs begun, %d refused by a limit, %d left by a dead process, %d further calls reserved, "+
		"%d deadlocks, %d counters or entries wrong, %.0f turns a second", g.begun.Load(), g.refused.Load(), g.left.Load(),
		g.calls.Load(), after-before, wrong, turns/took.Seconds())
	r.isHeld = after == before && deadlock == nil && wrong == 0 && min(g.refused.Load(), g.left.Load(), g.calls.Load()) > 0
	return r, err
}

const deadlocks = `select deadlocks from pg_stat_database where datname = current_database()`

// scarce makes limits of a minute, of a day and of the models end in the middle of the race, and gives two
// brands another key.
const scarce = `
	with models as (update app.models set calls_per_day = 1000),
	keys as (update app.tenants set quota_pool = 'demo' where id in ($1::uuid, $2::uuid)),
	minute as (update app.tenant_limits set turns_per_minute = 60 where tenant_id = $1::uuid)
	update app.tenant_limits l set turns_per_day = 200 + (
		select coalesce(sum(d.turns), 0) from private.tenant_days d where d.tenant_id = l.tenant_id)
	where tenant_id = $2::uuid`

func (g *race) open(ctx context.Context, w *world, connections int32) error {
	n := len(w.brands)
	if _, err := w.db.Exec(ctx, scarce, w.brands[n-1].id, w.brands[n-2].id); err != nil {
		return err
	}
	rows, err := w.db.Query(ctx, `select json_build_object('sub', user_id, 'role', 'authenticated',
		'app_metadata', json_build_object('tenant_id', tenant_id))::text from app.members order by 1`)
	if err == nil {
		g.claims, err = pgx.CollectRows(rows, pgx.RowTo[string])
	}
	if err != nil {
		return err
	}
	g.last = make([]atomic.Value, len(g.claims))
	address, err := w.RuntimeURL(ctx)
	if err != nil {
		return err
	}
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		return err
	}
	config.MaxConns, config.ConnConfig.DefaultQueryExecMode = connections, pgx.QueryExecModeExec
	g.pool, err = pgxpool.NewWithConfig(ctx, config)
	return err
}

// takeTurn takes a turn of somebody to a random end, perhaps twice; it may be one that another worker has
// just taken, or takes now.
func (g *race) takeTurn(ctx context.Context, random *rand.Rand) error {
	who, id := random.IntN(len(g.claims)), uuid.NewString()
	if earlier, ok := g.last[who].Swap(id).(string); ok && random.IntN(5) == 0 {
		id = earlier
	}
	for range 1 + random.IntN(2) {
		var run int
		var state string
		var models []string
		err := g.as(ctx, who, []any{&run, &state, &models}, `select run, state, models
			from api.begin_turn('q', $1::uuid, null, null, '{shared,demo}')`, id)
		if err != nil || state != "begun" {
			if state == "refused" {
				g.refused.Add(1)
			}
			return err
		}
		g.begun.Add(1)
		attempts, err := g.callModels(ctx, random, who, id, run, models)
		if err != nil {
			return spareEnded(err)
		}
		if random.IntN(8) == 0 {
			g.left.Add(1)
			return nil
		}
		var isDone bool
		err = g.as(ctx, who, []any{&isDone}, `select api.finish_turn($1::uuid, $2::integer, $3, null, null, null, null,
			null, $4::jsonb, '{}', '{}', '{}')`, id, run, []string{"no_match", "failed", "aborted"}[random.IntN(3)], attempts)
		if err != nil {
			return spareEnded(err)
		}
	}
	return nil
}

// callModels reserves calls of some of the models and says, as JSON, how they went. The first call of the
// first one is reserved with the begin of the run, and may not be made.
func (g *race) callModels(ctx context.Context, random *rand.Rand, who int, id string, run int, models []string) (string, error) {
	type call struct {
		Model   string `json:"model"`
		Outcome string `json:"outcome"`
	}
	made := []call{}
	for i, model := range models {
		isMade := i == 0 && random.IntN(4) > 0
		if i > 0 && random.IntN(2) == 0 {
			err := g.as(ctx, who, []any{&isMade}, `select api.reserve_call($1::uuid, $2::integer, $3)`, id, run, model)
			if err != nil {
				return "", err
			}
			if isMade {
				g.calls.Add(1)
			}
		}
		if isMade {
			made = append(made, call{model, []string{"ok", "unavailable", "guard"}[random.IntN(3)]})
		}
	}
	text, err := json.Marshal(made)
	return string(text), err
}

// spareEnded is the error, unless it says that the run has ended: it was taken for one of a dead process.
func spareEnded(err error) error {
	var refusal *pgconn.PgError
	if errors.As(err, &refusal) && refusal.Code == "PT404" {
		return nil
	}
	return err
}

// as calls a door as somebody, in one transaction and one round trip, like the functions.
func (g *race) as(ctx context.Context, who int, into []any, door string, arguments ...any) error {
	batch := &pgx.Batch{}
	batch.Queue(`select set_config('role', 'authenticated', true), set_config('request.jwt.claims', $1, true)`, g.claims[who])
	batch.Queue(door, arguments...).QueryRow(func(row pgx.Row) error { return row.Scan(into...) })
	return g.pool.SendBatch(ctx, batch).Close()
}

// age makes runs as old as those are which a process left five minutes ago: what they took of a minute is
// of another one.
const age = `with aged as (
		update private.turn_reservations r
		set minute = r.minute - interval '6 minutes', lease_ends_at = now() - interval '1 second'
		where (r.tenant_id, r.turn_id, r.run) in (
			select o.tenant_id, o.turn_id, o.run from private.turn_reservations o
			where o.state = 'open' and random() < $1 for no key update skip locked)
		returning r.user_id, r.minute + interval '6 minutes' as minute)
	update private.user_minutes m set turns = m.turns - a.turns
	from (select user_id, minute, count(*) as turns from aged group by user_id, minute) a
	where m.user_id = a.user_id and m.minute = a.minute`

// ageRuns ages that share of the open runs. The ledger would not let anybody.
func ageRuns(ctx context.Context, db *pgx.Conn, share float64) error {
	return pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `set local session_replication_role = replica`)
		if err == nil {
			_, err = tx.Exec(ctx, age, share)
		}
		return err
	})
}

// killProcesses ages some of what runs, until the race is over.
func (g *race) killProcesses(racing context.Context, db *pgx.Conn) error {
	for racing.Err() == nil {
		if err := ageRuns(context.WithoutCancel(racing), db, 0.1); err != nil {
			return fmt.Errorf("age runs: %w", err)
		}
		time.Sleep(50 * time.Millisecond)
	}
	return nil
}

// settleLedger lets the dead be noticed, and counts what is wrong: counters that are not the sums of their
// ledger or above their cap, entries that are open though their turn is not.
func (w *world) settleLedger(ctx context.Context) (wrong int, err error) {
	if err := ageRuns(ctx, w.db, 2); err != nil {
		return 0, err
	}
	for returned := 1; returned > 0; { // not all of a brand at once
		if err := w.db.QueryRow(ctx, `select private.return_expired(now())`).Scan(&returned); err != nil {
			return 0, err
		}
	}
	invariants, err := os.ReadFile("tests/sql/testdata/data_invariants.sql")
	if err != nil {
		return 0, err
	}
	tx, err := w.db.Begin(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback(ctx) }() // they were never there
	if _, err := tx.Exec(ctx, string(invariants)); err != nil {
		return 0, err
	}
	err = tx.QueryRow(ctx, `select sum(test.count_of(i.finds)) from test.invariants i where i.id in ('D6', 'D7', 'D8')`).Scan(&wrong)
	return wrong, err
}
