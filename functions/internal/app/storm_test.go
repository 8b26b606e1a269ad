package app

import (
	"io"
	"strconv"
	"sync"
	"testing"
	"time"
)

// handlers is how many processes a busy minute brings. Postgres, or the pooler, takes 100 connections.
const handlers = 200

// P5: each cold handler answers, or says 503 and when to come back; none hangs, and when the storm is over
// all of them work, though nobody restarts anything.
func TestAsk_StormOfColdHandlersAnswersOrSaysWhenToComeBack(t *testing.T) {
	f := newFixture(t)
	apps, replies := make([]*App, handlers), make([]reply, handlers)
	each := func(workers int, work func(i int)) {
		var group sync.WaitGroup
		next := make(chan int)
		for range workers {
			group.Go(func() {
				for i := range next {
					work(i)
				}
			})
		}
		for i := range handlers {
			next <- i
		}
		close(next)
		group.Wait()
	}
	each(handlers, func(i int) {
		began := time.Now()
		a, err := f.open(t.Context(), server.RuntimeURL(f.name), io.Discard)
		if err != nil {
			t.Errorf("handler %d did not start: %v", i, err)
			return
		}
		apps[i], replies[i] = a, f.ask(t.Context(), a)
		replies[i].took = time.Since(began)
	})
	defer func() {
		for _, a := range apps {
			if a != nil {
				a.store.Close()
			}
		}
	}()
	if t.Failed() {
		t.FailNow()
	}
	answered, slowest := 0, map[bool]time.Duration{}
	for i, r := range replies {
		if !r.isAnswer() && !r.isBusy() {
			t.Errorf("handler %d: %+v", i, r)
		}
		if r.isAnswer() {
			answered++
		}
		slowest[r.isAnswer()] = max(slowest[r.isAnswer()], r.took)
	}
	t.Logf("%d of %d answered within %s, the others had their 503 within %s", answered, handlers,
		slowest[true].Round(time.Millisecond), slowest[false].Round(time.Millisecond))
	if max(slowest[true], slowest[false]) > 20*time.Second { // a busy machine, but no hang
		t.Error("one hung")
	}
	if n := f.count(t, `select count(*) from app.turns where status = 'answered'`); n != answered {
		t.Errorf("%d turns are logged as answered, %d were", n, answered)
	}

	deadline := time.Now().Add(patience)
	each(8, func(i int) {
		for {
			r := f.ask(t.Context(), apps[i])
			if r.isAnswer() {
				return
			}
			wait, err := strconv.Atoi(r.retryAfter)
			if !r.isBusy() || err != nil || time.Now().After(deadline) {
				t.Errorf("handler %d after the storm: %+v", i, r)
				return
			}
			time.Sleep(time.Duration(wait) * time.Second)
		}
	})
}
