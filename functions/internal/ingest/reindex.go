package ingest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"porchlight/functions/internal/corpus"
)

// ErrEmptyLibrary is the error of a run over a library without documents. It removes nothing: an
// empty listing is a broken mount more often than a wish.
var ErrEmptyLibrary = errors.New("empty_library")

// ErrSelection is the error of a selection that names neither or both of all and some documents.
var ErrSelection = errors.New("select either all documents or some keys")

// finishWithin is the time to record the end of a run whose context is over.
const finishWithin = 5 * time.Second

// Reindexer brings what is stored of a brand in line with its library. It writes and embeds only what
// differs. Every index that an embedder is given for is filled.
type Reindexer struct {
	Library   Library
	Store     Store
	Embedders []Embedder // at least one, each for another index
	Profile   Profile
	Defaults  Defaults
	Progress  func(Progress) // called after each source; may be nil
}

// Progress says that Done of Total sources are through, Key the last of them.
type Progress struct {
	Done, Total int
	Key         string
	Status      string // "ready", "unchanged" or "error"
	Why         string // of an error; names no content
}

// Run reindexes the selected sources, one after the other. A source that fails is recorded with its
// reason, keeps what was indexed of it and does not stop the others: see Summary.Failures. The error
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
	listing, err := r.sources(ctx, sel, &s)
	s.Status = s.status()
	if !sel.All || err != nil || s.Status == Failed {
		listing = nil
	}
	// The run must end although its context may have, or it would look alive for ever.
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishWithin)
	defer cancel()
	var finishErr error
	if s.Retired, finishErr = r.Store.FinishReindex(end, run, listing, err != nil); finishErr != nil {
		finishErr = fmt.Errorf("finish reindex: %w", finishErr)
	}
	return s, errors.Join(err, finishErr)
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

// sources reindexes every selected source and returns their keys. After an error the listing says
// nothing about what the library lacks.
func (r *Reindexer) sources(ctx context.Context, sel Selection, s *Summary) ([]string, error) {
	keys := sel.Keys
	var err error
	if sel.All {
		if keys, err = r.Library.List(ctx); err != nil {
			return nil, fmt.Errorf("reindex: %w", err)
		}
		if len(keys) == 0 {
			return nil, ErrEmptyLibrary
		}
	}
	keys = slices.Compact(slices.Sorted(slices.Values(keys)))
	s.Sources = len(keys)
	for i, key := range keys {
		p := Progress{Done: i + 1, Total: len(keys), Key: key}
		if p.Status, p.Why, err = r.record(ctx, key, s); err != nil {
			return nil, fmt.Errorf("reindex: %w", err)
		}
		if r.Progress != nil {
			r.Progress(p)
		}
	}
	return keys, nil
}

// record reindexes one source and enters what came of it in the summary and, if it failed, in the
// store. The error is for the run.
func (r *Reindexer) record(ctx context.Context, key string, s *Summary) (status, why string, err error) {
	applied, err := r.source(ctx, s.Run, key)
	if ctx.Err() != nil { // then the source is not to blame
		return "", "", ctx.Err()
	}
	var refusal *Refusal
	switch {
	case errors.As(err, &refusal):
		s.Failures = append(s.Failures, refusal)
		return "error", refusal.Why(), r.Store.FailSource(ctx, s.Run, key, refusal.Why())
	case err != nil:
		return "", "", err
	}
	s.add(applied.Counts)
	if applied.Unchanged {
		s.Unchanged++
		return "unchanged", "", nil
	}
	s.Indexed++
	return "ready", "", nil
}

// source brings one source up to date. An unchanged one is sent as keys and hashes alone.
func (r *Reindexer) source(ctx context.Context, run Run, key string) (Applied, error) {
	doc, err := r.load(ctx, key)
	if err != nil {
		return Applied{}, err
	}
	chunks, err := Chunk(doc, r.Profile)
	if err != nil {
		return Applied{}, err
	}
	if len(chunks) == 0 { // or the plan would be to remove all that is stored
		return Applied{}, &Refusal{Key: key, Reason: Empty}
	}
	plan, err := r.Store.PlanReindex(ctx, run, doc.Source, chunks)
	if err != nil {
		return Applied{}, refuse(key, StoreFailed, "plan", err)
	}
	vectors, err := r.embed(ctx, key, plan, chunks)
	if err != nil {
		return Applied{}, err
	}
	applied, err := r.Store.ApplyReindex(ctx, run, Apply{doc.Source, chunks, plan.New, vectors})
	if err != nil {
		return Applied{}, refuse(key, StoreFailed, "apply", err)
	}
	return applied, nil
}

func (r *Reindexer) load(ctx context.Context, key string) (Document, error) {
	file, err := r.Library.Open(ctx, key)
	if errors.Is(err, fs.ErrNotExist) {
		return Document{}, &Refusal{Key: key, Reason: Missing}
	}
	if err != nil {
		return Document{}, refuse(key, Unreadable, "", err)
	}
	defer file.Close()
	return Load(key, file, r.Defaults)
}

// embed makes the vectors that the plan misses, index by index. When one can't be made there are
// none: a source is stored whole or not at all.
func (r *Reindexer) embed(ctx context.Context, key string, p Plan, chunks []corpus.Chunk) ([]Vectors, error) {
	var all []Vectors
	for _, e := range r.Embedders {
		places := p.Missing[e.Index()]
		if len(places) == 0 {
			continue
		}
		texts := make([]string, len(places))
		for i, at := range places {
			texts[i] = chunks[at].EmbeddingText()
		}
		values, err := e.EmbedDocuments(ctx, texts)
		if err == nil && len(values) != len(texts) {
			err = fmt.Errorf("%d vectors for %d texts", len(values), len(texts))
		}
		if err != nil {
			return nil, refuse(key, EmbeddingFailed, "index "+e.Index(), err)
		}
		all = append(all, Vectors{Index: e.Index(), Model: e.Model(), Places: places, Values: values})
	}
	return all, nil
}

func (s Summary) status() Status {
	switch done := s.Indexed + s.Unchanged; {
	case done == 0:
		return Failed
	case done < s.Sources:
		return Partial
	default:
		return Ready
	}
}
