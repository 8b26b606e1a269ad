package ingest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"unicode/utf8"

	"porchlight/functions/internal/corpus"
)

// Previewer is a store as a preview needs it: it only reads.
type Previewer interface {
	// PreviewSource compares a source with what is stored of it, as Store.PlanReindex does.
	PreviewSource(ctx context.Context, src corpus.Source, chunks []corpus.Chunk) (Plan, error)

	// PreviewListing says what a complete listing lacks; an empty one lacks nothing.
	PreviewListing(ctx context.Context, listing []string) (Listing, error)
}

// Listing is what is stored of a brand beside a listing of its library.
type Listing struct {
	Chunks       int  // of the brand
	Retired      int  // sources that the listing lacks
	Lost         int  // the chunks that are lost with them
	RemovalLimit *int // chunks that a run may remove; nil: as many as there are
}

// Preview is what a reindex would do now.
type Preview struct {
	Sources  int // selected
	Differ   int // with chunks to add or remove
	Failures []*Refusal
	Counts
	Listing
	Removal int // chunks that would go without being replaced, those that are lost included
	Work    []Work
}

// Work is what one index would have to embed.
type Work struct {
	Index, Model string
	Texts        int
	Tokens       int // about: a token is four characters in the languages that we know
	Batches      int // of at most batchSize texts of one source
}

const (
	batchSize          = 100 // texts in a call, as hosted models take them
	charactersPerToken = 4
)

// IsRefused says whether the run would stop: it would remove more than it may.
func (p Preview) IsRefused() bool {
	return p.Removal > 0 && p.RemovalLimit != nil && p.Removal > *p.RemovalLimit
}

// Preview tells what Run would do with the same selection. It writes nothing and calls no model.
func (r *Reindexer) Preview(ctx context.Context, store Previewer, sel Selection) (Preview, error) {
	var p Preview
	if err := r.check(sel); err != nil {
		return p, err
	}
	for _, e := range r.Embedders {
		p.Work = append(p.Work, Work{Index: e.Index(), Model: e.Model()})
	}
	keys, err := r.keys(ctx, sel)
	if err != nil {
		return p, err
	}
	for _, key := range keys {
		if err := r.preview(ctx, store, key, &p); err != nil {
			return p, fmt.Errorf("preview: %w", err)
		}
	}
	p.Sources = len(keys)
	var listing []string
	if sel.All && len(p.Failures) < len(keys) {
		listing = listed(keys, p.Failures)
	}
	if p.Listing, err = store.PreviewListing(ctx, listing); err != nil {
		return p, fmt.Errorf("preview: %w", err)
	}
	p.Removal += p.Lost
	if sel.AllowedRemoval != nil {
		p.RemovalLimit = sel.AllowedRemoval
	}
	return p, nil
}

func (r *Reindexer) preview(ctx context.Context, store Previewer, key string, p *Preview) error {
	doc, chunks, err := r.read(ctx, key)
	var refusal *Refusal
	if errors.As(err, &refusal) && ctx.Err() == nil {
		p.Failures = append(p.Failures, refusal)
		return nil
	}
	if err != nil {
		return err
	}
	plan, err := store.PreviewSource(ctx, doc.Source, chunks)
	if err != nil {
		return err
	}
	p.add(Counts{Added: len(plan.New), Changed: plan.Changed, Kept: plan.Kept, Removed: plan.Removed})
	p.Removal += max(plan.Removed-len(plan.New), 0)
	if len(plan.New)+plan.Removed > 0 {
		p.Differ++
	}
	for i := range p.Work {
		p.Work[i].add(plan.Missing[p.Work[i].Index], chunks)
	}
	return nil
}

// add counts the texts at the places, each once.
func (w *Work) add(places []int, chunks []corpus.Chunk) {
	texts := map[string]bool{}
	for _, at := range places {
		texts[chunks[at].EmbeddingText()] = true
	}
	for text := range texts {
		w.Tokens += (utf8.RuneCountInString(text) + charactersPerToken - 1) / charactersPerToken
	}
	w.Texts += len(texts)
	w.Batches += (len(texts) + batchSize - 1) / batchSize
}

// keys are those of the selection, each once.
func (r *Reindexer) keys(ctx context.Context, sel Selection) ([]string, error) {
	keys := sel.Keys
	if sel.All {
		var err error
		if keys, err = r.Library.List(ctx); err != nil {
			return nil, fmt.Errorf("reindex: %w", err)
		}
		if len(keys) == 0 {
			return nil, ErrEmptyLibrary
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(keys))), nil
}

// read returns the document of that key, redacted, and its chunks.
func (r *Reindexer) read(ctx context.Context, key string) (Document, []corpus.Chunk, error) {
	file, err := r.Library.Open(ctx, key)
	if errors.Is(err, fs.ErrNotExist) {
		return Document{}, nil, &Refusal{Key: key, Reason: Missing}
	}
	if err != nil {
		return Document{}, nil, refuse(key, Unreadable, "", err)
	}
	defer file.Close()
	doc, err := r.load(ctx, key, file)
	if err != nil {
		return Document{}, nil, quiet(err, r.Policy)
	}
	if doc, err = Redact(doc, r.Policy, r.Defaults.Today); err != nil {
		return Document{}, nil, err
	}
	chunks, err := Chunk(doc, r.Profile)
	if err == nil && len(chunks) == 0 { // or the plan would be to remove all that is stored
		err = &Refusal{Key: key, Reason: Empty}
	}
	return doc, chunks, err
}
