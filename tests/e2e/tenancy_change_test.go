package e2e

import (
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"porchlight/tests/gemini"
)

// changing is a server with three brands, and a provider that can be held in the middle of its work. Its
// parts run in turn.
type changing struct {
	*server
	provider           *gemini.Server
	first, second, end ownBrand
}

// What is true of a brand changes while something of it runs. T3 T5 T6
func TestTenancy_WhatChangesInTheMiddleIsNoticed(t *testing.T) {
	t.Parallel()
	provider, library := gemini.NewServer(t), t.TempDir()
	c := changing{provider: provider}
	c.calm()
	brand := func(slug, marker, price string) ownBrand {
		canary.add(slug, marker, strings.TrimPrefix(price, "€"))
		return newBrand(t, library, slug, "{turns_per_minute: 1000, turns_per_day: 10000}", map[string]string{
			"prices/stoves.md": markedList(marker, price), "faq/hours.md": "# Hours\n\nThe shop opens at nine.\n",
		})
	}
	c.first, c.second = brand("changing-first", "Bramblekiln", "€6,484.00"), brand("changing-second", "Feverfewoven", "€7,595.00")
	c.end = brand("changing-end", "Sorrelfurnace", "€8,606.00")
	c.first = c.first.serve(t, options{name: "changing", environment: []string{"GEMINI_API_KEY=" + geminiKey, "GEMINI_BASE_URL=" + provider.URL}})
	c.server, c.second.server, c.end.server = c.first.server, c.first.server, c.first.server
	for _, part := range []struct {
		name string
		test func(changing, *testing.T)
	}{
		{"removed while the question is embedded, a person is told nothing", changing.removedBeforeTheSearch},
		{"removed while the answer is written, a person's turn does not end well", changing.removedBeforeTheEnd},
		{"removed from one brand in the middle, a person of two is not moved to the other", changing.switched},
		{"suspended while a question runs, the brand is closed", changing.suspendedWhileAsked},
		{"suspended while a reindex runs, nothing more is written", changing.suspendedWhileIndexed},
		{"deleted while a reindex runs, nothing is left", changing.deletedWhileIndexed},
		{"deleted while a question runs, nothing is left", changing.deletedWhileAsked},
		{"no model was told of two brands at once", changing.promptsAreOfOneBrand},
	} {
		t.Run(part.name, func(t *testing.T) {
			c.calm()
			c.mustExec(t, everybodyInTheirOwn)
			c.mustExec(t, `update app.tenants set status = 'active'`)
			part.test(c, t)
		})
	}
}

var euros = regexp.MustCompile(`€\d,\d{3}\.\d\d`)

// calm lets the provider answer at once: with the price that the prompt holds, whoever's that is.
func (c changing) calm() {
	c.provider.On(primaryModel, likeVectors)
	c.provider.On(fallbackModel, likeVectors)
	c.provider.On(lite, func(r gemini.Request) gemini.Response {
		return gemini.Text("The Ember Nook costs " + euros.FindString(r.User()) + ".")
	})
}

// during sends a request, waits until the provider is asked by that model, makes the change, and lets the
// provider answer. It returns what came back.
func (c changing) during(t *testing.T, model string, send func() reply, change func()) reply {
	t.Helper()
	reached, goOn := make(chan struct{}), make(chan struct{})
	var once sync.Once
	hold := func() { once.Do(func() { close(reached); <-goOn }) }
	if model == lite {
		c.provider.On(lite, func(r gemini.Request) gemini.Response {
			hold()
			return gemini.Text("The Ember Nook costs " + euros.FindString(r.User()) + ".")
		})
	} else {
		c.provider.On(model, func(r gemini.Request) gemini.Response { hold(); return likeVectors(r) })
	}
	came := make(chan reply, 1)
	go func() { came <- send() }()
	select {
	case <-reached:
	case r := <-came:
		t.Fatalf("it ended before: %d %s", r.status, r.body)
	case <-time.After(patience):
		t.Fatal("the provider was not asked")
	}
	change()
	close(goOn)
	select {
	case r := <-came:
		c.calm()
		return r
	case <-time.After(patience):
		t.Fatal("it hangs")
		return reply{}
	}
}

// ask sends the question as it is, for what comes back may be a refusal.
func (c changing) ask(p person) func() reply {
	return func() reply { return p.post("/v1/ask", encode(p.t, map[string]string{"question": nookQuestion})) }
}

func (c changing) mustExec(t *testing.T, statement string, arguments ...any) {
	t.Helper()
	if err := c.exec(t.Context(), statement, arguments...); err != nil {
		t.Fatal(err)
	}
}

