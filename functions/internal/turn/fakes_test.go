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
	begun    turn.Begun
	beginErr error
	matches  map[string][]corpus.Match // by index; a search of another index fails the test
	searched []turn.Search
	finished []turn.Finished
}

func (s *fakeStore) BeginTurn(_ context.Context, _ identity.Principal, q turn.Question) (turn.Begun, error) {
	return s.begun, s.beginErr
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
	t      *testing.T
	prompt model.Prompt
	write  func(sink model.Sink) (model.Result, error)
}

func (w *fakeWriter) Generate(
	_ context.Context, _ []string, p model.Prompt, sink model.Sink,
) (model.Result, error) {
	w.prompt = p
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
				TurnID: "turn-1", Brand: "Brand", Language: "en", Fallback: "I would rather not guess.",
				Indexes: []string{"local"}, VerifiedWithinDays: 90,
			},
			matches: map[string][]corpus.Match{"local": {price()}},
		},
		writer: &fakeWriter{t: t},
	}
	s.Service = &turn.Service{
		Store: s.store, Extractor: fakeExtractor{t: t}, NewNonce: func() string { return "nonce" },
		Embedders: []turn.Embedder{fakeEmbedder{index: "local", model: "small", vector: []float32{1}}},
		Now:       func() time.Time { return time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC) },
	}
	return s
}

// useModels gives the stage a writer and open models.
func (s *stage) useModels(write func(model.Sink) (model.Result, error)) {
	s.writer.write = write
	s.Writer = s.writer
	s.store.begun.Models = []string{"first", "second"}
}

func (s *stage) useExtract(a extract.Answer) { s.Extractor = fakeExtractor{s.store.t, &a} }

func (s *stage) ask(ctx context.Context) error {
	return s.Ask(ctx, identity.Principal{}, turn.Question{Text: "What does Home Flex cost?"}, func(e turn.Event) error {
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
