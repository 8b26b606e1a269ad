package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// faults lists what must not be of a brand's index once nobody writes it: passages outside of their
// source or without a vector, a run that looks alive, a lock that was left.
func (b ownBrand) faults(t *testing.T) string {
	t.Helper()
	return b.server.text(t, `
		with mine as (select id from app.tenants where slug = $1)
		select string_agg(f, ', ') from (
			select 'loose chunk ' || c.content from mine join app.chunks c on c.tenant_id = mine.id
			join app.sources s on s.tenant_id = c.tenant_id and s.id = c.source_id where c.id <> all (s.chunk_ids)
			union all
			select 'hole in ' || s.source_key from mine join app.sources s on s.tenant_id = mine.id
			where cardinality(s.chunk_ids) <> (select count(*) from app.chunks c where c.source_id = s.id)
			union all
			select 'no vector for ' || c.content from mine join app.chunks c on c.tenant_id = mine.id
			where not exists (select from app.chunk_embeddings_local e where e.chunk_id = c.id)
			union all
			select 'no terms of ' || c.content from mine join app.chunks c on c.tenant_id = mine.id
			where not exists (select from app.chunk_terms e where e.chunk_id = c.id)
			union all
			select 'run ' || r.status || ' ' || coalesce(r.reason, '') from mine
			join app.reindex_runs r on r.tenant_id = mine.id where r.status = 'running'
			union all
			-- the session form of a lock stays with an idle connection
			select 'lock of an idle connection' from pg_locks l join pg_stat_activity a using (pid)
			where l.locktype = 'advisory' and a.state like 'idle%' and a.datname = current_database()
				and a.state_change < clock_timestamp() - interval '1 second' -- the two views are of two moments
		) f (f)`, b.slug)
}

// rests fails unless the brand's index is whole and exactly what the library says.
func (b ownBrand) rests(t *testing.T) {
	t.Helper()
	if faults := b.faults(t); faults != "" {
		t.Errorf("faults: %s", faults)
	}
	before := b.rows(t)
	i := b.ingest(t, 0)
	if i.Status != "ready" || i.Indexed+i.Superseded+i.Retired+i.Added+i.Removed != 0 || i.Unchanged != i.Sources || b.rows(t) != before {
		t.Errorf("the index is not what the library says: %+v", i)
	}
}

// Eight at once, over HTTP and as processes: whoever wins, the result is one clean version, and nobody is
// told of a lock. C1 O40 O41
func TestReindex_EightAtOnceLeaveOneCleanVersion(t *testing.T) {
	t.Parallel()
	b := doorstep.addBrand(t, "eight-stoves", "{}", nil)
	write := func(round int) {
		for i, name := range []string{"ash", "birch", "cedar", "elm"} {
			rows := make([]string, 0, 8)
			for n := range 8 - (round+i)%3 {
				rows = append(rows, fmt.Sprintf("%s %d: €%d.00", name, n, 100+n*(1+(round+n+i)%2)))
			}
			b.write(t, "prices/"+name+".md", priceList(daysAgo(2+i), rows...))
		}
		b.write(t, "faq/round.md", strings.Repeat("# Legal\n\nAll prices include VAT.\n\n", 1+round%3))
		if round%2 == 1 {
			b.write(t, "faq/odd.md", "# Odd\n\nOnly every other round.\n")
		} else {
			b.remove(t, "faq/odd.md")
		}
	}
	const rounds = 4
	told := map[string]*atomic.Int64{"ready": {}, "unchanged": {}, "superseded": {}}
	for round := range rounds {
		write(round)
		t.Run(fmt.Sprint("round ", round), func(t *testing.T) {
			for n := range 8 {
				t.Run(fmt.Sprint("run ", n), func(t *testing.T) {
					t.Parallel()
					if n >= 6 { // two of them are processes of their own
						if i := b.ingest(t, 0); i.Status != "ready" || i.Indexed+i.Unchanged+i.Superseded != i.Sources {
							t.Errorf("%+v", i)
						}
						return
					}
					done := b.index(t)
					if done.Status != "ready" || done.Failed != 0 {
						t.Errorf("%+v", done)
					}
					for _, s := range done.Sources {
						if told[s.Status] == nil {
							t.Fatalf("%+v", s)
						}
						told[s.Status].Add(1)
					}
				})
			}
		})
		b.rests(t)
	}
	if n := doorstep.text(t, `select deadlocks::text from pg_stat_database where datname = current_database()`); n != "0" {
		t.Errorf("%s deadlocks", n)
	}
	t.Logf("%d rounds of 8; sources over HTTP: %d ready, %d unchanged, %d superseded", rounds,
		told["ready"].Load(), told["unchanged"].Load(), told["superseded"].Load())
}

