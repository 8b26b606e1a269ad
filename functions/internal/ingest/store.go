package ingest

import (
	"context"

	"porchlight/functions/internal/corpus"
)

// Store keeps a brand's sources, chunks and vectors. Which brand is the caller's business: a Store
// acts for one. Its errors carry a problem code where there is one.
type Store interface {
	// StartReindex opens a run.
	StartReindex(ctx context.Context, sel Selection) (Run, error)

	// RenewReindex says that the run is alive. A run that says so less often than once a minute is given
	// up, which is problem.NotFound here and in every later call.
	RenewReindex(ctx context.Context, run Run) error

	// PlanReindex compares a source with what is stored of it, and writes nothing. chunks are all of the
	// source in reading order; a chunk's place is its index there. A chunk that a document repeats word
	// for word under one heading path counts as often as it stands there (O37). It is
	// problem.NewerSnapshot when a run that started later has settled the source.
	PlanReindex(ctx context.Context, run Run, src corpus.Source, chunks []corpus.Chunk) (Plan, error)

	// ApplyReindex makes the stored source equal to a in one transaction: all of it or nothing, hashes
	// included, so that a source that failed is new again the next time. Chunks that it already holds are
	// not written, so their verified_at keeps its meaning. A source that is stored as it is already is
	// only noted in the run. It is problem.NewerSnapshot as in PlanReindex, and problem.ReindexRunning
	// when another run has written the source since the plan.
	ApplyReindex(ctx context.Context, run Run, a Apply) (Applied, error)

	// FailSource records why the run did not index a source. What is stored of it stays. A second reason
	// replaces the first.
	FailSource(ctx context.Context, run Run, key, reason string) error

	// FinishReindex ends the run. It is also called after the run's context has ended, with one of its own.
	FinishReindex(ctx context.Context, run Run, end End) (Ended, error)
}

// End says how a run came to its end.
type End struct {
	Listing        []string // every key of the library when sources that are not in it may be retired; else nil
	IsInterrupted  bool     // before all selected sources were through
	RefusedRemoval int      // as a plan said; 0: none did
}

// Ended is what the end of a run did.
type Ended struct {
	Retired        int // sources
	RefusedRemoval int // chunks that the run would have removed, at least, which was more than it may; 0: it was not
}

// Embedder makes the vectors of one index.
type Embedder interface {
	Index() string // the row of the index register, such as "local"
	Model() string // the model registered for it
	// EmbedDocuments returns one vector for each text, in the same order.
	EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error)
}

// Selection says what a run is about: either the whole library or some of its documents.
type Selection struct {
	All  bool
	Keys []string

	AllowedRemoval *int // how many chunks the run may remove; nil: the share that the brand allows
}

// Run is an open run.
type Run struct{ ID string }

// Plan is what applying a source would do. Places are indexes into the chunks planned for.
type Plan struct {
	Generation int64 // of the stored state that it compares with

	New     []int // places whose text is not stored
	Changed int   // new chunks under a heading that loses one
	Kept    int   // stored chunks that stay as they are
	Removed int   // stored chunks that the document no longer has
	// Missing holds, by index, the places without a vector of that index. New places are among them in
	// every index.
	Missing map[string][]int
	// RefusedRemoval is how many chunks the run would have removed, where that is more than it may.
	RefusedRemoval int
}

// Apply is a source as it shall be stored.
type Apply struct {
	Source     corpus.Source
	Chunks     []corpus.Chunk // all of them, in reading order
	Generation int64          // as the plan said
	New        []int          // places whose text the store does not hold
	Vectors    []Vectors      // those that were missing, one entry an index
}

// Applied is what applying a source did.
type Applied struct {
	Unchanged bool // it was stored as it is already
	Counts
}

// Vectors are vectors of one index and the model that made them. Values[i] belongs to the chunk at
// Places[i].
type Vectors struct {
	Index  string
	Model  string
	Places []int
	Values [][]float32
}

// Counts are numbers of chunks.
type Counts struct {
	Added, Changed, Kept, Removed int
}

func (c *Counts) add(more Counts) {
	c.Added += more.Added
	c.Changed += more.Changed
	c.Kept += more.Kept
	c.Removed += more.Removed
}

// Status is how a run ended.
type Status string

// The ends of a run.
const (
	Ready   Status = "ready"   // every selected source is as in the library, or newer
	Partial Status = "partial" // some are; the others failed, or were not reached
	Failed  Status = "failed"  // none is
)

// Summary is what a run did.
type Summary struct {
	Run        Run
	Status     Status
	Sources    int // selected
	Indexed    int // written to
	Unchanged  int // nothing to do
	Superseded int // left alone, since a run that started later has settled them
	Retired    int // sources that the library no longer has
	Failures   []*Refusal
	Counts
}
