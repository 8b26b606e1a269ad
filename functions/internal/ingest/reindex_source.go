package ingest

import (
	"context"
	"errors"
	"fmt"

	"porchlight/functions/internal/corpus"
	"porchlight/functions/internal/problem"
)

// record reindexes one source and enters what came of it in the summary and, if it failed, in the
// store. The error is for the run.
func (r *Reindexer) record(ctx context.Context, key string, s *Summary) (Progress, error) {
	applied, err := r.source(ctx, s.Run, key)
	if ctx.Err() != nil { // then the source is not to blame
		return Progress{}, context.Cause(ctx)
	}
	var refusal *Refusal
	switch code := problem.From(err).Code; {
	case endsRun(err):
		return Progress{}, err
	case err != nil && code == problem.NewerSnapshot:
		s.Superseded++
		return Progress{Key: key, Status: "superseded", Why: string(code)}, r.Store.FailSource(ctx, s.Run, key, string(code))
	case errors.As(err, &refusal):
		s.Failures = append(s.Failures, refusal)
		failed := Progress{Key: refusal.Key, Status: "error", Why: refusal.Why()} // its key: the file's may tell something
		return failed, r.Store.FailSource(ctx, s.Run, failed.Key, failed.Why)
	case err != nil:
		return Progress{}, err
	}
	s.add(applied.Counts)
	if applied.Unchanged {
		s.Unchanged++
		return Progress{Key: key, Status: "unchanged"}, nil
	}
	s.Indexed++
	return Progress{Key: key, Status: "ready"}, nil
}

// source brings one source up to date. An unchanged one is sent as keys and hashes alone.
func (r *Reindexer) source(ctx context.Context, run Run, key string) (Applied, error) {
	doc, chunks, err := r.read(ctx, key)
	if err != nil {
		return Applied{}, err
	}
	made := vectorsMade{}
	for attempt := 1; ; attempt++ {
		applied, err := r.swap(ctx, run, doc.Source, chunks, made)
		// Only a run that started earlier can have come between: of a later one this one has lost
		// already. Each of them writes the source once, so a few attempts are enough.
		if err == nil || problem.From(err).Code != problem.ReindexRunning || attempt == maxAttempts {
			return applied, err
		}
	}
}

// maxAttempts is more runs than anybody has on one brand at the same time.
const maxAttempts = 32

// vectorsMade are the vectors that were made for one source, by index and text: a second plan does not
// pay for them again, nor does a text that the document repeats.
type vectorsMade map[string]map[string][]float32

// swap plans, embeds and applies. What is stored is served until all of it is there.
func (r *Reindexer) swap(
	ctx context.Context, run Run, src corpus.Source, chunks []corpus.Chunk, made vectorsMade,
) (Applied, error) {
	plan, err := r.Store.PlanReindex(ctx, run, src, chunks)
	if err != nil {
		return Applied{}, refuse(src.Key, StoreFailed, "plan", err)
	}
	if plan.RefusedRemoval > 0 {
		return Applied{}, &removalError{plan.RefusedRemoval}
	}
	vectors, err := r.embed(ctx, src.Key, plan, chunks, made)
	if err != nil {
		return Applied{}, err
	}
	applied, err := r.Store.ApplyReindex(ctx, run, Apply{src, chunks, plan.Generation, plan.New, vectors})
	if err != nil {
		return Applied{}, refuse(src.Key, StoreFailed, "apply", err)
	}
	return applied, nil
}

// embed makes the vectors that the plan misses, index by index. When one can't be made there are
// none: a source is stored whole or not at all.
func (r *Reindexer) embed(
	ctx context.Context, key string, p Plan, chunks []corpus.Chunk, made vectorsMade,
) ([]Vectors, error) {
	var all []Vectors
	for _, e := range r.Embedders {
		places := p.Missing[e.Index()]
		if len(places) == 0 {
			continue
		}
		if made[e.Index()] == nil {
			made[e.Index()] = map[string][]float32{}
		}
		known := made[e.Index()]
		if err := makeMissing(ctx, e, places, chunks, known); err != nil {
			return nil, refuse(key, EmbeddingFailed, "index "+e.Index(), err)
		}
		values := make([][]float32, len(places))
		for i, at := range places {
			values[i] = known[chunks[at].EmbeddingText()]
		}
		all = append(all, Vectors{Index: e.Index(), Model: e.Model(), Places: places, Values: values})
	}
	return all, nil
}

// makeMissing embeds the texts at the places that are not known yet. The embedder is not asked for none.
func makeMissing(ctx context.Context, e Embedder, places []int, chunks []corpus.Chunk, known map[string][]float32) error {
	var texts []string
	for _, at := range places {
		text := chunks[at].EmbeddingText()
		if _, ok := known[text]; !ok {
			known[text] = nil
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 {
		return nil
	}
	values, err := e.EmbedDocuments(ctx, texts)
	if err == nil && len(values) != len(texts) {
		err = fmt.Errorf("%d vectors for %d texts", len(values), len(texts))
	}
	if err != nil {
		return err
	}
	for i, text := range texts {
		known[text] = values[i]
	}
	return nil
}
