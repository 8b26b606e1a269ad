package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// What a reindex works on may be deleted under it. C3 T6
func TestReindex_MeetsADeletion(t *testing.T) {
	t.Parallel()
	library := map[string]string{"prices/stoves.md": priceList(daysAgo(2), "Ember Nook: €60.00")}
	t.Run("of a source: it is there again, whole", func(t *testing.T) {
		t.Parallel()
		b := doorstep.addBrand(t, "deleted-source", "{}", library)
		b.index(t)
		run := b.begin(t, b.dir, newGate(t))
		run.gate.wait(t)
		if err := doorstep.exec(t.Context(), `delete from app.sources where tenant_id = $1`, b.id(t)); err != nil {
			t.Fatal(err)
		}
		run.gate.open()
		if i := run.ended(t, 0); i.Status != "ready" || i.Indexed != 1 || i.Added != 1 {
			t.Errorf("%+v", i)
		}
		b.rests(t)
	})
	t.Run("of the brand: the runs end with a code, and nothing is left", func(t *testing.T) {
		t.Parallel()
		b := doorstep.addBrand(t, "deleted-brand", "{}", library)
		id := b.id(t)
		run := b.begin(t, b.dir, newGate(t))
		run.gate.wait(t)
		taken := doorstep.text(t, `select jsonb_agg(c)::text from private.reindex_calls c where c.tenant_id = $1`, id)
		admin := doorstep.admin(t, b.slug)
		deletion := doorstep.hold(t, `delete from app.tenants where id = $1`, id)
		starting := admin.meanwhile("/v1/reindex", `{"all":true}`) // let in before the deletion is final
		deletion.awaitBlocked(t, "1")
		deletion.end(t, "commit")
		(<-starting).want(t, http.StatusForbidden, "not_a_member")
		run.gate.open()
		run.fails(t, "not a member of this brand")
		// what it took of a model's day stays taken, while its ledger is gone: the check at the end compares them
		if err := doorstep.exec(t.Context(), `update private.model_days d set calls = d.calls - c.calls
			from jsonb_populate_recordset(null::private.reindex_calls, $1::jsonb) c
			where d.pool = c.pool and d.model = c.model and d.day = c.day`, taken); err != nil {
			t.Error(err)
		}
		if n := doorstep.text(t, `select (select count(*) from app.sources where tenant_id = $1::uuid)
			+ (select count(*) from app.chunks where tenant_id = $1::uuid)
			+ (select count(*) from app.reindex_runs where tenant_id = $1::uuid)`, id); n != "0" {
			t.Errorf("%s rows are left", n)
		}
	})
}

// id is the brand's.
func (b ownBrand) id(t *testing.T) string {
	t.Helper()
	return b.server.text(t, `select id::text from app.tenants where slug = $1`, b.slug)
}

// meanwhile sends a request that is answered later.
func (p person) meanwhile(path, body string) <-chan reply {
	p.t.Helper()
	replies := make(chan reply, 1)
	go func() { replies <- p.post(path, body) }()
	return replies
}

