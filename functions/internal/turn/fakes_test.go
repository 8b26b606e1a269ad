package turn_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"porchlight/functions/internal/corpus"
	"porchlight/functions/internal/extract"
	"porchlight/functions/internal/identity"
	"porchlight/functions/internal/model"
	"porchlight/functions/internal/problem"
	"porchlight/functions/internal/turn"
)

var verified = time.Date(2026, 11, 18, 0, 0, 0, 0, time.UTC)

// price is a fresh pricing chunk that answers.
func price() corpus.Match {
	return corpus.Match{
		ChunkID: "chunk-1", SourceID: "source-1", SourceType: "price", SourceTitle: "Home tariffs",
		HeadingPath: "Flex", Content: "Home Flex costs 12,50 € a month.", Language: "en",
		VerifiedAt: &verified, IsPricing: true, IsRelevant: true, Similarity: 0.7, Score: 3,
	}
}

func stalePrice() corpus.Match {
	m := price()
	old := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	m.ChunkID, m.VerifiedAt, m.IsStale = "chunk-2", &old, true
	return m
}

// fakeStore answers with what it was given and keeps what it was told.
type fakeStore struct {
	t        *testing.T
	pools    []string // for which there was a key
	begun    turn.Begun
	beginErr error
	running  int                       // begins that find the turn being answered by another request
	refused  map[string]bool           // models of which no call is left
	reserved []string                  // models of which a call was reserved after the begin
	stored   map[string]turn.Finished  // by id
	matches  map[string][]corpus.Match // by index; a search of another index fails the test
	searched []turn.Search
	finished []turn.Finished
}

func (s *fakeStore) BeginTurn(
	_ context.Context, _ identity.Principal, _ turn.Question, pools []string,
) (turn.Begun, error) {
	s.pools = pools
	if s.running > 0 {
		s.running--
		return turn.Begun{TurnID: s.begun.TurnID, State: turn.Running}, nil
	}
	return s.begun, s.beginErr
}

func (s *fakeStore) ReserveCall(
	_ context.Context, _ identity.Principal, turnID string, run int, model string,
) (bool, error) {
	if turnID != s.begun.TurnID || run != s.begun.Run {
		s.t.Errorf("a call was reserved for run %d of %s", run, turnID)
	}
	s.reserved = append(s.reserved, model)
	return !s.refused[model], nil
}

func (s *fakeStore) StoredTurn(_ context.Context, _ identity.Principal, turnID string) (turn.Finished, error) {
	f, ok := s.stored[turnID]
	if !ok {
		return f, problem.New(problem.NotFound, nil)
	}
	return f, nil
}

func (s *fakeStore) MatchChunks(_ context.Context, _ identity.Principal, m turn.Search) ([]corpus.Match, error) {
	s.searched = append(s.searched, m)
	matches, ok := s.matches[m.Index]
	if !ok {
		s.t.Errorf("a search of the index %q was not expected", m.Index)
	}
	return matches, nil
}

func (s *fakeStore) FinishTurn(ctx context.Context, _ identity.Principal, f turn.Finished) error {
	if ctx.Err() != nil {
		s.t.Error("the log of the turn was given up with its client")
	}
	s.finished = append(s.finished, f)
	return nil
}

// fakeEmbedder gives a vector that names its model, or an error.
type fakeEmbedder struct {
	index, model string
	vector       []float32
	err          error
}

func (e fakeEmbedder) Index() string { return e.index }
func (e fakeEmbedder) Model() string { return e.model }
func (e fakeEmbedder) EmbedQuery(context.Context, string) ([]float32, error) {
	return e.vector, e.err
}

// fakeWriter runs a script against the sink; without one it fails the test.
type fakeWriter struct {
	t       *testing.T
	prompt  model.Prompt
	models  []string
	reserve model.Reserve
	write   func(sink model.Sink) (model.Result, error)
}

func (w *fakeWriter) Generate(
	_ context.Context, models []string, reserve model.Reserve, p model.Prompt, sink model.Sink,
) (model.Result, error) {
	w.prompt, w.models, w.reserve = p, models, reserve
	if w.write == nil {
		w.t.Error("a model was called")
		return model.Result{}, errors.New("not expected")
	}
	return w.write(sink)
}

// fakeExtractor gives one answer; without one it fails the test.
type fakeExtractor struct {
	t      *testing.T
	answer *extract.Answer
}

func (e fakeExtractor) Answer(context.Context, extract.Input) (extract.Answer, error) {
	if e.answer == nil {
		e.t.Error("the extractor was called")
		return extract.Answer{}, nil
	}
	return *e.answer, nil
}

// stage is a service with its fakes.
type stage struct {
	*turn.Service
	store  *fakeStore
	writer *fakeWriter
	events []turn.Event
}

func newStage(t *testing.T) *stage {
	s := &stage{
		store: &fakeStore{
			t: t,
			begun: turn.Begun{
				TurnID: "turn-1", Run: 1, State: turn.Open, Pool: "shared", Brand: "Brand", Language: "en", Fallback: "I would rather not guess.",
				Indexes: []string{"local"}, VerifiedWithinDays: 90, HasDocuments: true,
			},
			matches: map[string][]corpus.Match{"local": {price()}},
		},
		writer: &fakeWriter{t: t},
	}
	s.Service = &turn.Service{
		Store: s.store, Extractor: fakeExtractor{t: t}, NewNonce: func() string { return "nonce" },
		Local: []turn.Embedder{fakeEmbedder{index: "local", model: "small", vector: []float32{1}}},
		Now:   func() time.Time { return time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC) },
		Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	}
	return s
}

// useModels gives the stage a writer and open models.
func (s *stage) useModels(write func(model.Sink) (model.Result, error)) {
	s.writer.write = write
	s.useWriter()
	s.store.begun.Models = []string{"first", "second"}
}

// useWriter gives the stage a key.
func (s *stage) useWriter() {
	s.Providers = map[string]turn.Provider{"shared": {Writer: s.writer}}
}

func (s *stage) useExtract(a extract.Answer) { s.Extractor = fakeExtractor{s.store.t, &a} }

// question is what the stage asks.
const question = "What does Home Flex cost?"

func (s *stage) ask(ctx context.Context) error {
	return s.Ask(ctx, identity.Principal{}, turn.Question{Text: question}, func(e turn.Event) error {
		s.events = append(s.events, e)
		return nil
	})
}

// said is the answer as a reader has it at the end.
func (s *stage) said() (sentences []string) {
	for _, e := range s.events {
		switch e.Type {
		case turn.TypeSentence:
			sentences = append(sentences, e.Text)
		case turn.TypeReset:
			sentences = nil
		}
	}
	return sentences
}

func (s *stage) types() (types []string) {
	for _, e := range s.events {
		types = append(types, e.Type)
	}
	return types
}
