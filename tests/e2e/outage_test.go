package e2e

import (
	"net/http"
	"strconv"
	"testing"

	"github.com/google/uuid"
)

// A server of its own behind a link that can be cut and held. The parts share it and run in turn.
func TestOutage_OfTheDatabase(t *testing.T) {
	t.Parallel()
	l := openLink(t, hostOf(cluster.AdminURL("postgres")), poolerAddress())
	b := newBrand(t, t.TempDir(), "outage-stoves", "{turns_per_minute: 1000}", map[string]string{
		"prices/stoves.md": priceList(daysAgo(2), "Ember Nook: €1,240.00", "Ember Hall: €2,310.00"),
	}).serve(t, options{name: "outage", link: l})
	s, rep, admin := b.server, b.server.rep(t, b.slug), b.server.admin(t, b.slug)
	const question = "What is the price of the Ember Nook?"
	works := func(t *testing.T) {
		t.Helper()
		if a := rep.with(t).ask(question); a.Outcome != "answered" {
			t.Errorf("outcome %s: %s", a.Outcome, a.said())
		}
	}
	works(t)

	t.Run("connections that the server ended while nobody used them are made anew", func(t *testing.T) { // O110
		for range 3 {
			before := s.text(t, turnsOf, b.slug)
			s.text(t, `select count(pg_terminate_backend(pid, 5000))::text from pg_stat_activity
				where usename = 'porchlight_runtime' and datname = current_database()`)
			works(t)
			if after := s.text(t, turnsOf, b.slug); after != next(t, before) {
				t.Errorf("%s turns before, %s after", before, after)
			}
		}
	})
	unavailable := func(t *testing.T) {
		for name, send := range map[string]func(t *testing.T) reply{
			"ask": func(t *testing.T) reply {
				return rep.with(t).post("/v1/ask", encode(t, map[string]string{"question": question}))
			},
			"review":   func(t *testing.T) reply { return admin.with(t).get("/v1/review/stale") },
			"reindex":  func(t *testing.T) reply { return admin.with(t).post("/v1/reindex", `{"all":true}`) },
			"show run": func(t *testing.T) reply { return admin.with(t).get("/v1/reindex/" + uuid.NewString()) },
			"sign in": func(t *testing.T) reply {
				body := encode(t, map[string]string{"email": rep.email, "password": s.password(rep.email)})
				return rep.with(t).post("/auth/v1/token?grant_type=password", body)
			},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				r := send(t)
				if r.status != http.StatusServiceUnavailable || name != "sign in" && r.code() != "database_unavailable" {
					t.Errorf("%d %s", r.status, r.body)
				}
				if wait, err := strconv.Atoi(r.header.Get("Retry-After")); err != nil || wait < 1 {
					t.Errorf("Retry-After %q", r.header.Get("Retry-After"))
				}
			})
		}
	}
	t.Run("stopped, it is 503, and it works again when it is back", func(t *testing.T) {
		before := s.text(t, turnsOf, b.slug)
		l.cut()
		t.Run("while it is away", unavailable)
		l.mend(t)
		works(t)
		if after := s.text(t, turnsOf, b.slug); after != next(t, before) {
			t.Errorf("%s turns before, %s after", before, after)
		}
		if n := s.text(t, `select count(*)::text from app.turns where status = 'running'`); n != "0" {
			t.Errorf("%s turns are still running", n)
		}
	})
	t.Run("silent, it is 503 and not a hang", func(t *testing.T) {
		l.hold()
		t.Run("while it is away", unavailable)
		l.release()
		works(t)
	})
}

// turnsOf counts the turns of a brand.
const turnsOf = `select count(*)::text from app.turns r join app.tenants t on t.id = r.tenant_id where t.slug = $1`

func next(t *testing.T, number string) string {
	t.Helper()
	n, err := strconv.Atoi(number)
	if err != nil {
		t.Fatal(err)
	}
	return strconv.Itoa(n + 1)
}