// An older snapshot that is slow finds that a newer one has settled every source it has: what changed,
// what is gone, what it alone knows. It is no failure, and says so. C4 D5
func TestReindex_ASlowOlderSnapshotLosesToANewerOne(t *testing.T) {
	t.Parallel()
	b := doorstep.addBrand(t, "slow-stoves", "{turns_per_minute: 100}", map[string]string{
		"prices/stoves.md": priceList(daysAgo(3), "Ember Nook: €60.00"), "faq/gone.md": "# Pick-up\n\nPick-up is at the back door.\n",
	})
	b.index(t)
	b.write(t, "articles/first.md", "# First\n\nThe old words come first.\n")
	b.write(t, "faq/never.md", "# Never\n\nThis was taken back at once.\n")
	b.write(t, "prices/stoves.md", priceList(daysAgo(2), "Ember Nook: €80.00"))
	old := filepath.Join(t.TempDir(), b.slug)
	if err := os.CopyFS(old, os.DirFS(b.dir)); err != nil {
		t.Fatal(err)
	}
	slow := b.begin(t, old, newGate(t))
	slow.gate.wait(t)

	b.write(t, "articles/first.md", "# First\n\nThe new words come first.\n")
	b.remove(t, "faq")
	b.write(t, "prices/stoves.md", priceList(daysAgo(1), "Ember Nook: €100.00"))
	if done := b.index(t); done.Status != "ready" || done.Failed != 0 {
		t.Errorf("the newer run: %+v", done)
	}
	before := b.rows(t)
	slow.gate.open()
	i := slow.ended(t, 0)
	if i.Status != "ready" || i.Sources != 4 || i.Superseded != 4 || i.Added+i.Removed+i.Retired != 0 {
		t.Errorf("the older run: %+v", i)
	}
	if after := b.rows(t); after != before {
		t.Errorf("the older run wrote:\n%s\nwere\n%s", after, before)
	}
	shown := b.server.admin(t, b.slug).showRun(i.RunID)
	for _, s := range shown.Sources {
		if s.Status != "superseded" || s.Reason != "newer_snapshot" {
			t.Errorf("shown: %+v", s)
		}
	}
	a := b.server.rep(t, b.slug).ask(nookQuestion)
	if a.mustNotSay(t, "80.00", "60.00"); !strings.Contains(a.said(), "€100.00") {
		t.Errorf("%s: %s", a.Outcome, a.said())
	}
	if n := slow.gate.texts(); n != 2 { // the first document, for two hosted indexes; the others are not paid for
		t.Errorf("the older run embedded %d texts", n)
	}
	b.rests(t)
}

