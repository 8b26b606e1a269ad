package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"porchlight/functions/local/postgres"
)

// isBusy says that the reply is the one that the database's absence may have.
func (r reply) isBusy() bool {
	wait, err := strconv.Atoi(r.header.Get("Retry-After"))
	return r.status == http.StatusServiceUnavailable && r.code() == "database_unavailable" && err == nil && wait > 0
}

// untilAnswered asks until the answer comes; until then the database may be away.
func untilAnswered(t *testing.T, p person, question string) {
	t.Helper()
	body := encode(t, map[string]string{"question": question})
	for deadline := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		r := p.with(t).post("/v1/ask", body)
		if r.isBusy() && time.Now().Before(deadline) {
			continue
		}
		r.want(t, http.StatusOK, "")
		if a := readAnswer(t, r); a.Outcome != "answered" {
			t.Errorf("outcome %s: %s", a.Outcome, r.body)
		}
		return
	}
}

// A Postgres of its own, which keeps what it has committed, really stops, starts again, and loses a backend
// to a crash.
func TestOutage_DatabaseStopsAndStartsUnderTheServer(t *testing.T) {
	t.Parallel()
	home := postgres.Options{Dir: filepath.Join(root, "outage-postgres")}
	own, err := postgres.Start(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := own.Stop(); err != nil {
			t.Error(err)
		}
	})
	l := openLink(t, hostOf(own.AdminURL("postgres")), "")
	b := newBrand(t, t.TempDir(), "restart-stoves", "{turns_per_minute: 1000}", map[string]string{
		"prices/stoves.md": priceList(daysAgo(2), "Ember Nook: €1,240.00"),
	}).serve(t, options{name: "restart", link: l, cluster: own})
	s, rep := b.server, b.server.rep(t, b.slug)
	s.told.add(nookQuestion)
	untilAnswered(t, rep, nookQuestion)
	// every question that was answered is in the log; one that was caught in the middle is there without an
	// answer, open until its lease ends
	wantAnswered := func(n string) {
		t.Helper()
		got := s.text(t, `select count(*) filter (where status = 'answered') || ' of ' ||
			count(*) filter (where not (status in ('running', 'failed') and answer is null)) from app.turns`)
		if got != n+" of "+n {
			t.Errorf("turns with an answer: %s, want %s", got, n)
		}
	}
	wantAnswered("1")

	if err := own.Stop(); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		r := rep.post("/v1/ask", encode(t, map[string]string{"question": nookQuestion}))
		if !r.isBusy() {
			t.Errorf("while it is stopped: %d %s", r.status, r.body)
		}
	}
	if own, err = postgres.Start(t.Context(), home); err != nil {
		t.Fatal(err)
	}
	l.cut()
	l.lead(hostOf(own.AdminURL("postgres"))) // it has another port
	l.mend(t)
	s.database = through(s.database, hostOf(own.AdminURL("postgres")))
	untilAnswered(t, rep, nookQuestion)
	wantAnswered("2")

	// one backend is killed, so Postgres ends all others too and recovers
	pid, err := strconv.Atoi(s.text(t, `select pid::text from pg_stat_activity
		where usename = 'porchlight_runtime' and datname = current_database() limit 1`))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	untilAnswered(t, rep, nookQuestion)
	wantAnswered("3")
}