// An admin says that a price is true while a reindex is about to write the same chunk, in either order.
// The click counts, or is told that the price is gone; it is never lost. C5
func TestReview_AClickDuringAReindexIsNotLost(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, slug string
		first      string // who comes first: "click" or "reindex"
		price      string // of the new version
		click      int    // the status of the click
		age        string // of the price at the end; "": it is another one
	}{
		{"the click first, the price stays", "click-first", "click", "€60.00", http.StatusOK, daysAgo(0)},
		{"the reindex first, the price stays", "click-second", "reindex", "€60.00", http.StatusOK, daysAgo(0)},
		{"the click first, the price changes", "click-changed", "click", "€80.00", http.StatusOK, ""},
		{"the reindex first, the price changes", "click-late", "reindex", "€80.00", http.StatusNotFound, ""},
	}
	// a server of their own, one after the other: the two that wait take all connections that a pooler may have
	library, brands := t.TempDir(), map[string]ownBrand{}
	for _, c := range cases {
		brands[c.slug] = newBrand(t, library, c.slug, "{}", map[string]string{"prices/stoves.md": priceList(daysAgo(95), "Ember Nook: €60.00")})
	}
	s := open(t, options{name: "clicks", brands: library})
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := brands[c.slug]
			b.server = s
			chunk := b.server.text(t, `select id::text from app.chunks where tenant_id = $1`, b.id(t))
			// the document says that it was verified, but longer ago than the click
			b.write(t, "prices/stoves.md", priceList(daysAgo(30), "Ember Nook: "+c.price))
			admin, colleague := s.admin(t, b.slug), s.admin(t, b.slug)
			row := s.hold(t, `select from app.chunks where id = $1 for update`, chunk)
			replies := map[string]<-chan reply{}
			for n, who := range []string{c.first, map[string]string{"click": "reindex", "reindex": "click"}[c.first]} {
				if who == "click" {
					replies[who] = admin.meanwhile("/v1/review/chunks/"+chunk+"/verify", "")
				} else {
					replies[who] = colleague.meanwhile("/v1/reindex", `{"all":true}`)
				}
				row.awaitBlocked(t, []string{"1", "2"}[n])
			}
			row.end(t, "commit")
			(<-replies["click"]).want(t, c.click, map[int]string{http.StatusNotFound: "not_found"}[c.click])
			if r := <-replies["reindex"]; r.status != http.StatusOK || !strings.Contains(r.body, `"type":"done","status":"ready"`) {
				t.Errorf("reindex: %d %s", r.status, r.body)
			}
			got := b.server.text(t, `select to_char(c.verified_at at time zone 'UTC', 'YYYY-MM-DD') || ' ' || coalesce(u.email, 'nobody')
				from app.chunks c left join auth.users u on u.id = c.verified_by where c.tenant_id = $1`, b.id(t))
			want := c.age + " " + admin.email
			if c.age == "" {
				want = daysAgo(30) + " nobody"
			}
			if got != want {
				t.Errorf("the price was verified %s, want %s", got, want)
			}
			b.rests(t)
		})
	}
}

// Two admins verify one price at once: both are told when, the later counts, by name. C6
func TestReview_TwoClicksAtOnceAreBothTaken(t *testing.T) {
	t.Parallel()
	b := newBrand(t, t.TempDir(), "two-clicks", "{}", map[string]string{"prices/stoves.md": priceList(daysAgo(95), "Ember Nook: €60.00")}).
		serve(t, options{name: "two-clicks"})
	if err := b.server.exec(t.Context(), `update app.members set role = 'admin' where tenant_id = $1`, b.id(t)); err != nil {
		t.Fatal(err)
	}
	people := []person{b.server.admin(t, b.slug), b.server.rep(t, b.slug)} // who is an admin now
	const chunkOf = `select id::text from app.chunks where tenant_id = $1`
	path := "/v1/review/chunks/" + b.server.text(t, chunkOf, b.id(t)) + "/verify"
	for range 5 {
		row := b.server.hold(t, `select from app.chunks where tenant_id = $1 for update`, b.id(t))
		first, second := people[0].meanwhile(path, ""), people[1].meanwhile(path, "")
		row.awaitBlocked(t, "2")
		row.end(t, "commit")
		var latest time.Time
		var by string
		isOne := true // whoever is written second is told the later time: then they can't be told apart
		for n, replies := range []<-chan reply{first, second} {
			r := <-replies
			r.want(t, http.StatusOK, "")
			var verified struct {
				VerifiedAt time.Time `json:"verified_at"`
			}
			decode(t, r.body, &verified)
			isOne = isOne && (n == 0 || !verified.VerifiedAt.Equal(latest))
			if verified.VerifiedAt.After(latest) {
				latest, by = verified.VerifiedAt, people[n].email
			}
		}
		got := b.server.text(t, `select u.email || ' ' || (c.verified_at = $2::timestamptz) from app.chunks c
			join auth.users u on u.id = c.verified_by where c.tenant_id = $1`, b.id(t), latest)
		if isOne && got != by+" true" || !strings.HasSuffix(got, " true") {
			t.Errorf("verified by %s, the later click is that of %s", got, by)
		}
	}
	if list := people[0].stale(); len(list) != 0 {
		t.Errorf("still stale: %+v", list)
	}
}
