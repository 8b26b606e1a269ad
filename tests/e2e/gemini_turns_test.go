package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"porchlight/tests/gemini"
)

// charges are what the turns of a brand have cost so far.
type charges struct{ Days, Settled, Open int }

func (c charges) plusOne() charges { return charges{c.Days + 1, c.Settled + 1, c.Open} }

// charged counts the turns in the brand's days, and the entries of the ledger.
func (g generative) charged(t *testing.T) (c charges) {
	t.Helper()
	text := g.server.text(t, `select (select coalesce(sum(d.turns), 0) from private.tenant_days d) || ' '
		|| (select count(*) from private.turn_reservations r where r.state = 'settled') || ' '
		|| (select count(*) from private.turn_reservations r where r.state = 'open')`)
	if _, err := fmt.Sscan(text, &c.Days, &c.Settled, &c.Open); err != nil {
		t.Fatal(err)
	}
	return c
}

// gate lets the lite model answer nookAnswer once it is opened.
func (g generative) gate(t *testing.T) (opened func()) {
	t.Helper()
	wait := make(chan struct{})
	g.provider.On(lite, func(gemini.Request) gemini.Response {
		<-wait
		return gemini.Text(nookAnswer)
	})
	opened = sync.OnceFunc(func() { close(wait) })
	t.Cleanup(func() {
		opened()
		g.provider.On(lite, nil)
	})
	return opened
}

// Two requests of the same turn at once: one call of the model, one charge, one turn, the same answer,
// and meanwhile the turn can be asked for. P9
func (g generative) sameTurnTwice(t *testing.T) {
	rep := g.server.rep(t, g.slug)
	before := g.charged(t)
	open := g.gate(t)
	fields := map[string]string{"question": nookQuestion, "turn_id": uuid.NewString()}
	path := "/v1/turns/" + fields["turn_id"]
	answers := make([]answer, 2)
	calls := g.calls(func() {
		var both sync.WaitGroup
		for i := range answers {
			both.Go(func() { answers[i] = rep.askWith(fields) })
		}
		g.server.await(t, "1", `select count(*)::text from app.turns where id = $1 and status = 'running'`, fields["turn_id"])
		running := rep.get(path)
		running.want(t, http.StatusAccepted, "")
		if running.header.Get("Retry-After") == "" || !strings.Contains(running.body, `"outcome":"running"`) {
			t.Errorf("%v %s", running.header, running.body)
		}
		open()
		both.Wait()
	})
	if calls != "1 0 0" {
		t.Errorf("calls: %s", calls)
	}
	for _, a := range answers {
		if a.said() != nookAnswer || a.turnID != fields["turn_id"] || a.titles() != answers[0].titles() || *a.AsOf != *answers[0].AsOf {
			t.Errorf("%s", a.body)
		}
	}
	if got, want := g.charged(t), before.plusOne(); got != want {
		t.Errorf("charged %v, want %v", got, want)
	}
	var stored struct {
		Answer string `json:"answer"`
		facts
	}
	r := rep.get(path)
	r.want(t, http.StatusOK, "")
	decode(t, r.body, &stored)
	if stored.Answer != nookAnswer || stored.Outcome != "answered" || stored.Model != lite ||
		encode(t, stored.Sources) != encode(t, answers[0].Sources) {
		t.Errorf("%s", r.body)
	}
	// nobody else's, and none at all, look alike
	for _, other := range []person{g.server.admin(t, g.slug), rep} {
		unknown := other.get("/v1/turns/" + uuid.NewString())
		unknown.want(t, http.StatusNotFound, "not_found")
		if other.email != rep.email {
			if foreign := other.get(path); foreign.status != unknown.status || foreign.body != unknown.body {
				t.Errorf("a colleague's turn: %d %s", foreign.status, foreign.body)
			}
		}
	}
}

