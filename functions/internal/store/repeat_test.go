package store_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/google/uuid"

	"porchlight/functions/internal/corpus"
	"porchlight/functions/internal/problem"
	"porchlight/functions/internal/store"
	"porchlight/functions/internal/turn"
)

// door is one function of api by way of its method.
type door struct {
	name, login string
	isRead      bool
	call        func(*store.Store) error
}

// doors are all that a store calls, each with arguments that the database takes.
func (f fixture) doors(t *testing.T) []door {
	t.Helper()
	const runtime, owner = "porchlight_runtime", "postgres"
	s, operator := f.open(t, runtime), store.Service("")
	index(t, s, f.bob, "prices/a.md", "Flex costs 12,50 € a month.")
	stale, err := s.StaleChunks(t.Context(), f.bob, 1)
	if err != nil || len(stale) != 1 {
		t.Fatalf("stale: %+v, %v", stale, err)
	}
	started, err := s.StartReindex(t.Context(), f.bob, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	run := started.RunID
	begun, err := s.BeginTurn(t.Context(), f.alice, turn.Question{Text: "q"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	src := corpus.Source{Type: "faq", Key: "faq/b.md", Title: "B", Language: "en", Visibility: corpus.Tenant}
	other := src
	other.Key = "faq/c.md"
	chunks := []corpus.Chunk{{Content: "Yes."}}
	return []door{
		{"check_login", runtime, true, func(s *store.Store) error { return s.Check(t.Context()) }},
		{"match_chunks_local", runtime, true, func(s *store.Store) error {
			_, err := s.MatchChunks(t.Context(), f.alice, search("q"))
			return err
		}},
		{"plan_reindex", runtime, true, func(s *store.Store) error {
			_, err := s.PlanReindex(t.Context(), f.bob, run, src, chunks, []string{"local"})
			return err
		}},
		{"preview_source", runtime, true, func(s *store.Store) error {
			_, err := s.PreviewSource(t.Context(), f.bob, src, chunks, []string{"local"})
			return err
		}},
		{"preview_listing", runtime, true, func(s *store.Store) error {
			_, err := s.PreviewListing(t.Context(), f.bob, []string{src.Key})
			return err
		}},
		{"embedding_quota", runtime, true, func(s *store.Store) error {
			_, err := s.EmbeddingQuota(t.Context(), f.bob)
			return err
		}},
		{"get_reindex", runtime, true, func(s *store.Store) error {
			_, err := s.GetReindex(t.Context(), f.bob, run)
			return err
		}},
		{"renew_reindex", runtime, true, func(s *store.Store) error {
			return s.RenewReindex(t.Context(), f.bob, run)
		}},
		{"stored_turn", runtime, true, func(s *store.Store) error {
			_, err := s.StoredTurn(t.Context(), f.alice, begun.TurnID)
			return err
		}},
		{"reserve_call", runtime, false, func(s *store.Store) error {
			_, err := s.ReserveCall(t.Context(), f.alice, begun.TurnID, begun.Run, "gemini-3.6-flash")
			return err
		}},
		{"take_reindex_call", runtime, false, func(s *store.Store) error {
			_, err := s.TakeReindexCall(t.Context(), f.bob, run, "gemini-embedding-001")
			return err
		}},
		{"stale_chunks", runtime, true, func(s *store.Store) error {
			_, err := s.StaleChunks(t.Context(), f.bob, 1)
			return err
		}},
		{"list_tenants", owner, true, func(s *store.Store) error {
			_, err := s.ListTenants(t.Context(), operator)
			return err
		}},
		{"begin_turn", runtime, false, func(s *store.Store) error {
			_, err := s.BeginTurn(t.Context(), f.alice, turn.Question{Text: "q", TurnID: uuid.NewString()}, nil)
			return err
		}},
		{"finish_turn", runtime, false, func(s *store.Store) error {
			return s.FinishTurn(t.Context(), f.alice, turn.Finished{TurnID: begun.TurnID, Run: begun.Run, Status: turn.NoMatch})
		}},
		{"start_reindex", runtime, false, func(s *store.Store) error {
			_, err := s.StartReindex(t.Context(), f.bob, false, nil)
			return err
		}},
		{"apply_reindex", runtime, false, func(s *store.Store) error {
			_, err := s.ApplyReindex(t.Context(), f.bob, run, store.Apply{Source: src, Chunks: chunks, New: []int{0}})
			return err
		}},
		{"put_embeddings", runtime, false, func(s *store.Store) error {
			v := store.Vectors{Index: "local", Model: "all-MiniLM-L6-v2", Places: []int{0}, Values: [][]float32{vector(1)}}
			a := store.Apply{Source: other, Chunks: chunks, New: []int{0}, Vectors: []store.Vectors{v}}
			_, err := s.ApplyReindex(t.Context(), f.bob, run, a)
			return err
		}},
		{"fail_source", runtime, false, func(s *store.Store) error {
			return s.FailSource(t.Context(), f.bob, run, "faq/d.md", "unreadable")
		}},
		{"finish_reindex", runtime, false, func(s *store.Store) error {
			_, err := s.FinishReindex(t.Context(), f.bob, run, store.End{Listing: nil})
			return err
		}},
		{"verify_chunk", runtime, false, func(s *store.Store) error {
			_, err := s.VerifyChunk(t.Context(), f.bob, stale[0].ChunkID)
			return err
		}},
		{"register_tenant", owner, false, func(s *store.Store) error {
			_, err := s.RegisterTenant(t.Context(), operator, brand("three"))
			return err
		}},
		{"add_member", owner, false, func(s *store.Store) error {
			return s.AddMember(t.Context(), store.Service("two"), "alice@one.example", "rep")
		}},
		{"add_platform_admin", owner, false, func(s *store.Store) error {
			return s.AddPlatformAdmin(t.Context(), operator, "bob@one.example")
		}},
	}
}

// O110: when an answer is lost, the server may have done what it was asked. A read is asked once more and
// no oftener; a write is not.
func TestStore_RepeatsOnlyReadsWhenAnAnswerIsLost(t *testing.T) {
	f := newFixture(t)
	f.exec(t, fmt.Sprintf(`alter database %s set track_functions = 'all'`, f.name))
	doors := f.doors(t)
	for _, name := range called(t) {
		if !slices.ContainsFunc(doors, func(d door) bool { return d.name == name }) {
			t.Errorf("api.%s is called, but not here", name)
		}
	}
	for _, d := range doors {
		t.Run(d.name, func(t *testing.T) {
			asked, err := f.loseAnswers(t, d, 1)
			switch {
			case d.isRead && (err != nil || asked != 2):
				t.Errorf("a read was asked %d times and ended with %v", asked, err)
			case !d.isRead && (code(err) != problem.DatabaseUnavailable || asked != 1):
				t.Errorf("a write was asked %d times and ended with %v", asked, err)
			}
			if !d.isRead {
				return
			}
			if asked, err := f.loseAnswers(t, d, 9); code(err) != problem.DatabaseUnavailable || asked != 2 {
				t.Errorf("without any answer it was asked %d times and ended with %v", asked, err)
			}
		})
	}
}

// loseAnswers calls a door whose first answers are lost. The database says how often it was called.
func (f fixture) loseAnswers(t *testing.T, d door, answers int) (asked int, err error) {
	t.Helper()
	before := f.asked(t, d.name)
	s, l := f.openThrough(t, d.login)
	l.lose(answers)
	err = d.call(s)
	return f.asked(t, d.name) - before, err
}

// asked is how often a door was called. A session counts when it ends, at the latest.
func (f fixture) asked(t *testing.T, name string) int {
	t.Helper()
	f.exec(t, `select pg_terminate_backend(pid, 5000) from pg_stat_activity
		where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`)
	return f.count(t, fmt.Sprintf(`select coalesce(sum(calls), 0)::integer from pg_stat_user_functions
		where schemaname = 'api' and funcname = '%s'`, name))
}

// called are the doors that the sources of the package name.
func called(t *testing.T) (names []string) {
	t.Helper()
	paths, err := filepath.Glob("*.go")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no sources: %v", err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, parts := range regexp.MustCompile(`(?:select|from) api\.(\w+)\(`).FindAllStringSubmatch(string(text), -1) {
			names = append(names, parts[1])
		}
	}
	return names
}
