package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
)

// A name or an id that somebody else has is answered as one that nobody has: status, body and headers.
// That it takes as long is measured by make attack. TestUnknown_IsTheSameAsNotYours has runs and chunks.
// T11 T12 T16
func TestNotYours_LooksLikeNotThere(t *testing.T) {
	t.Parallel()
	rep, admin := doorstep.rep(t, glowmere), doorstep.admin(t, glowmere)
	their := doorstep.rep(t, skeinwick)
	talk := their.ask("What is the monthly fee for Threadlight 300?").turnID
	ours := rep.ask("How much is Hearthfix 12 a month?").turnID
	run := doorstep.text(t, `select r.id::text from app.reindex_runs r join app.tenants t on t.id = r.tenant_id where t.slug = $1 limit 1`, skeinwick)
	source := doorstep.text(t, `select s.source_key from app.sources s join app.tenants t on t.id = s.tenant_id
		where t.slug = $1 and not exists (select from app.sources o where o.tenant_id <> s.tenant_id and o.source_key = s.source_key) limit 1`, skeinwick)
	before := doorstep.text(t, theirTurn, skeinwick, talk)
	question := func(field string) func(p person, id string) reply {
		return func(p person, id string) reply {
			body := map[string]string{"question": "who won the football world cup in 1998", field: id}
			return p.post("/v1/ask", encode(p.t, body), "Accept: application/json")
		}
	}
	for _, c := range []struct {
		name          string
		who           person
		send          func(p person, id string) reply
		theirs, nones string
		status        int
	}{
		{"the answer of a turn", rep, func(p person, id string) reply { return p.get("/v1/turns/" + id) }, talk, uuid.NewString(), http.StatusNotFound},
		{"the answer of a turn, by an admin", admin, func(p person, id string) reply { return p.get("/v1/turns/" + id) }, talk, "lantern", http.StatusNotFound},
		{"the answer of a colleague's turn", admin, func(p person, id string) reply { return p.get("/v1/turns/" + id) }, ours, uuid.NewString(), http.StatusNotFound},
		{"a conversation", rep, question("conversation_id"), talk, uuid.NewString(), http.StatusOK},
		{"a turn", rep, question("turn_id"), talk, uuid.NewString(), http.StatusOK}, // after it, one's own
		{"the brand of a reindex", admin, func(p person, slug string) reply {
			return p.post("/v1/reindex", `{"all":true,"tenant":"`+slug+`"}`)
		}, skeinwick, "no-such-brand", http.StatusForbidden},
		{"the brand of a reindex, by a rep", rep, func(p person, slug string) reply {
			return p.post("/v1/reindex", `{"all":true,"tenant":"`+slug+`"}`)
		}, skeinwick, "no-such-brand", http.StatusForbidden},
		{"the brand of a run", admin, func(p person, slug string) reply { return p.get("/v1/reindex/" + run + "?tenant=" + slug) }, skeinwick, "no-such-brand", http.StatusForbidden},
		{"a run, by a rep", rep, func(p person, id string) reply { return p.get("/v1/reindex/" + id) }, run, uuid.NewString(), http.StatusForbidden},
		{"a document", admin, func(p person, key string) reply {
			r := p.post("/v1/reindex", encode(p.t, map[string]any{"sources": []string{key}}))
			r.body = strings.ReplaceAll(r.body, key, "key")
			return r
		}, source, "prices/no-such.md", http.StatusOK},
	} {
		t.Run(c.name, func(t *testing.T) {
			theirs, nones := c.send(c.who.with(t), c.theirs), c.send(c.who.with(t), c.nones)
			if theirs.status != c.status || theirs.plain() != nones.plain() {
				t.Errorf("theirs: %s\nnobody's: %s", theirs.plain(), nones.plain())
			}
		})
	}
	if after := doorstep.text(t, theirTurn, skeinwick, talk); after != before {
		t.Errorf("their turn was written:\n%s\nwas\n%s", after, before)
	}
	body := encode(t, map[string]string{"question": "x", "turn_id": talk}) // one's own by now
	rep.post("/v1/ask", body).want(t, http.StatusConflict, "turn_id_used")
}

// theirTurn is all that is stored of a turn, with the transaction that wrote it last.
const theirTurn = `select r.xmin || r::text from app.turns r join app.tenants t on t.id = r.tenant_id where t.slug = $1 and r.id = $2`

// plain is a reply without what is another in each: ids, dates, times.
func (r reply) plain() string {
	r.header = r.header.Clone()
	for _, name := range []string{"X-Request-Id", "Date", "Content-Length"} {
		r.header.Del(name)
	}
	var head strings.Builder
	_ = r.header.Write(&head)
	return http.StatusText(r.status) + "\n" + head.String() + chance.ReplaceAllString(r.body, "")
}