// A phone locks in the middle and comes back under the same id: the model was left within a second, the
// turn says aborted and is charged; the second run takes over that charge. O99 P10
func (g generative) readerComesBack(t *testing.T) {
	rep := g.server.rep(t, g.slug)
	before := g.charged(t)
	fields := map[string]string{"question": nookQuestion, "turn_id": uuid.NewString()}
	g.provider.Queue(lite, gemini.Hang())
	asked := g.provider.Count(lite)
	ctx, leave := context.WithTimeout(t.Context(), patience)
	defer leave()
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		response, err := http.DefaultClient.Do(rep.request(ctx, http.MethodPost, "/v1/ask", encode(t, fields), asJSON))
		if err == nil {
			_, _ = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
		}
	}()
	awaitCount(t, g.provider, asked+1)
	leave()
	<-gone
	select {
	case <-g.provider.Left():
	case <-time.After(patience):
		t.Fatal("the provider was not left")
	}
	g.server.await(t, "aborted", `select status from app.turns where id = $1`, fields["turn_id"])
	if got, want := g.charged(t), before.plusOne(); got != want {
		t.Errorf("who leaves is charged %v, want %v", got, want)
	}
	g.provider.Queue(lite, gemini.Text(nookAnswer))
	if a := rep.askWith(fields); a.said() != nookAnswer || a.turnID != fields["turn_id"] {
		t.Errorf("%s", a.body)
	}
	if got, want := g.charged(t), before.plusOne(); got != want {
		t.Errorf("who comes back is charged %v, want %v", got, want)
	}
}

// An hour later the documents have changed: the turn is told as it was, and nobody is asked again.
func (g generative) toldAgain(t *testing.T) {
	rep := g.server.rep(t, g.slug)
	fields := map[string]string{"question": nookQuestion, "turn_id": uuid.NewString()}
	g.provider.Queue(lite, gemini.Text(nookAnswer))
	first := rep.askWith(fields)
	if err := g.server.exec(t.Context(), `update app.turns set created_at = created_at - interval '1 hour' where id = $1`, first.turnID); err != nil {
		t.Fatal(err)
	}
	if err := g.server.exec(t.Context(), `update app.sources set title = 'Changed since' where title = $1`, first.Sources[0].Title); err != nil {
		t.Fatal(err)
	}
	before, embedded := g.charged(t), g.provider.Count(primaryModel)
	calls := g.calls(func() {
		again := rep.askWith(fields)
		if again.said() != first.said() || encode(t, again.Sources) != encode(t, first.Sources) ||
			encode(t, again.Actions) != encode(t, first.Actions) || *again.AsOf != *first.AsOf || again.Model != first.Model {
			t.Errorf("%s\nfirst\n%s", again.body, first.body)
		}
	})
	if calls != "0 0 0" || g.provider.Count(primaryModel) != embedded || g.charged(t) != before {
		t.Errorf("calls %s, charged %v", calls, g.charged(t))
	}
	if err := g.server.exec(t.Context(), `update app.sources set title = $1 where title = 'Changed since'`, first.Sources[0].Title); err != nil {
		t.Fatal(err)
	}
}

// O84: three models fail, the documents answer, and neither person, brand nor installation is charged;
// the calls count all the same, exactly as the provider got them.
func (g generative) allModelsFail(t *testing.T) {
	rep := g.server.rep(t, g.slug)
	for _, model := range []string{lite, lighter, flash} {
		g.provider.Queue(model, gemini.Unavailable())
	}
	before := g.charged(t)
	calls := g.calls(func() {
		if a := rep.ask(nookQuestion); a.Model != "extractive" || a.Outcome != "answered" {
			t.Errorf("%s", a.body)
		}
	})
	if calls != "1 1 1" || g.charged(t) != before {
		t.Errorf("calls %s, charged %v, want %v", calls, g.charged(t), before)
	}
	for _, model := range []string{lite, lighter, flash, primaryModel, fallbackModel} {
		asked := g.provider.Count(model)
		counted := g.server.text(t, `select coalesce(sum(d.calls), 0)::text from private.model_days d where d.model = $1`, model)
		if counted != strconv.Itoa(asked) {
			t.Errorf("%s was asked %d times, and %s are counted", model, asked, counted)
		}
	}
}
