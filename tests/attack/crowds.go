package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"sync"
)

// mixCrowds lets eight people of each of eight brands ask the same words at once, 2,000 times, over the few
// connections that the server has. Each has to be told the price of the own brand, and the turn has to be
// stored there. O68 O69
func mixCrowds(ctx context.Context, w *world) (row, error) {
	const workers, questions = 8, 2000
	r := row{name: "the same words of 8 brands at once", requests: questions, racers: workers * len(w.brands)}
	var mutex sync.Mutex
	var failed error
	own, told := 0, 0
	var working sync.WaitGroup
	for i := range r.racers {
		b := w.brands[i%len(w.brands)]
		share := questions / r.racers
		if i < questions%r.racers {
			share++
		}
		working.Go(func() {
			for range share {
				reply, err := w.Send(ctx, http.MethodPost, "/v1/ask", b.rep, map[string]string{"question": question})
				if err == nil {
					err = reply.Refused()
				}
				mutex.Lock()
				if err != nil && failed == nil {
					failed = fmt.Errorf("ask for %s: %w", b.slug, err)
				}
				if bytes.Contains(reply.Body, []byte(b.price)) && bytes.Contains(reply.Body, []byte(b.words[0])) {
					own++
				}
				r.foreign += w.foreign(b, string(reply.Body))
				told += len(reply.Body)
				mutex.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	working.Wait()
	if failed != nil {
		return r, failed
	}
	misplaced, stored, err := w.misplaced(ctx)
	if err != nil {
		return r, err
	}
	r.foreign += misplaced
	r.figures = fmt.Sprintf("%d own answers, %d bytes searched, %d turns stored, %d under another brand", own, told, stored, misplaced)
	r.isHeld = r.foreign == 0 && own == questions && stored == questions
	return r, nil
}

// misplaced counts the answered turns, and those whose answer has not the price of the brand that they are
// stored under, or whose source is of another.
func (w *world) misplaced(ctx context.Context) (misplaced, stored int, err error) {
	for _, b := range w.brands {
		var wrong, all int
		err := w.db.QueryRow(ctx, `select count(*) filter (where strpos(t.answer, $2) = 0 or exists (
					select from app.turn_sources s where s.tenant_id = t.tenant_id and s.turn_id = t.id and strpos(s.title, $3) = 0)),
				count(*)
			from app.turns t where t.tenant_id = $1::uuid and t.status = 'answered'`, b.id, b.price, b.words[0]).Scan(&wrong, &all)
		if err != nil {
			return 0, 0, fmt.Errorf("read the turns of %s: %w", b.slug, err)
		}
		misplaced, stored = misplaced+wrong, stored+all
	}
	return misplaced, stored, nil
}
