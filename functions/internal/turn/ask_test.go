package turn_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"porchlight/functions/internal/corpus"
	"porchlight/functions/internal/extract"
	"porchlight/functions/internal/identity"
	"porchlight/functions/internal/model"
	"porchlight/functions/internal/problem"
	"porchlight/functions/internal/turn"
)

func answer() extract.Answer {
	return extract.Answer{
		Sentences: []extract.Sentence{{Text: "Home Flex costs 12,50 € a month.", ChunkID: "chunk-1"}},
		AsOf:      &verified, Used: []string{"chunk-1"},
	}
}

func TestAsk_TellsTheAnswerThenItsSourcesThenTheEnd(t *testing.T) {
	s := newStage(t)
	s.useExtract(answer())
	if err := s.ask(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"turn", "sentence", "sources", "actions", "done"}, s.types()); diff != "" {
		t.Error(diff)
	}
	done := s.events[4].Done
	if done.Outcome != "answered" || done.Model != "extractive" || done.Index != "local" || *done.AsOf != "2026-11-18" {
		t.Errorf("done is %+v", done)
	}
	if a := s.events[3].Actions; len(a) != 1 || a[0].Type != "open_source" || a[0].SourceID != "source-1" {
		t.Errorf("actions are %+v", a)
	}
	logged := s.store.finished[0]
	if logged.Status != "answered" || logged.Answer != "Home Flex costs 12,50 € a month." || len(logged.Used) != 1 {
		t.Errorf("logged %+v", logged)
	}
}

// O58: without a relevant match nothing is generated; when the extractor finds no named price in the
// others either, the brand's own words are said.
func TestAsk_FallsBackWithoutARelevantMatch(t *testing.T) {
	far := price()
	far.IsRelevant = false
	for name, matches := range map[string][]corpus.Match{"none": {}, "none relevant": {far}} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.useWriter()
			s.store.begun.Models = []string{"first"}
			s.store.matches["local"] = matches
			s.useExtract(extract.Answer{})
			if err := s.ask(t.Context()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"I would rather not guess."}, s.said()); diff != "" {
				t.Error(diff)
			}
			if f := s.store.finished[0]; f.Status != "no_match" || f.Model != "" || len(f.Used) != 0 {
				t.Errorf("logged %+v", f)
			}
		})
	}
}

// A brand that has no documents yet has nothing to search, which is not a model that is away.
func TestAsk_FallsBackWithoutDocuments(t *testing.T) {
	s := newStage(t)
	s.store.begun.HasDocuments, s.store.begun.Indexes = false, nil
	if err := s.ask(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"I would rather not guess."}, s.said()); diff != "" {
		t.Error(diff)
	}
	if f := s.store.finished[0]; f.Status != "no_match" || f.Index != "" || len(s.store.searched) != 0 {
		t.Errorf("logged %+v, searched %v", f, s.store.searched)
	}
}

func TestAsk_QuotesANamedPriceFromBelowTheThreshold(t *testing.T) {
	s := newStage(t)
	s.useWriter() // must not be called
	s.store.begun.Models = []string{"first"}
	far := price()
	far.IsRelevant = false
	s.store.matches["local"] = []corpus.Match{far}
	s.useExtract(answer())
	if err := s.ask(t.Context()); err != nil {
		t.Fatal(err)
	}
	if f := s.store.finished[0]; f.Status != "answered" || len(f.Used) != 1 {
		t.Errorf("logged %+v", f)
	}
}

// O49: a spent quota moves vector, model and search together to the next index of the brand.
func TestAsk_MovesToTheNextIndexAsAWhole(t *testing.T) {
	s := newStage(t)
	s.useExtract(answer())
	s.store.begun.Indexes = []string{"primary", "fallback"}
	s.store.matches = map[string][]corpus.Match{"fallback": {price()}}
	s.Providers = map[string]turn.Provider{"shared": {Embedders: []turn.Embedder{
		fakeEmbedder{index: "primary", model: "big", err: &model.QuotaError{Model: "big", Daily: true}},
		fakeEmbedder{index: "fallback", model: "other", vector: []float32{0, 1}},
	}}}
	if err := s.ask(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := s.store.searched[0]; got.Index != "fallback" || got.Model != "other" || got.Vector[1] != 1 {
		t.Errorf("searched %+v", got)
	}
	f := s.store.finished[0]
	if f.Index != "fallback" {
		t.Errorf("the log says index %q", f.Index)
	}
	want := []model.Attempt{{Model: "big", Outcome: "quota_day"}, {Model: "other", Outcome: "ok"}}
	if diff := cmp.Diff(want, f.Attempts); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"other"}, s.store.reserved); diff != "" {
		t.Error("the first call is reserved with the begin, each further one by itself:", diff)
	}
}