const (
	// each person is of the brand in the address again, and of no other: what a part changed
	everybodyInTheirOwn = `with own as (
			select t.id as tenant_id, u.id as user_id, split_part(u.email, '@', 1) as role
			from app.tenants t join auth.users u on split_part(u.email, '@', 2) = t.slug || '.example'
		), gone as (
			delete from app.members m where (m.tenant_id, m.user_id) not in (select o.tenant_id, o.user_id from own o)
		)
		insert into app.members (tenant_id, user_id, role) select o.* from own o on conflict do nothing`
	removeMember = `delete from app.members m using auth.users u, app.tenants t
		where m.user_id = u.id and m.tenant_id = t.id and u.email = $1 and t.slug = $2`
	// the newest turn of a person, with what it holds of an answer
	newestTurn = `select t.slug || ' ' || r.status || ' ' || coalesce(r.answer, 'no answer') || ' ' ||
		(select count(*) from app.turn_sources s where s.tenant_id = r.tenant_id and s.turn_id = r.id)
		from app.turns r join app.tenants t on t.id = r.tenant_id join auth.users u on u.id = r.user_id
		where u.email = $1 order by r.created_at desc limit 1`
)

// endsWith wants a stream that was begun and ends with that error, not with "done".
func endsWith(t *testing.T, r reply, code string) {
	t.Helper()
	r.want(t, http.StatusOK, "")
	lines := strings.Split(strings.TrimSpace(r.body), "\n")
	if last := lines[len(lines)-1]; !strings.Contains(last, `"type":"error","code":"`+code+`"`) || strings.Contains(r.body, `"type":"done"`) {
		t.Errorf("it ended with %s", last)
	}
}

func (c changing) stored(t *testing.T, p person, want string) {
	t.Helper()
	if got := c.text(t, newestTurn, p.email); got != want {
		t.Errorf("the turn is stored as %q, want %q", got, want)
	}
}

func (c changing) remove(t *testing.T, p person, b ownBrand) func() {
	return func() { c.mustExec(t, removeMember, p.email, b.slug) }
}

func (c changing) set(t *testing.T, b ownBrand, status string) {
	t.Helper()
	c.mustExec(t, `update app.tenants set status = $2 where slug = $1`, b.slug, status)
}

func (c changing) removedBeforeTheSearch(t *testing.T) {
	rep := c.rep(t, c.first.slug)
	c.during(t, primaryModel, c.ask(rep), c.remove(t, rep, c.first)).want(t, http.StatusForbidden, "not_a_member")
	c.stored(t, rep, "changing-first running no answer 0")
}

// What the answer is made from was read while the person was a member, so it is said to its end; but the
// turn is not theirs to finish any more: no "done", no answer on record.
func (c changing) removedBeforeTheEnd(t *testing.T) {
	rep := c.rep(t, c.first.slug)
	r := c.during(t, lite, c.ask(rep), c.remove(t, rep, c.first))
	endsWith(t, r, "not_a_member")
	if !strings.Contains(r.body, "€6,484.00") {
		t.Errorf("it was cut before: %s", r.body)
	}
	c.stored(t, rep, "changing-first running no answer 0")
	c.ask(rep)().want(t, http.StatusForbidden, "not_a_member")
	c.mustExec(t, everybodyInTheirOwn)
	rep.ask(nookQuestion)
	c.stored(t, rep, "changing-first answered The Ember Nook costs €6,484.00. 1")
}

func (c changing) switched(t *testing.T) {
	rep := c.rep(t, c.first.slug)
	c.mustRun(t, "user", "add", rep.email, "--tenant="+c.second.slug)
	talk := rep.ask(nookQuestion)
	r := c.during(t, lite, c.ask(rep), c.remove(t, rep, c.first))
	endsWith(t, r, "not_a_member")
	c.stored(t, rep, "changing-first running no answer 0")
	c.ask(rep)().want(t, http.StatusForbidden, "not_a_member")
	if n := c.text(t, turnsOf, c.second.slug); n != "0" {
		t.Errorf("%s turns under the other brand", n)
	}
	moved := c.signIn(t, c.second.slug, rep.email)
	a := moved.askWith(map[string]string{"question": nookQuestion, "conversation_id": talk.turnID})
	if !strings.Contains(a.said(), "€7,595.00") || !strings.Contains(a.titles(), "Feverfewoven") {
		t.Errorf("%s", a.body)
	}
	prompts := c.provider.RequestsOf(lite)
	if last := prompts[len(prompts)-1]; len(last.Contents) != 1 || len(canary.foreign(c.second.slug, string(last.Raw))) > 0 {
		t.Errorf("the conversation of the other brand went along: %s", last.Raw)
	}
}

