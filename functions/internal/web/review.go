package web

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"porchlight/functions/internal/identity"
	"porchlight/functions/internal/problem"
)

// How many chunks a list of stale prices holds.
const (
	defaultStale = 50
	maxStale     = 200
)

// Reviewer lets an admin look after the prices of the caller's own brand. Verify returns not_found
// for a chunk that the caller may not see, as for one that does not exist.
type Reviewer interface {
	Stale(ctx context.Context, p identity.Principal, limit int) ([]StaleChunk, error)
	Verify(ctx context.Context, p identity.Principal, chunkID string) (VerifiedChunk, error)
}

// StaleChunk states a price that nobody verified within the brand's interval.
type StaleChunk struct {
	ChunkID     string     `json:"chunk_id"`
	SourceID    string     `json:"source_id"`
	SourceKey   string     `json:"source_key"`
	SourceTitle string     `json:"source_title"`
	SourceURL   string     `json:"source_url"` // empty: only the library has it
	Heading     string     `json:"heading"`
	Content     string     `json:"content"`
	VerifiedAt  *time.Time `json:"verified_at"` // nil: never
}

// VerifiedChunk is a chunk that the caller has just verified.
type VerifiedChunk struct {
	ChunkID    string    `json:"chunk_id"`
	VerifiedAt time.Time `json:"verified_at"`
}

// NewReview serves GET /v1/review/stale and POST /v1/review/chunks/{id}/verify.
func NewReview(o Options, v Verifier, x Reviewer) http.Handler {
	return mount(o, map[string]Handler{
		"GET /v1/review/stale":               Authenticate(v, listStale(x)),
		"POST /v1/review/chunks/{id}/verify": Authenticate(v, verifyChunk(x)),
	})
}

func listStale(x Reviewer) Authed {
	return func(w http.ResponseWriter, r *http.Request, p identity.Principal) error {
		limit := defaultStale
		if given := r.URL.Query().Get("limit"); given != "" {
			var err error
			if limit, err = strconv.Atoi(given); err != nil || limit < 1 || limit > maxStale {
				return badRequest("The limit must be a number from 1 to " + strconv.Itoa(maxStale) + ".")
			}
		}
		chunks, err := x.Stale(r.Context(), p, limit)
		if err != nil {
			return err
		}
		if chunks == nil {
			chunks = []StaleChunk{}
		}
		return writeJSON(w, http.StatusOK, map[string][]StaleChunk{"chunks": chunks})
	}
}

// verifyChunk reads no body. An id that is no uuid gets what an unknown one gets.
func verifyChunk(x Reviewer) Authed {
	return func(w http.ResponseWriter, r *http.Request, p identity.Principal) error {
		id, ok := parseUUID(r.PathValue("id"))
		if !ok {
			return problem.New(problem.NotFound, nil)
		}
		chunk, err := x.Verify(r.Context(), p, id)
		if err != nil {
			return err
		}
		return writeJSON(w, http.StatusOK, chunk)
	}
}
