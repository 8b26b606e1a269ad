package e2e

import (
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"porchlight/functions/local/postgres"
)

// The Postgres process that writes a reindex is killed, which ends all sessions of the server: while a
// chunk goes, while vectors come, while a source is retired. The old version is served as soon as
// Postgres has recovered, and the next run ends the work. B4
func TestReindex_AKilledBackendLosesNothing(t *testing.T) {
	t.Parallel()
	const retired = "faq/gone.md"
	library := map[string]string{
		"prices/stoves.md": priceList(daysAgo(2), "Ember Nook: "+nookPrices[0]),
		"faq/hours.md":     "# Hours\n\nThe shop opens at nine.\n",
	}
	b := newBrand(t, t.TempDir(), "backend-stoves", "{turns_per_minute: 1000}", library).
		serve(t, options{name: "backend", embedded: true})
	own, err := postgres.Find(t.Context(), b.server.data)
	if err != nil {
		t.Fatal(err)
	}
	b.server.database = own.AdminURL(own.Database())
	// signed in once: of the connections of the sign-in more than one ends with each crash
	rep, admin := b.server.rep(t, b.slug), b.server.admin(t, b.slug)
	for n, c := range []struct {
		name, lock  string
		isServedNew bool
	}{
		{"while a chunk goes", `select from app.chunks c join app.sources s on s.id = c.source_id
			where s.source_key = 'prices/stoves.md' for update of c`, false},
		{"while vectors come", `lock table app.chunk_embeddings_local in share mode`, false},
		{"while a source is retired", `select from app.sources where source_key = '` + retired + `' for update`, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b.write(t, retired, "# Pick-up\n\nPick-up is at the back door.\n")
			b.write(t, "prices/stoves.md", priceList(daysAgo(2), "Ember Nook: "+nookPrices[0]))
			if done := b.index(t); done.Status != "ready" {
				t.Fatalf("%+v", done)
			}
			b.remove(t, retired)
			b.write(t, "prices/stoves.md", priceList(daysAgo(2), "Ember Nook: "+nookPrices[1]))
			before := b.identities(t)

			lock := b.server.hold(t, c.lock)
			replies := admin.with(t).meanwhile("/v1/reindex", `{"all":true}`)
			lock.awaitBlocked(t, "1")
			pid, err := strconv.Atoi(b.server.text(t, `select pid::text from pg_stat_activity
				where $1::integer = any (pg_blocking_pids(pid))`, lock.conn.PgConn().PID()))
			if err != nil {
				t.Fatal(err)
			}
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			if r := <-replies; r.status != http.StatusOK || !strings.Contains(r.body, `{"type":"error","code":"database_unavailable"`) {
				t.Errorf("reindex: %d %s", r.status, r.body)
			}
			price := nookPrices[map[bool]int{true: 1}[c.isServedNew]]
			if a := askOnceBack(rep.with(t), nookQuestion); !strings.Contains(a.body, price) {
				t.Errorf("%s, want %s", a.body, price)
			}
			signInOnceBack(admin.with(t))
			if after := b.identities(t); !c.isServedNew && len(after) != len(before) {
				t.Errorf("%d passages, were %d", len(after), len(before))
			}
			if err := b.server.exec(t.Context(), `update app.reindex_runs set lease_ends_at = now() where status = 'running'`); err != nil {
				t.Fatal(err)
			}
			done := b.index(t)
			if want := map[bool]int{false: 1}[c.isServedNew]; done.Status != "ready" || done.Added != want || done.Kept != 2-want {
				t.Errorf("the next run: %+v", done)
			}
			if a := rep.with(t).ask(nookQuestion); !strings.Contains(a.said(), nookPrices[1]) {
				t.Errorf("%s: %s", a.Outcome, a.said())
			}
			if left := b.held(t); len(left) != len(library) {
				t.Errorf("sources: %v", left)
			}
			after := b.identities(t)
			for id, row := range before {
				if now, ok := after[id]; ok && now != row {
					t.Errorf("%s was written", id)
				}
			}
			if faults := b.faults(t); faults != "" {
				t.Errorf("faults: %s", faults)
			}
			if abandoned := b.server.text(t, `select count(*)::text from app.reindex_runs where reason = 'abandoned'`); abandoned != strconv.Itoa(n+1) {
				t.Errorf("%s runs were abandoned, want %d", abandoned, n+1)
			}
		})
	}
}

// signInOnceBack signs in until the connections of the sign-in are new ones, too.
func signInOnceBack(p person) {
	p.t.Helper()
	body := encode(p.t, map[string]string{"email": p.email, "password": p.server.password(p.email)})
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if r := p.server.visitor(p.t).post("/auth/v1/token?grant_type=password", body); r.status != http.StatusServiceUnavailable {
			r.want(p.t, http.StatusOK, "")
			return
		}
	}
	p.t.Fatal("the sign-in does not come back")
}

// askOnceBack asks until Postgres has recovered; until then every reply says that it is away.
func askOnceBack(rep person, question string) reply {
	rep.t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		r := rep.post("/v1/ask", encode(rep.t, map[string]string{"question": question}))
		switch {
		case r.status == http.StatusOK && !strings.Contains(r.body, `"type":"error"`):
			return r
		case !strings.Contains(r.body, "database_unavailable"):
			rep.t.Fatalf("%d %s", r.status, r.body)
		}
	}
	rep.t.Fatal("Postgres does not come back")
	return reply{}
}
