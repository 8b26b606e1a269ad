package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"porchlight/tests/gemini"
)

// crashes is a brand that is indexed to and fro between two versions of its library, by processes that
// are killed on the way, while a server that is never killed answers from it.
type crashes struct {
	ownBrand
	provider *gemini.Server
	reader   person
	library  [2]map[string]string
	clean    [2]map[string]string // what a run that nobody killed leaves of each source
	texts    [2]int               // how many texts it embeds on the way to the version
	said     [2]int               // and how many bytes it sends to Postgres
	version  int                  // that is stored

	kills, compared, saved, paid int
}

// prices of the document that is asked for, by version.
var nookPrices = [2]string{"€1,240.00", "€1,380.00"}

// randomLibraries makes two versions of a library: documents and sections that are in both, in one, or
// differ.
func randomLibraries(random *rand.Rand) (versions [2]map[string]string) {
	for v := range versions {
		versions[v] = map[string]string{"prices/stoves.md": priceList(daysAgo(2), "Ember Nook: "+nookPrices[v])}
	}
	for n := range 8 {
		var documents [2]strings.Builder
		for section := range 3 + random.IntN(4) {
			text := fmt.Sprintf("\n# Part %d of %d\n\nArticle %d costs €%d.00", section, n, section, 10+random.IntN(90))
			changes := random.IntN(3) == 0
			for v := range documents {
				if gone := random.IntN(8) == 0; gone && section > 0 {
					continue
				}
				documents[v].WriteString(text)
				if changes {
					fmt.Fprintf(&documents[v], " in edition %d", v)
				}
				documents[v].WriteString(".\n")
			}
		}
		for v := range versions {
			if random.IntN(8) > 0 {
				versions[v][fmt.Sprintf("articles/%d.md", n)] = documents[v].String()
			}
		}
	}
	return versions
}

// seed is that of PORCHLIGHT_SEED, to see a failure again, or a new one.
func seed(t *testing.T) uint64 {
	t.Helper()
	n := uint64(time.Now().UnixNano())
	if text := os.Getenv("PORCHLIGHT_SEED"); text != "" {
		var err error
		if n, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("PORCHLIGHT_SEED=%d", n)
	return n
}

// Ten random points: in the middle of a message to Postgres, or before a vector comes; of the command and
// of the server. The old version is served until a source is swapped, then the new one; the next run pays
// for what is missing and for nothing else, and ends where a run that nobody killed would have. B1 B4 D5 O105
func TestReindex_KilledAnywhereItLosesNothing(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(seed(t), 0))
	c := &crashes{provider: gemini.NewServer(t), library: randomLibraries(random)}
	c.ownBrand = newBrand(t, t.TempDir(), "crash-stoves", "{turns_per_minute: 1000, turns_per_day: 10000}", c.library[1]).
		serve(t, options{name: "crash"})
	c.reader = c.server.rep(t, c.slug)
	for _, version := range []int{0, 1, 0} {
		c.runClean(t, version)
	}
	for n := range 10 {
		c.crash(t, n, random)
	}
	t.Logf("%d kills; %d passages compared bit for bit; %d texts embedded after a kill, %d saved", c.kills, c.compared, c.paid, c.saved)
	if c.kills < 8 {
		t.Errorf("only %d processes were alive when their time had come", c.kills)
	}
}

// runClean indexes a version without a kill and remembers what comes of it.
func (c *crashes) runClean(t *testing.T, version int) {
	t.Helper()
	c.put(t, version)
	c.answering()
	before, open := embedded(c.provider), openTap(t, -1)
	c.beginIn(t, c.dir, c.environment(open)).ended(t, 0)
	c.version, c.texts[version], c.said[version] = version, embedded(c.provider)-before, open.bytes()
	held := c.held(t)
	if was := c.clean[version]; was != nil && fmt.Sprint(was) != fmt.Sprint(held) {
		t.Fatalf("two clean runs differ:\n%v\n%v", was, held)
	}
	c.clean[version] = held
}

