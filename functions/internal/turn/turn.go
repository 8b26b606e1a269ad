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
	Run                int    // which of the turn's attempts to be answered this is
	State              string // Open, Running or Over; with the last two nothing below is set
	ConversationID     string
	Brand              string
	Language           string // of Persona and Fallback
	Persona            string
	Fallback           string // what is said when no document answers
	History            []Exchange
	Pool               string   // whose key the brand's models are called with; empty: no key at hand
	Indexes            []string // that hold vectors of the brand, best first
	Models             []string // that may be called now, first to last
	VerifiedWithinDays int
	HasDocuments       bool // false: nothing to search, whatever models there are
}

// The states of a turn that was begun.
const (
	Open    = "begun"    // this request answers it
	Running = "running"  // another request does
	Over    = "finished" // it was answered before
)

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
	Run      int
	Status   string // one of the constants below; of a stored turn also Running or "refused"
	Answer   string
	Language string     // of the words around the answer; ISO 639-1, may be empty
	AsOf     *time.Time // the oldest verification of a price in the answer
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
	BeginTurn(ctx context.Context, p identity.Principal, q Question, pools []string) (Begun, error)
	ReserveCall(ctx context.Context, p identity.Principal, turnID string, run int, model string) (bool, error)
	MatchChunks(ctx context.Context, p identity.Principal, s Search) ([]corpus.Match, error)
	FinishTurn(ctx context.Context, p identity.Principal, f Finished) error
	StoredTurn(ctx context.Context, p identity.Principal, turnID string) (Finished, error)
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
	Generate(
		ctx context.Context, models []string, reserve model.Reserve, p model.Prompt, sink model.Sink,
	) (model.Result, error)
}

// Extractor answers with the documents' own sentences.
type Extractor interface {
	Answer(ctx context.Context, in extract.Input) (extract.Answer, error)
}

// Service answers questions.
type Service struct {
	Store     Store
	Providers map[string]Provider // by quota pool; a brand of another pool has extractive answers
	Local     []Embedder          // models of this machine: no key, no quota
	Extractor Extractor
	Now       func() time.Time
	Sleep     func(ctx context.Context, d time.Duration) error // returns ctx's error when it ends first
	NewNonce  func() string                                    // marks the evidence of one prompt
}

// Provider is what one key of a model provider gives access to.
type Provider struct {
	Embedders []Embedder // tried in the order of Begun.Indexes
	Writer    Writer
}

const (
	matchLimit      = 6 // chunks that a question gets to see
	maxOutputTokens = 400
	finishWithin    = 3 * time.Second // for the log of a turn whose client has left
)
