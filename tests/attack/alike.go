package main

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"time"

	"porchlight/tests/served"
)

const (
	pairs = 500                  // of requests that are compared
	apart = 5 * time.Millisecond // how far the medians may lie from each other
)

// request is one that names something by its id.
type request struct {
	method, path string
	body         map[string]any
}

// alike sends pairs of requests, one with what somebody else has and one with what nobody has, in turns:
// they must have the same answer and take the same time.
func alike(ctx context.Context, w *world, name string, who brand, token string, theirs, nones func(pair int) request) (row, error) {
	r := row{name: name, requests: 2 * pairs, racers: 1, isHeld: true}
	var took [2][]time.Duration
	var status [2]int
	unequal := 0
	for pair := range pairs {
		var said [2]string
		for turn := range 2 {
			which := (pair + turn) % 2 // neither is always the first
			make := []func(int) request{theirs, nones}[which]
			reply, spent, err := w.sendWithinLimits(ctx, token, make(pair))
			if err != nil {
				return r, fmt.Errorf("%s: %w", name, err)
			}
			took[which] = append(took[which], spent)
			said[which], status[which] = plain(reply), reply.Status
			r.foreign += w.foreign(who, string(reply.Body))
		}
		if said[0] != said[1] {
			unequal++
			r.figures = fmt.Sprintf("first: %.200q / %.200q; ", said[0], said[1])
		}
	}
	a, b := median(took[0]), median(took[1])
	r.figures += fmt.Sprintf("status %d / %d, %d answers differ, medians %.2f / %.2f ms, apart %.2f ms, at most %.0f",
		status[0], status[1], unequal, millis(a), millis(b), millis((a - b).Abs()), millis(apart))
	r.isHeld = unequal == 0 && r.foreign == 0 && (a-b).Abs() < apart
	return r, nil
}

// sendWithinLimits sends a request that is let in: one beyond the person's minute waits for the next, since a
// refusal says nothing of what was asked for.
func (w *world) sendWithinLimits(ctx context.Context, token string, q request) (served.Reply, time.Duration, error) {
	for {
		begun := time.Now()
		reply, err := w.Send(ctx, q.method, q.path, token, body(q))
		spent := time.Since(begun)
		seconds, notLimited := strconv.Atoi(reply.Header.Get("Retry-After"))
		if err != nil || reply.Status != http.StatusTooManyRequests || notLimited != nil {
			return reply, spent, err
		}
		select {
		case <-ctx.Done():
			return reply, spent, ctx.Err()
		case <-time.After(time.Duration(seconds) * time.Second):
		}
	}
}

func body(q request) any {
	if q.body == nil {
		return nil
	}
	return q.body
}

// chance matches what is another in every answer.
var chance = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|"ms":\{[^}]*\}`)

// plain is the answer without what is another in each.
func plain(r served.Reply) string {
	return fmt.Sprint(r.Status, r.Header["Content-Type"], r.Header["Cache-Control"], r.Header["Retry-After"], " ") +
		chance.ReplaceAllString(string(r.Body), "")
}

func median(times []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[len(sorted)/2]
}

func millis(d time.Duration) float64 { return d.Seconds() * 1000 }

// to names the path of an id with a method.
func to(method, path string) request { return request{method: method, path: path} }

// asking is a question with an id in a field; no document answers it.
func asking(field, id string) request {
	return request{http.MethodPost, "/v1/ask", map[string]any{"question": "who won the football world cup in 1998", field: id}}
}