// Of two runs that planned on the same state the older one may come first; the newer one then plans anew
// and still has the last word. C4
func TestReindex_TheNewerRunWinsAlsoWhenItComesSecond(t *testing.T) {
	t.Parallel()
	b := doorstep.addBrand(t, "second-stoves", "{turns_per_minute: 100}", map[string]string{
		"prices/stoves.md": priceList(daysAgo(3), "Ember Nook: €60.00") + "\n# Flues\n\nThe short flue costs €41.00.\n",
	})
	b.index(t)
	b.write(t, "prices/stoves.md", priceList(daysAgo(2), "Ember Nook: €80.00"))
	old := filepath.Join(t.TempDir(), b.slug)
	if err := os.CopyFS(old, os.DirFS(b.dir)); err != nil {
		t.Fatal(err)
	}
	older := b.begin(t, old, newGate(t))
	older.gate.wait(t)
	b.write(t, "prices/stoves.md", priceList(daysAgo(1), "Ember Nook: €100.00")+"\n# Flues\n\nThe short flue costs €41.00.\n")
	newer := b.begin(t, b.dir, newGate(t))
	newer.gate.wait(t)

	older.gate.open()
	if i := older.ended(t, 0); i.Status != "ready" || i.Indexed != 1 || i.Removed != 2 {
		t.Errorf("the older run: %+v", i)
	}
	newer.gate.open()
	if i := newer.ended(t, 0); i.Status != "ready" || i.Indexed != 1 || i.Superseded != 0 || i.Added != 2 || i.Removed != 1 {
		t.Errorf("the newer run: %+v", i)
	}
	if n := newer.gate.texts(); n != 4 { // two passages for each of two hosted indexes, none of them twice
		t.Errorf("the newer run embedded %d texts", n)
	}
	for question, want := range map[string]string{nookQuestion: "€100.00", "What does the short flue cost?": "€41.00"} {
		if a := b.server.rep(t, b.slug).ask(question); !strings.Contains(a.said(), want) {
			t.Errorf("%s: %s", a.Outcome, a.said())
		}
	}
	b.rests(t)
}

// Questions all the while: each is answered from one version or the other, never from none or from both.
// C2
func TestReindex_AQuestionMeetsTheOldVersionOrTheNew(t *testing.T) {
	t.Parallel()
	versions := []string{"€1,240.00", "€1,380.00"}
	document := func(n int) string {
		return priceList(daysAgo(2), "Ember Nook: "+versions[n%2]) + strings.Repeat(fmt.Sprintf("\n# Note %d\n\nA note on ash.\n", n), 3)
	}
	b := doorstep.addBrand(t, "swap-stoves", "{turns_per_minute: 1000, turns_per_day: 10000}", map[string]string{"prices/stoves.md": document(0)})
	b.index(t)
	const swaps = 8
	ended := make(chan struct{})
	var asked [2]atomic.Int64
	t.Run("meanwhile", func(t *testing.T) {
		t.Run("reindex", func(t *testing.T) {
			t.Parallel()
			defer close(ended)
			// on until there were questions, too: they may get their turn late
			for n := 1; n <= swaps || n < 20*swaps && asked[0].Load()+asked[1].Load() < swaps; n++ {
				b.write(t, "prices/stoves.md", document(n))
				if done := b.index(t); done.Status != "ready" || done.Added == 0 {
					t.Errorf("%+v", done)
				}
			}
		})
		for n := range 2 {
			t.Run(fmt.Sprint("ask ", n), func(t *testing.T) {
				t.Parallel()
				rep := b.server.rep(t, b.slug)
				for {
					select {
					case <-ended:
						return
					default:
					}
					a := rep.ask(nookQuestion)
					old, young := strings.Contains(a.said(), versions[0]), strings.Contains(a.said(), versions[1])
					if a.Outcome != "answered" || old == young {
						t.Errorf("%s: %s", a.Outcome, a.said())
					}
					if old {
						asked[0].Add(1)
					} else {
						asked[1].Add(1)
					}
				}
			})
		}
	})
	if asked[0].Load()+asked[1].Load() < swaps {
		t.Errorf("only %d and %d answers", asked[0].Load(), asked[1].Load())
	}
	// the passage that an answer rests on is about to go when the answer is noted: nobody waits for anybody
	deletion := doorstep.hold(t, `delete from app.sources where tenant_id = $1`, b.id(t))
	a := doorstep.rep(t, b.slug).ask(nookQuestion)
	if a.Outcome != "answered" || !strings.Contains(a.said(), versions[0]) && !strings.Contains(a.said(), versions[1]) {
		t.Errorf("while it is deleted: %s", a.body)
	}
	deletion.end(t, "rollback")
	if got := doorstep.text(t, `select bool_and(chunk_id is null) || ' ' || min(title) from app.turn_sources
		where turn_id = $1`, a.turnID); got != "true Stoves" {
		t.Errorf("its sources were noted as %q", got)
	}
	t.Logf("%d swaps; %d answers of one version, %d of the other", swaps, asked[0].Load(), asked[1].Load())
	b.rests(t)
}
