package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"porchlight/functions/internal/corpus"
	"porchlight/functions/internal/identity"
	"porchlight/functions/internal/problem"
	"porchlight/functions/internal/store"
	"porchlight/functions/internal/turn"
)

func code(err error) problem.Code {
	if err == nil {
		return ""
	}
	return problem.From(err).Code
}

func TestCheck_RefusesALoginThatNoPolicyHolds(t *testing.T) {
	f := newFixture(t)
	if err := f.open(t, "porchlight_runtime").Check(t.Context()); err != nil {
		t.Errorf("the runtime login is refused: %v", err)
	}
	for _, role := range []string{"postgres", postgresSuperuser} {
		if err := f.open(t, role).Check(t.Context()); err == nil {
			t.Errorf("%s may serve", role)
		}
	}
}

const postgresSuperuser = "supabase_admin"

// The runtime login has no way to the operator's role.
func TestService_IsClosedToTheRuntimeLogin(t *testing.T) {
	f := newFixture(t)
	if _, err := f.open(t, "porchlight_runtime").ListTenants(t.Context(), store.Service("")); err == nil {
		t.Error("the runtime login became service_role")
	}
}

// O70: what a claim holds is a value and never SQL.
func TestAs_TakesClaimsAsValues(t *testing.T) {
	f := newFixture(t)
	s := f.open(t, "porchlight_runtime")
	p := f.alice
	p.Claims = []byte(`{"sub":"` + aliceID + `","app_metadata":{"tenant_id":"a'; reset role; --"}}`)
	if _, err := s.BeginTurn(t.Context(), p, turn.Question{Text: "q"}, nil); code(err) != problem.NotAMember {
		t.Errorf("got %v", err)
	}
	p = f.alice
	p.Tenant = "one'; reset role; --"
	if _, err := s.BeginTurn(t.Context(), p, turn.Question{Text: "q"}, nil); code(err) != problem.NotAMember {
		t.Errorf("got %v", err)
	}
}