// The backend that serves a step of a turn is killed in the middle of it. O110
func TestOutage_BackendKilledInTheMiddleOfAStep(t *testing.T) {
	t.Parallel()
	b := newBrand(t, t.TempDir(), "killed-stoves", "{turns_per_minute: 1000}", map[string]string{
		"prices/stoves.md": priceList(daysAgo(2), "Ember Nook: €1,240.00"),
	}).serve(t, options{name: "killed"})
	s, rep := b.server, b.server.rep(t, b.slug)
	s.told.add(nookQuestion)
	rep.ask(nookQuestion)
	for _, c := range []struct {
		name  string
		table string // that the step needs, and none before it
		check func(t *testing.T, r reply)
		turns string // by status, that this leaves
	}{
		{"begin is not repeated, and nothing stays of it", "app.personas", func(t *testing.T, r reply) {
			if !r.isBusy() {
				t.Errorf("%d %s", r.status, r.body)
			}
		}, ""},
		{"match is repeated, and the reader does not notice", "app.chunk_terms", func(t *testing.T, r reply) {
			r.want(t, http.StatusOK, "")
			if a := readAnswer(t, r); a.Outcome != "answered" {
				t.Errorf("%s", r.body)
			}
		}, "answered"},
		{"finish is not repeated, and the reader is told at the end", "app.turn_sources", func(t *testing.T, r reply) {
			lines := strings.Split(strings.TrimSpace(r.body), "\n")
			var last event
			decode(t, lines[len(lines)-1], &last)
			if last.Type != "error" || last.Code != "database_unavailable" || strings.Contains(r.body, `"done"`) {
				t.Errorf("%s", r.body)
			}
		}, "running"},
	} {
		t.Run(c.name, func(t *testing.T) {
			known := s.text(t, `select coalesce(string_agg(id::text, ','), '') from app.turns`)
			r := s.kill(t, rep, c.table)
			c.check(t, r)
			got := s.text(t, `select coalesce(string_agg(t.status, ','), '') from app.turns t
				where t.id::text <> all (string_to_array($1, ','))`, known)
			if got != c.turns {
				t.Errorf("turns: %q, want %q", got, c.turns)
			}
			rep.with(t).ask(nookQuestion)
		})
	}
}

// kill asks while somebody holds the table, kills the backend that waits for it, lets the table go, and
// returns what the reader was told.
func (s *server) kill(t *testing.T, rep person, table string) (r reply) {
	t.Helper()
	holder, admin := connect(t, s.database), connect(t, s.database)
	execute(t, holder, "begin; lock table "+table+" in access exclusive mode")
	var asking sync.WaitGroup
	asking.Go(func() { r = rep.with(t).post("/v1/ask", encode(t, map[string]string{"question": nookQuestion})) })
	killed := false
	for deadline := time.Now().Add(patience); !killed && time.Now().Before(deadline); {
		err := admin.QueryRow(t.Context(), `select pg_terminate_backend(pid, 60000) from pg_stat_activity
			where usename = 'porchlight_runtime' and datname = current_database() and wait_event_type = 'Lock'`).Scan(&killed)
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			t.Error(err)
			break
		}
	}
	if !killed {
		t.Error("no backend ever waited for", table)
	}
	_ = holder.Close(t.Context())
	asking.Wait()
	return r
}

// The process is killed as soon as the last line of an answer has been read: the turn is in the log. P8 O111
func TestOutage_ATurnIsLoggedBeforeItsLastLineIsSent(t *testing.T) {
	t.Parallel()
	b := newBrand(t, t.TempDir(), "frozen-stoves", "{turns_per_minute: 1000}", map[string]string{
		"prices/stoves.md": priceList(daysAgo(2), "Ember Nook: €1,240.00"),
	})
	s, err := start(t.Context(), options{name: "frozen", brands: filepath.Dir(b.dir)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = s.command.Process.Kill()
		<-s.ended
		if err := s.checkLog(); err != nil {
			t.Error(err)
		}
	}()
	rep := s.rep(t, b.slug)
	s.told.add(nookQuestion)
	for range 20 {
		isLogged(t, s, askToTheLastLine(t, rep))
	}
	turnID := askToTheLastLine(t, rep)
	if err := s.command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-s.ended
	isLogged(t, s, turnID)
}

func isLogged(t *testing.T, s *server, turnID string) {
	t.Helper()
	got := s.text(t, `select t.status || ' ' || (t.answer like '%€1,240.00%') || ' ' || count(u.turn_id)
		from app.turns t left join app.turn_sources u on u.tenant_id = t.tenant_id and u.turn_id = t.id
		where t.id = $1 group by t.status, t.answer`, turnID)
	if got != "answered true 1" {
		t.Errorf("the turn is logged as %q", got)
	}
}

// askToTheLastLine reads an answer until its last line has come, and not to the end of the response.
func askToTheLastLine(t *testing.T, p person) (turnID string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	request := p.request(ctx, http.MethodPost, "/v1/ask", encode(t, map[string]string{"question": nookQuestion}), asJSON)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		switch e.Type {
		case "turn":
			turnID = e.TurnID
		case "done":
			return turnID
		}
	}
	t.Error("the last line never came")
	return turnID
}
