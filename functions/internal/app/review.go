package app

import (
	"context"

	"porchlight/functions/internal/identity"
	"porchlight/functions/internal/store"
	"porchlight/functions/internal/web"
)

// reviewer shows the stale prices of the store in the words of web.
type reviewer struct{ store *store.Store }

// Stale lists the prices that nobody verified in time.
func (r reviewer) Stale(ctx context.Context, p identity.Principal, limit int) ([]web.StaleChunk, error) {
	stale, err := r.store.StaleChunks(ctx, p, limit)
	if err != nil {
		return nil, err
	}
	chunks := make([]web.StaleChunk, len(stale))
	for i, c := range stale {
		chunks[i] = web.StaleChunk{
			ChunkID: c.ChunkID, SourceID: c.SourceID, SourceKey: c.SourceKey, SourceTitle: c.SourceTitle,
			SourceURL: c.SourceURL, Heading: c.HeadingPath, Content: c.Content, VerifiedAt: c.VerifiedAt,
		}
	}
	return chunks, nil
}

// Verify says in the caller's name that the chunk is true today.
func (r reviewer) Verify(ctx context.Context, p identity.Principal, chunkID string) (web.VerifiedChunk, error) {
	at, err := r.store.VerifyChunk(ctx, p, chunkID)
	return web.VerifiedChunk{ChunkID: chunkID, VerifiedAt: at}, err
}