func (c changing) suspendedWhileAsked(t *testing.T) {
	rep := c.rep(t, c.first.slug)
	endsWith(t, c.during(t, lite, c.ask(rep), func() { c.set(t, c.first, "suspended") }), "tenant_suspended")
	c.stored(t, rep, "changing-first running no answer 0")
	c.ask(rep)().want(t, http.StatusForbidden, "tenant_suspended")
	c.ask(c.rep(t, c.second.slug))().want(t, http.StatusOK, "")
}

func (c changing) suspendedWhileIndexed(t *testing.T) {
	admin := c.admin(t, c.first.slug)
	c.first.write(t, "prices/stoves.md", markedList("Bramblekiln", "€6,488.00"))
	before := c.first.rows(t)
	r := c.during(t, primaryModel, func() reply { return admin.post("/v1/reindex", `{"all":true}`) }, func() { c.set(t, c.first, "suspended") })
	endsWith(t, r, "tenant_suspended")
	admin.post("/v1/reindex", `{"all":true}`).want(t, http.StatusForbidden, "tenant_suspended")
	if after := c.first.rows(t); after != before {
		t.Errorf("rows were written:\n%s\nwere\n%s", after, before)
	}
	c.set(t, c.first, "active")
	if done := admin.reindex(`{"all":true}`); done.Status != "ready" || done.Changed != 1 || done.Kept != 1 {
		t.Errorf("active again: %+v", done)
	}
}

func (c changing) deletedWhileIndexed(t *testing.T) {
	admin := c.admin(t, c.end.slug)
	id, before := c.text(t, `select id::text from app.tenants where slug = $1`, c.end.slug), c.first.rows(t)
	c.end.write(t, "prices/stoves.md", markedList("Sorrelfurnace", "€8,609.00"))
	r := c.during(t, primaryModel, func() reply { return admin.post("/v1/reindex", `{"all":true}`) },
		func() { c.mustExec(t, `delete from app.tenants where slug = $1`, c.end.slug) })
	endsWith(t, r, "not_a_member")
	c.nothingIsLeft(t, id)
	admin.post("/v1/reindex", `{"all":true}`).want(t, http.StatusForbidden, "not_a_member")
	if after := c.first.rows(t); after != before {
		t.Error("rows of another brand were written")
	}
}

func (c changing) deletedWhileAsked(t *testing.T) {
	rep := c.rep(t, c.second.slug)
	id := c.text(t, `select id::text from app.tenants where slug = $1`, c.second.slug)
	r := c.during(t, lite, c.ask(rep), func() { c.mustExec(t, `delete from app.tenants where slug = $1`, c.second.slug) })
	endsWith(t, r, "not_a_member")
	c.nothingIsLeft(t, id)
}

// nothingIsLeft looks for the id of a brand in every table that has one.
func (c changing) nothingIsLeft(t *testing.T, id string) {
	t.Helper()
	for table := range strings.FieldsSeq(c.text(t, tablesOfBrands)) {
		if n := c.text(t, `select count(*)::text from `+table+` where tenant_id = $1`, id); n != "0" {
			t.Errorf("%s rows of the brand are left in %s", n, table)
		}
	}
	c.mustExec(t, countersWithoutIt)
}

// What a brand has used up of the installation's day, of a model's day and of a person's minute stays used
// up when it goes, while its ledger goes with it. The data of the tests is checked against the ledger in
// the end, so it is taken out here.
const countersWithoutIt = `
	update private.installation i set turns = (
		select count(*) from private.turn_reservations r where r.global_day = i.day and r.state <> 'refunded');
	update private.user_minutes m set turns = (
		select count(*) from private.turn_reservations r where r.user_id = m.user_id and r.minute = m.minute and r.state <> 'refunded');
	update private.model_days d set calls = (
		select count(*) from private.call_reservations c
		where c.pool = d.pool and c.model = d.model and c.day = d.day and c.state <> 'refunded') + (
		select coalesce(sum(c.calls), 0) from private.reindex_calls c where c.pool = d.pool and c.model = d.model and c.day = d.day)`

// promptsAreOfOneBrand looks at everything that models were told: a prompt names its brand in the rules.
func (c changing) promptsAreOfOneBrand(t *testing.T) {
	prompts := c.provider.RequestsOf(lite)
	for _, p := range prompts {
		slug := regexp.MustCompile(`Brand (changing-\w+)`).FindStringSubmatch(p.System)
		if slug == nil {
			t.Fatalf("a prompt without a brand: %s", p.System)
		}
		if words := canary.foreign(slug[1], string(p.Raw)); len(words) > 0 {
			t.Errorf("a prompt of %s holds %v", slug[1], words)
		}
	}
	if len(prompts) < 6 {
		t.Errorf("%d prompts", len(prompts))
	}
}