// O68: the pool has one connection: what a caller set must be gone for the next, however the call ended.
func TestAs_LeavesNothingOfACallerOnTheConnection(t *testing.T) {
	f := newFixture(t)
	s := f.open(t, "porchlight_runtime")
	fresh, err := s.Left(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if fresh.Role != "none" || fresh.Claims+fresh.Tenant != "" || len(fresh.Others) != 0 {
		t.Fatalf("a connection that nobody used says %+v", fresh)
	}
	named := f.alice
	named.Tenant = "one"
	nobody := identity.Principal{Role: "authenticated", Claims: []byte("{}"), Tenant: "two"}
	calls := []struct {
		name string
		call func() error
		code problem.Code
	}{
		{"a write", func() error { _, err := s.BeginTurn(t.Context(), named, turn.Question{Text: "q"}, nil); return err }, ""},
		{"a read", func() error { _, err := s.MatchChunks(t.Context(), named, search("q")); return err }, ""},
		{"a refusal", func() error { _, err := s.ListTenants(t.Context(), named); return err }, problem.NotAnAdmin},
		{"nobody", func() error { _, err := s.BeginTurn(t.Context(), nobody, turn.Question{Text: "q"}, nil); return err }, problem.NotAMember},
	}
	for _, c := range calls {
		if err := c.call(); code(err) != c.code {
			t.Errorf("%s: got %v", c.name, err)
		}
		left, err := s.Left(t.Context())
		if diff := cmp.Diff(fresh, left); diff != "" || err != nil {
			t.Errorf("%s left something on the connection: %s (%v)", c.name, diff, err)
		}
	}
}

func TestBeginTurn_RefusesWithTheCodeOfTheLimit(t *testing.T) {
	f := newFixture(t)
	f.exec(t, `update app.tenant_limits set turns_per_minute = 1, question_characters = 5`)
	s := f.open(t, "porchlight_runtime")
	steps := []struct {
		name, question string
		code           problem.Code
		waits          bool
	}{
		{"nothing asked", "", problem.QuestionEmpty, false},
		{"too long", "123456", problem.QuestionTooLong, false},
		{"the first of the minute", "12345", "", false},
		{"the second", "12345", problem.RateLimited, true},
	}
	for _, step := range steps {
		_, err := s.BeginTurn(t.Context(), f.alice, turn.Question{Text: step.question}, nil)
		if code(err) != step.code || err != nil && (problem.From(err).RetryAfter > 0) != step.waits {
			t.Errorf("%s: got %v", step.name, err)
		}
	}
	if n := f.count(t, `select count(*) from app.turns where status = 'refused'`); n != 3 {
		t.Errorf("%d refusals are logged, want 3", n)
	}
}

func TestBeginTurn_RefusesAUsedID(t *testing.T) {
	f := newFixture(t)
	s := f.open(t, "porchlight_runtime")
	q := turn.Question{Text: "q", TurnID: uuid.NewString()}
	if b, err := s.BeginTurn(t.Context(), f.alice, q, nil); err != nil || b.State != turn.Open {
		t.Fatalf("%+v, %v", b, err)
	}
	if b, err := s.BeginTurn(t.Context(), f.alice, q, nil); err != nil || b.State != turn.Running {
		t.Errorf("%+v, %v", b, err)
	}
	q.Text = "another"
	if _, err := s.BeginTurn(t.Context(), f.alice, q, nil); code(err) != problem.TurnIDUsed {
		t.Errorf("got %v", err)
	}
}

func TestStoredTurn_IsWhatWasFinished(t *testing.T) {
	f := newFixture(t)
	s := f.open(t, "porchlight_runtime")
	begun, err := s.BeginTurn(t.Context(), f.alice, turn.Question{Text: "q"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.StoredTurn(t.Context(), f.alice, begun.TurnID); err != nil || got.Status != turn.Running {
		t.Fatalf("%+v, %v", got, err)
	}
	day := time.Date(2026, 11, 18, 0, 0, 0, 0, time.UTC)
	want := turn.Finished{
		TurnID: begun.TurnID, Run: begun.Run, Status: turn.NoMatch, Answer: "I do not know.", Language: "en",
		AsOf: &day, Index: "local", Model: "extractive", MS: turn.Millis{Embed: 1, Total: 12},
		Used: []corpus.Match{},
	}
	if err := s.FinishTurn(t.Context(), f.alice, want); err != nil {
		t.Fatal(err)
	}
	got, err := s.StoredTurn(t.Context(), f.alice, begun.TurnID)
	if err != nil {
		t.Fatal(err)
	}
	want.Run = 0 // which the database keeps to itself
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := s.StoredTurn(t.Context(), f.alice, uuid.NewString()); code(err) != problem.NotFound {
		t.Errorf("got %v", err)
	}
}

func vector(first float32) []float32 {
	v := make([]float32, 384)
	v[0], v[1] = first, 1-first
	return v
}

// index stores one source with one chunk a text.
func index(t *testing.T, s *store.Store, p identity.Principal, key string, texts ...string) {
	t.Helper()
	run, err := s.StartReindex(t.Context(), p, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	src := corpus.Source{Type: "price", Key: key, Title: key, Language: "en", Visibility: corpus.Tenant}
	chunks := make([]corpus.Chunk, len(texts))
	v := store.Vectors{Index: "local", Model: "all-MiniLM-L6-v2"}
	for i, text := range texts {
		chunks[i].Content = text
	}
	plan, err := s.PlanReindex(t.Context(), p, run.RunID, src, chunks, []string{"local"})
	if err != nil {
		t.Fatal(err)
	}
	v.Places = plan.Missing["local"]
	for i := range v.Places {
		v.Values = append(v.Values, vector(float32(i+1)/float32(len(texts)+1)))
	}
	a := store.Apply{Source: src, Chunks: chunks, Generation: plan.Generation, New: plan.New, Vectors: []store.Vectors{v}}
	if _, err := s.ApplyReindex(t.Context(), p, run.RunID, a); err != nil {
		t.Fatal(err)
	}
}

func search(question string) turn.Search {
	return turn.Search{Index: "local", Model: "all-MiniLM-L6-v2", Vector: vector(0.5), Question: question, Limit: 6}
}

func TestMatchChunks_FindsOnlyTheCallersBrand(t *testing.T) {
	f := newFixture(t)
	s := f.open(t, "porchlight_runtime")
	index(t, s, f.bob, "prices/a.md", "Flex costs 12,50 € a month.")
	index(t, s, f.carol, "prices/a.md", "Flex costs 99 € a month.")
	matches, err := s.MatchChunks(t.Context(), f.alice, search("What does Flex cost?"))
	if err != nil {
		t.Fatal(err)
	}
	if len(matches) != 1 || matches[0].Content != "Flex costs 12,50 € a month." || !matches[0].IsPricing {
		t.Errorf("got %+v", matches)
	}
}

// O49: a vector is compared with vectors of its own model or not at all.
func TestMatchChunks_RefusesAVectorOfAnotherModel(t *testing.T) {
	f := newFixture(t)
	s := f.open(t, "porchlight_runtime")
	m := search("q")
	m.Model = "another"
	if _, err := s.MatchChunks(t.Context(), f.alice, m); code(err) != problem.ModelMismatch {
		t.Errorf("got %v", err)
	}
}

// O110: after the server closed idle connections, the next read goes through at once.
func TestAsk_RepeatsAReadOnADeadConnection(t *testing.T) {
	f := newFixture(t)
	s := f.open(t, "porchlight_runtime")
	for range 3 {
		if _, err := s.MatchChunks(t.Context(), f.alice, search("q")); err != nil {
			t.Fatal(err)
		}
		f.killRuntime(t)
	}
}

func (f fixture) killRuntime(t *testing.T) {
	t.Helper()
	f.exec(t, `select pg_terminate_backend(pid, 5000) from pg_stat_activity
		where usename = 'porchlight_runtime' and datname = current_database()`)
}

// O110: a write is never repeated. It fails with 503 or, where the driver noticed before sending, works.
func TestAs_NeverRepeatsAWrite(t *testing.T) {
	f := newFixture(t)
	s := f.open(t, "porchlight_runtime")
	if _, err := s.BeginTurn(t.Context(), f.alice, turn.Question{Text: "q"}, nil); err != nil {
		t.Fatal(err)
	}
	f.killRuntime(t)
	_, err := s.BeginTurn(t.Context(), f.alice, turn.Question{Text: "q"}, nil)
	want := 2
	if err != nil {
		want = 1
		if p := problem.From(err); p.Code != problem.DatabaseUnavailable || p.RetryAfter == 0 {
			t.Errorf("got %v", err)
		}
	}
	if n := f.count(t, `select count(*) from app.turns`); n != want {
		t.Errorf("%d turns, want %d", n, want)
	}
}

func TestStore_SaysThatTheDatabaseIsAway(t *testing.T) {
	s, err := store.Open(t.Context(), store.Options{URL: "postgres://porchlight_runtime@127.0.0.1:1/none"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	_, err = s.MatchChunks(ctx, identity.Principal{Role: "authenticated", Claims: []byte("{}")}, search("q"))
	if p := problem.From(err); p.Code != problem.DatabaseUnavailable || p.RetryAfter == 0 {
		t.Errorf("got %v", err)
	}
}

func TestStore_PassesACancelledContextOn(t *testing.T) {
	f := newFixture(t)
	s := f.open(t, "porchlight_runtime")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.MatchChunks(ctx, f.alice, search("q")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestVerifyChunk_TreatsForeignAndUnknownAlike(t *testing.T) {
	f := newFixture(t)
	s := f.open(t, "porchlight_runtime")
	index(t, s, f.carol, "prices/a.md", "Flex costs 99 € a month.")
	stale, err := s.StaleChunks(t.Context(), f.carol, 10)
	if err != nil || len(stale) != 1 {
		t.Fatalf("stale: %+v, %v", stale, err)
	}
	_, foreign := s.VerifyChunk(t.Context(), f.bob, stale[0].ChunkID)
	_, unknown := s.VerifyChunk(t.Context(), f.bob, uuid.NewString())
	if code(foreign) != problem.NotFound || foreign.Error() != unknown.Error() {
		t.Errorf("foreign %v, unknown %v", foreign, unknown)
	}
	if _, err := s.VerifyChunk(t.Context(), f.alice, stale[0].ChunkID); code(err) != problem.NotAnAdmin {
		t.Errorf("a rep got %v", err)
	}
}
