// Package turn takes one question from its beginning to its end: the database says whether and with
// what it may be asked, a model embeds it, the brand's own chunks are searched, and an answer is
// written from them, checked sentence by sentence and logged. No transaction is open while a model
// works.
package turn

import (
	"context"
	"time"

	"porchlight/functions/internal/corpus"
	"porchlight/functions/internal/extract"
	"porchlight/functions/internal/identity"
	"porchlight/functions/internal/model"
)

// Begun is what the database hands out when a turn may start.
type Begun struct {
	TurnID             string
	ConversationID     string
	Brand              string
	Language           string // of Persona and Fallback
	Persona            string
	Fallback           string // what is said when no document answers
	History            []Exchange
	Indexes            []string // that hold vectors of the brand, best first
	Models             []string // that may be called now, first to last
	VerifiedWithinDays int
}

// Exchange is an earlier turn of the conversation.
type Exchange struct {
	Question string `json:"question"`
	Answer   string `json:"answer"`
}

// Search is a question in the form that one index understands.
type Search struct {
	Index       string
	Model       string    // that made the vector; the database refuses any but the registered one
	Vector      []float32 // unit length
	Question    string
	Limit       int
	DenseWeight *float64 // how far the model knows the words; nil: as the index says
}

// Finished is what became of a turn.
type Finished struct {
	TurnID   string
	Status   string // "answered", "held", "no_match", "failed" or "aborted"
	Answer   string
	Index    string
	Model    string
	Attempts []model.Attempt
	Used     []corpus.Match
	MS       Millis
}

// The ways a turn ends.
const (
	Answered = "answered"
	Held     = "held" // the answer would have been a price that nobody verified in time
	NoMatch  = "no_match"
	failed   = "failed"
	aborted  = "aborted"
)

// extractive stands for the model in the log when the answer is the documents' own sentences.
const extractive = "extractive"

// Store is the database as a turn needs it.
type Store interface {
	BeginTurn(ctx context.Context, p identity.Principal, q Question) (Begun, error)
	MatchChunks(ctx context.Context, p identity.Principal, s Search) ([]corpus.Match, error)
	FinishTurn(ctx context.Context, p identity.Principal, f Finished) error
}

// Embedder makes the vector of a question for one index.
type Embedder interface {
	Index() string
	Model() string
	EmbedQuery(ctx context.Context, text string) ([]float32, error)
}

// Weigher is an Embedder that can tell how far it knows the words of a question.
type Weigher interface {
	DenseWeight(question string) float64
}

// Writer writes an answer with the first of the models that can.
type Writer interface {
	Generate(ctx context.Context, models []string, p model.Prompt, sink model.Sink) (model.Result, error)
}

// Extractor answers with the documents' own sentences.
type Extractor interface {
	Answer(ctx context.Context, in extract.Input) (extract.Answer, error)
}

// Service answers questions.
type Service struct {
	Store     Store
	Embedders []Embedder // tried in the order of Begun.Indexes
	Writer    Writer     // nil: answers are extractive
	Extractor Extractor
	Now       func() time.Time
	NewNonce  func() string // marks the evidence of one prompt
}

const (
	matchLimit      = 6 // chunks that a question gets to see
	maxOutputTokens = 400
	finishWithin    = 3 * time.Second // for the log of a turn whose client has left
)