func TestAsk_SaysWhyNoModelCanEmbed(t *testing.T) {
	tests := []struct {
		name    string
		indexes []string
		err     error
		code    problem.Code
		waits   bool
	}{
		{"a spent quota and no other index", []string{"local"}, &model.QuotaError{Model: "small"}, problem.NoEmbeddingModel, true},
		{"an index that nobody can embed for", []string{"primary"}, nil, problem.NoEmbeddingModel, true},
		{"documents whose indexes are closed", nil, nil, problem.NoEmbeddingModel, true},
		{"a provider that is away", []string{"local"}, model.ErrUnavailable, problem.NoEmbeddingModel, true},
		// O50: a retired model is for the operator and never an empty search
		{"a retired model", []string{"local"}, model.ErrModelNotFound, problem.Internal, false},
		// O56: no search with a vector that has no direction
		{"a vector that can't be used", []string{"local"}, model.ErrBadVector, problem.Internal, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newStage(t)
			s.store.begun.Indexes = test.indexes
			s.Local = []turn.Embedder{fakeEmbedder{index: "local", model: "small", err: test.err}}
			err := s.ask(t.Context())
			p := problem.From(err)
			if err == nil || p.Code != test.code || (p.RetryAfter > 0) != test.waits {
				t.Errorf("got %v, retry after %v", err, p.RetryAfter)
			}
			if len(s.store.searched) != 0 {
				t.Error("a search was made")
			}
			if f := s.store.finished[0]; f.Status != "failed" {
				t.Errorf("logged %+v", f)
			}
		})
	}
}

func TestAsk_PassesRefusalsOfTheDatabaseOn(t *testing.T) {
	s := newStage(t)
	s.store.beginErr = &problem.Error{Code: problem.RateLimited, RetryAfter: time.Second}
	if p := problem.From(s.ask(t.Context())); p.Code != problem.RateLimited || p.RetryAfter != time.Second {
		t.Errorf("got %v", p)
	}
	if len(s.events) != 0 || len(s.store.finished) != 0 {
		t.Error("a refused turn went on")
	}
}

func TestAsk_RefusesWhatIsNotText(t *testing.T) {
	s := newStage(t)
	err := s.Ask(t.Context(), identity.Principal{}, turn.Question{Text: "caf\xe9"}, nil)
	if problem.From(err).Code != problem.QuestionNotUTF8 {
		t.Errorf("got %v", err)
	}
}

func TestAsk_HoldsAPriceThatNobodyVerifiedInTime(t *testing.T) {
	tests := []struct {
		name, language string
		verifiedAt     *time.Time
		want           string
	}{
		{"with its date", "en", stalePrice().VerifiedAt, "2 March 2026"},
		{"in German", "de", stalePrice().VerifiedAt, "2. März 2026"},
		{"in Spanish", "es", stalePrice().VerifiedAt, "2 de marzo de 2026"},
		{"never verified", "en", nil, "nobody has verified it"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newStage(t)
			s.useWriter() // must not be called: no model sees a question about a stale price
			s.store.begun.Models, s.store.begun.Language = []string{"first"}, test.language
			m := stalePrice()
			m.VerifiedAt = test.verifiedAt
			s.store.matches["local"] = []corpus.Match{m, price()}
			s.useExtract(extract.Answer{Held: true, HeldChunk: "chunk-2"})
			if err := s.ask(t.Context()); err != nil {
				t.Fatal(err)
			}
			text := strings.Join(s.said(), " ")
			if !strings.Contains(text, test.want) || !strings.Contains(text, "90") || strings.Contains(text, "12,50") {
				t.Errorf("said %q", text)
			}
			if f := s.store.finished[0]; f.Status != "held" || f.Used[0].ChunkID != "chunk-2" {
				t.Errorf("logged %+v", f)
			}
		})
	}
}

func TestAsk_LogsATurnWhoseClientLeftAsAborted(t *testing.T) {
	s := newStage(t)
	s.useExtract(answer())
	ctx, leave := context.WithCancel(t.Context())
	err := s.Ask(ctx, identity.Principal{}, turn.Question{Text: "q"}, func(e turn.Event) error {
		if e.Type == turn.TypeSentence {
			leave()
			return context.Canceled
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if f := s.store.finished[0]; f.Status != "aborted" || f.Answer != "" {
		t.Errorf("logged %+v", f)
	}
}