func (c *crashes) environment(p *tap) []string {
	return append(append([]string{}, c.server.environment...),
		append(keyed(c.provider), "PORCHLIGHT_POSTGRES_URL="+through(c.server.database, p.address))...)
}

// put makes the folder that version.
func (c *crashes) put(t *testing.T, version int) {
	t.Helper()
	for key := range c.library[1-version] {
		c.remove(t, key)
	}
	for key, text := range c.library[version] {
		c.write(t, key, text)
	}
}

// answering lets the provider answer every call.
func (c *crashes) answering() {
	for _, model := range []string{primaryModel, fallbackModel} {
		c.provider.On(model, likeVectors)
	}
}

// hangingAfter lets it answer so many calls; the next one hangs, and closes the channel.
func (c *crashes) hangingAfter(calls int) <-chan struct{} {
	var left atomic.Int64
	left.Store(int64(calls))
	reached := make(chan struct{})
	for _, model := range []string{primaryModel, fallbackModel} {
		c.provider.On(model, func(r gemini.Request) gemini.Response {
			switch n := left.Add(-1); {
			case n >= 0:
				return likeVectors(r)
			case n == -1:
				close(reached)
			}
			return gemini.Hang()
		})
	}
	return reached
}

// crash kills one process on its way to the other version and lets another one end the work.
func (c *crashes) crash(t *testing.T, n int, random *rand.Rand) {
	t.Helper()
	target := 1 - c.version
	c.put(t, target)
	c.answering()
	before, rows := c.held(t), c.identities(t)
	open, point := openTap(t, -1), ""
	var reached <-chan struct{}
	if n%3 == 2 {
		calls := random.IntN(max(c.calls(target), 1))
		point = fmt.Sprintf("before vectors, after %d calls", calls)
		reached = c.hangingAfter(calls)
	} else {
		bytes := c.said[target]/20 + random.IntN(c.said[target]*9/10)
		point = fmt.Sprintf("after %d of %d bytes", bytes, c.said[target])
		open = openTap(t, bytes)
		reached = open.reached
	}
	isServer := n%5 == 4
	kill, gone := c.startVictim(t, isServer, c.environment(open))
	select {
	case <-reached:
		c.kills++
		c.asks(t, before, target) // it stands still in the middle of its work
		kill()
	case <-gone: // it was done before: that may be when a server says more or less than the command
		point += ", too late"
	case <-time.After(patience):
		t.Fatal("the process does not come to its point")
	}
	<-gone
	t.Logf("%d: server %t, %s", n, isServer, point)
	c.asks(t, before, target)
	c.recover(t, n, target, rows)
}

// calls is about how many calls of a model a clean run makes: one for each source and hosted index.
func (c *crashes) calls(target int) (n int) {
	for key, text := range c.library[target] {
		if text != c.library[1-target][key] {
			n += 2
		}
	}
	return n
}

// startVictim starts the command, or a second server, which indexes when it starts.
func (c *crashes) startVictim(t *testing.T, isServer bool, environment []string) (kill func(), gone <-chan struct{}) {
	t.Helper()
	if !isServer {
		p := c.beginIn(t, c.dir, environment)
		return p.kill, p.gone
	}
	s := &server{name: "victim", log: &output{}, ended: make(chan struct{})}
	s.command = exec.Command(binary, "serve", "--json", "--address=127.0.0.1:0", "--data="+c.server.data, "--brands="+c.server.library)
	s.command.Env, s.command.Stderr, s.command.SysProcAttr = environment, s.log, childAttributes()
	ready, err := s.launch()
	if err != nil {
		t.Fatal(err)
	}
	kill = func() { _ = s.command.Process.Kill() }
	go func() { // one that gets ready has nothing more to do
		if line := <-ready; len(line) > 0 {
			kill()
		}
	}()
	t.Cleanup(func() {
		kill()
		<-s.ended
	})
	return kill, s.ended
}
