package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"porchlight/functions/internal/identity"
)

// StaleChunk states a price that nobody verified within the brand's interval.
type StaleChunk struct {
	ChunkID     string
	SourceID    string
	SourceTitle string
	SourceKey   string
	SourceURL   string // empty: only the library has it
	HeadingPath string
	Content     string
	VerifiedAt  *time.Time // nil: never
}

// StaleChunks lists the stale prices of the caller's brand, the oldest first.
func (s *Store) StaleChunks(ctx context.Context, p identity.Principal, limit int) ([]StaleChunk, error) {
	var chunks []StaleChunk
	err := s.ask(ctx, p, call{
		`select chunk_id::text, source_id::text, source_title, source_key, coalesce(source_url, ''),
			heading_path, content, verified_at
		from api.stale_chunks($1::integer)`,
		[]any{limit},
		func(rows pgx.Rows) (err error) {
			chunks, err = pgx.CollectRows(rows, pgx.RowToStructByPos[StaleChunk])
			return err
		},
	})
	if err != nil {
		return nil, fmt.Errorf("list stale chunks: %w", err)
	}
	return chunks, nil
}

// VerifyChunk says, in the caller's name, that the chunk is true today. It returns when that was.
func (s *Store) VerifyChunk(ctx context.Context, p identity.Principal, chunkID string) (time.Time, error) {
	var at time.Time
	err := s.as(ctx, p, call{
		`select verified_at from api.verify_chunk($1::uuid)`, []any{chunkID}, one(&at),
	})
	if err != nil {
		return time.Time{}, fmt.Errorf("verify chunk: %w", err)
	}
	return at, nil
}
