package e2e

import (
	"errors"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"porchlight/tests/gemini"
)

// gate is a provider of embeddings that lets nobody through until it is open.
type gate struct {
	provider *gemini.Server
	arrived  chan struct{} // somebody waits
	opened   chan struct{}
	once     sync.Once
}

func newGate(t *testing.T) *gate {
	t.Helper()
	g := &gate{provider: gemini.NewServer(t), arrived: make(chan struct{}, 1), opened: make(chan struct{})}
	for _, model := range []string{primaryModel, fallbackModel} {
		g.provider.On(model, func(r gemini.Request) gemini.Response {
			select {
			case g.arrived <- struct{}{}:
			default:
			}
			<-g.opened
			return likeVectors(r)
		})
	}
	t.Cleanup(g.open) // before the provider is closed
	return g
}

func (g *gate) open() { g.once.Do(func() { close(g.opened) }) }

// wait waits until somebody stands before the gate.
func (g *gate) wait(t *testing.T) {
	t.Helper()
	select {
	case <-g.arrived:
	case <-time.After(patience):
		t.Fatal("nobody asks for a vector")
	}
}

// texts is how many texts were sent to be embedded.
func (g *gate) texts() (n int) { return embedded(g.provider) }

func embedded(provider *gemini.Server) (n int) {
	for _, r := range provider.Requests() {
		n += len(r.Embeds)
	}
	return n
}

// keyed is the environment of a process that speaks to that provider.
func keyed(provider *gemini.Server) []string {
	return []string{"GEMINI_API_KEY=" + geminiKey, "GEMINI_BASE_URL=" + provider.URL}
}

// background is an `ingest` that runs while the test goes on.
type background struct {
	command        *exec.Cmd
	gate           *gate // nil: nothing holds it
	stdout, stderr output
	gone           chan struct{}
	err            error // read after gone
}

// begin starts the operator's command over a folder, whose vectors come through the gate.
func (b ownBrand) begin(t *testing.T, dir string, g *gate) *background {
	t.Helper()
	p := b.beginIn(t, dir, append(b.server.environment, keyed(g.provider)...))
	p.gate = g
	return p
}

func (b ownBrand) beginIn(t *testing.T, dir string, environment []string) *background {
	t.Helper()
	p := &background{gone: make(chan struct{})}
	p.command = exec.Command(binary, "ingest", "--json", "--tenant", b.slug, "--library", dir, "--all")
	p.command.Env = append(environment, "PORCHLIGHT_DATA="+b.server.data)
	p.command.Stdout, p.command.Stderr = &p.stdout, &p.stderr
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.err = p.command.Wait()
		close(p.gone)
	}()
	t.Cleanup(func() {
		p.kill()
		p.wait(t)
	})
	return p
}

// kill ends the process where it stands, as a power cut would.
func (p *background) kill() { _ = p.command.Process.Kill() }

func (p *background) wait(t *testing.T) {
	t.Helper()
	select {
	case <-p.gone:
	case <-time.After(patience):
		t.Fatalf("ingest does not end: %s", p.stderr.String())
	}
}

// ended waits for the end, wants that exit code and returns what the run did.
func (p *background) ended(t *testing.T, code int) (i ingested) {
	t.Helper()
	p.wait(t)
	if got := p.command.ProcessState.ExitCode(); got != code {
		t.Fatalf("ingest ended with %d, want %d: %s%s", got, code, p.stdout.String(), p.stderr.String())
	}
	decode(t, p.stdout.String(), &i)
	return i
}

// fails waits for the end and wants those words in what the process says of it.
func (p *background) fails(t *testing.T, words string) {
	t.Helper()
	p.wait(t)
	var ended *exec.ExitError
	if !errors.As(p.err, &ended) || !strings.Contains(p.stderr.String(), words) {
		t.Errorf("ingest: %v, %s%s, want %s", p.err, p.stdout.String(), p.stderr.String(), words)
	}
}

// held is a transaction of the superuser that others wait for.
type held struct {
	server *server
	conn   *pgx.Conn
}

func (s *server) hold(t *testing.T, statement string, arguments ...any) held {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.database)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	if _, err := conn.Exec(t.Context(), "begin"); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), statement, arguments...); err != nil {
		t.Fatal(err)
	}
	return held{s, conn}
}

// end is "commit" or "rollback".
func (h held) end(t *testing.T, how string) {
	t.Helper()
	if _, err := h.conn.Exec(t.Context(), how); err != nil {
		t.Fatal(err)
	}
}

// awaitBlocked waits until that many sessions wait for the transaction, or for one that does.
func (h held) awaitBlocked(t *testing.T, sessions string) {
	t.Helper()
	h.server.await(t, sessions, `with recursive blocked (pid) as (
			select $1::integer
			union select a.pid from pg_stat_activity a join blocked b on b.pid = any (pg_blocking_pids(a.pid))
		) select (count(*) - 1)::text from blocked`, h.conn.PgConn().PID())
}
