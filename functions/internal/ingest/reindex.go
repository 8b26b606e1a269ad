package ingest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"porchlight/functions/internal/problem"
	"porchlight/functions/internal/redact"
)

// ErrEmptyLibrary is the error of a run over a library without documents. It removes nothing: an
// empty listing is a broken mount more often than a wish.
var ErrEmptyLibrary = errors.New("empty_library")

// ErrSelection is the error of a selection that names neither or both of all and some documents.
var ErrSelection = errors.New("select either all documents or some keys")

// finishWithin is the time to record the end of a run whose context is over.
const finishWithin = 5 * time.Second

// Reindexer brings what is stored of a brand in line with its library. It writes and embeds only what
// differs. Every index that an embedder is given for is filled. Several may work on one brand at the
// same time: of each source the run that started last has the last word.
type Reindexer struct {
	Library   Library
	Store     Store
	Embedders []Embedder // at least one, each for another index
	Profile   Profile
	Defaults  Defaults
	PDF       PDF            // nil: a PDF is refused
	Policy    redact.Policy  // the zero value refuses every private document
	Progress  func(Progress) // called after each source; may be nil
}

// Progress says that Done of Total sources are through, Key the last of them.
type Progress struct {
	Done, Total int
	Key         string
	Status      string // "ready", "unchanged", "superseded" or "error"
	Why         string // of the last two; names no content
}

// Run reindexes the selected sources, one after the other. A source that fails is recorded with its
// reason, keeps what was indexed of it (but see Refusal) and does not stop the others: see
// Summary.Failures. The error
// is for what ends the run itself: a bad selection, an empty or unreadable library, a store that
// can't record, a context that ended.
func (r *Reindexer) Run(ctx context.Context, sel Selection) (Summary, error) {
	if err := r.check(sel); err != nil {
		return Summary{}, err
	}
	run, err := r.Store.StartReindex(ctx, sel)
	if err != nil {
		return Summary{}, fmt.Errorf("start reindex: %w", err)
	}
	s := Summary{Run: run}
	alive, stop := r.keepAlive(ctx, run)
	listing, err := r.sources(alive, sel, &s)
	stop()
	s.Status = s.status()
	if !sel.All || err != nil || s.Status == Failed {
		listing = nil
	}
	// The run must end although its context may have, or it would look alive for ever.
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishWithin)
	defer cancel()
	ended, finishErr := r.Store.FinishReindex(end, run, End{listing, err != nil, refusedRemoval(err)})
	if finishErr != nil {
		finishErr = fmt.Errorf("finish reindex: %w", finishErr)
	}
	if s.Retired = ended.Retired; err == nil && ended.RefusedRemoval > 0 {
		err = &removalError{ended.RefusedRemoval}
	}
	return s, errors.Join(err, finishErr)
}

// removalError stops a run that would remove too much: a crawl that went wrong looks like that.
type removalError struct{ chunks int }

func (e *removalError) Error() string { return string(problem.RemovalRefused) }

// Unwrap returns what the person is told.
func (e *removalError) Unwrap() error {
	return &problem.Error{Code: problem.RemovalRefused, Detail: fmt.Sprintf(
		"It would be %d or more, and they are still there. If that is right, allow as many (allow_removal, --allow-removal).", e.chunks)}
}

func refusedRemoval(err error) int {
	var e *removalError
	if errors.As(err, &e) {
		return e.chunks
	}
	return 0
}

func (r *Reindexer) check(sel Selection) error {
	if sel.All == (len(sel.Keys) > 0) {
		return ErrSelection
	}
	if err := r.Profile.Validate(); err != nil {
		return fmt.Errorf("reindex: %w", err)
	}
	seen := map[string]bool{}
	for _, e := range r.Embedders {
		if seen[e.Index()] {
			return fmt.Errorf("reindex: two embedders for index %s", e.Index())
		}
		seen[e.Index()] = true
	}
	if len(seen) == 0 {
		return errors.New("reindex: no embedder")
	}
	return nil
}

// sources reindexes every selected source and returns the keys of those that may stay. After an error the listing says
// nothing about what the library lacks.
func (r *Reindexer) sources(ctx context.Context, sel Selection, s *Summary) ([]string, error) {
	keys, err := r.keys(ctx, sel)
	if err != nil {
		return nil, err
	}
	s.Sources = len(keys)
	for i, key := range keys {
		p, err := r.record(ctx, key, s)
		if err != nil {
			return nil, fmt.Errorf("reindex: %w", err)
		}
		p.Done, p.Total = i+1, len(keys)
		if r.Progress != nil {
			r.Progress(p)
		}
	}
	return listed(keys, s.Failures), nil
}

func (s Summary) status() Status {
	switch done := s.Indexed + s.Unchanged + s.Superseded; {
	case done == 0:
		return Failed
	case done < s.Sources:
		return Partial
	default:
		return Ready
	}
}
