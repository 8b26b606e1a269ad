package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"porchlight/functions/internal/corpus"
	"porchlight/functions/internal/identity"
)

// Listing is what is stored of a brand beside a listing of its library.
type Listing struct {
	Pool         string // whose key the brand's models are called with
	Chunks       int
	Retired      int  // sources that the listing lacks
	Lost         int  // chunks that are lost with them
	RemovalLimit *int // chunks that a run may remove; nil: as many as there are
}

// PreviewSource compares a source with what is stored of it, without a run.
func (s *Store) PreviewSource(
	ctx context.Context, p identity.Principal, src corpus.Source, chunks []corpus.Chunk, indexes []string,
) (Plan, error) {
	var plan Plan
	var missing []byte
	hashes, headings := identities(chunks)
	err := s.ask(ctx, p, call{
		`select new_places, changed, kept, removed, missing
		from api.preview_source($1, $2, $3::bytea[], $4, $5)`,
		[]any{src.Type, src.Key, hashes, headings, indexes},
		one(&plan.New, &plan.Changed, &plan.Kept, &plan.Removed, &missing),
	})
	if err == nil {
		err = json.Unmarshal(missing, &plan.Missing)
	}
	if err != nil {
		return Plan{}, fmt.Errorf("preview source: %w", err)
	}
	return plan, nil
}

// PreviewListing says what a complete listing lacks; an empty one lacks nothing.
func (s *Store) PreviewListing(ctx context.Context, p identity.Principal, listing []string) (Listing, error) {
	var l Listing
	err := s.ask(ctx, p, call{
		`select pool, chunks, retired, lost, removal_limit from api.preview_listing($1)`,
		[]any{append([]string{}, listing...)},
		one(&l.Pool, &l.Chunks, &l.Retired, &l.Lost, &l.RemovalLimit),
	})
	if err != nil {
		return Listing{}, fmt.Errorf("preview listing: %w", err)
	}
	return l, nil
}

// Quota is what is left of an embedding model's day, in calls.
type Quota struct {
	Model        string
	PerDay, Left int
}

// EmbeddingQuota returns the quota of each hosted embedding model, with the key of the brand of p.
func (s *Store) EmbeddingQuota(ctx context.Context, p identity.Principal) ([]Quota, error) {
	var all []Quota
	err := s.ask(ctx, p, call{
		`select model, calls_per_day, calls_left from api.embedding_quota()`, nil,
		func(rows pgx.Rows) (err error) {
			all, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Quota])
			return err
		},
	})
	if err != nil {
		return nil, fmt.Errorf("embedding quota: %w", err)
	}
	return all, nil
}
