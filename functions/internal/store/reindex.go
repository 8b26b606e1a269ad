package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"porchlight/functions/internal/corpus"
	"porchlight/functions/internal/identity"
)

// Started is a reindex run that has begun.
type Started struct {
	RunID  string
	Tenant string // slug
	Pool   string // whose key the brand's models are called with
}

// Plan is what a reindex of one source would do. Places count its chunks from 0.
type Plan struct {
	Generation int64 // of the stored source that it compares with; 0: nothing is stored

	New     []int            // places whose text is not stored
	Changed int              // new chunks under a heading that loses one
	Kept    int              // stored chunks that stay as they are
	Removed int              // stored chunks that the source no longer has
	Missing map[string][]int // by index, the places without a vector; the new ones among them

	RefusedRemoval int // chunks that the run would have removed, where that is more than it may
}

// End says how a run came to its end.
type End struct {
	Listing        []string // every key, when sources that are not in it may be retired
	IsInterrupted  bool
	RefusedRemoval int // as a plan said
}

// Vectors are the vectors of one index for the chunks at Places.
type Vectors struct {
	Index, Model string
	Places       []int
	Values       [][]float32
}

// Apply is one source as it shall be stored.
type Apply struct {
	Source     corpus.Source
	Chunks     []corpus.Chunk // all of them, in reading order
	Generation int64          // as the plan said
	New        []int          // places whose text is not stored yet; the others are not touched
	Vectors    []Vectors      // those that were missing
}

// Applied is what a reindex of one source did, in chunks.
type Applied struct {
	Unchanged                     bool
	Added, Changed, Kept, Removed int
}

// RunView is a reindex run.
type RunView struct {
	ID                            string
	Tenant                        string  // slug
	Status                        string  // "running", "ready", "partial" or "failed"
	Added, Changed, Kept, Removed int     // chunks
	Failed, Superseded, Retired   int     // sources
	RefusedRemoval                int     // chunks that it would have removed, which was more than it may
	Reason                        *string // of a run that ended before its time
	StartedAt                     time.Time
	FinishedAt                    *time.Time
	Sources                       []RunSource
}

// RunSource is what a run did to one source.
type RunSource struct {
	Key    string  `json:"key"`
	Status string  `json:"status"` // "ready", "unchanged", "superseded" or "error"
	Reason *string `json:"reason"`
}

// StartReindex opens a run for the brand of p. It returns the run's id and the brand's slug. allowedRemoval
// is how many chunks it may remove; nil: the share that the brand allows.
func (s *Store) StartReindex(
	ctx context.Context, p identity.Principal, isComplete bool, allowedRemoval *int,
) (Started, error) {
	var r Started
	err := s.as(ctx, p, call{
		`select run_id::text, tenant, pool from api.start_reindex($1, $2)`,
		[]any{isComplete, allowedRemoval},
		one(&r.RunID, &r.Tenant, &r.Pool),
	})
	if err != nil {
		return Started{}, fmt.Errorf("start reindex: %w", err)
	}
	return r, nil
}

// TakeReindexCall says whether a running reindex may call the model once more.
func (s *Store) TakeReindexCall(
	ctx context.Context, p identity.Principal, runID, model string,
) (isTaken bool, err error) {
	err = s.as(ctx, p, call{
		`select api.take_reindex_call($1::uuid, $2)`, []any{runID, model}, one(&isTaken),
	})
	if err != nil {
		return false, fmt.Errorf("take a call: %w", err)
	}
	return isTaken, nil
}

// RenewReindex says that the process of a run is alive, at least once a minute. It is not_found when the
// run has been given up.
func (s *Store) RenewReindex(ctx context.Context, p identity.Principal, runID string) error {
	if err := s.ask(ctx, p, call{`select api.renew_reindex($1::uuid)`, []any{runID}, nil}); err != nil {
		return fmt.Errorf("renew reindex: %w", err)
	}
	return nil
}

// PlanReindex compares a source with what is stored of it: only hashes and headings travel. It is
// newer_snapshot when a newer run has settled the source.
func (s *Store) PlanReindex(
	ctx context.Context, p identity.Principal, runID string, src corpus.Source, chunks []corpus.Chunk,
	indexes []string,
) (Plan, error) {
	var plan Plan
	var missing []byte
	hashes, headings := identities(chunks)
	err := s.ask(ctx, p, call{
		`select generation, new_places, changed, kept, removed, missing, coalesce(refused_removal, 0)
		from api.plan_reindex($1::uuid, $2, $3, $4::bytea[], $5, $6)`,
		[]any{runID, src.Type, src.Key, hashes, headings, indexes},
		one(&plan.Generation, &plan.New, &plan.Changed, &plan.Kept, &plan.Removed, &missing, &plan.RefusedRemoval),
	})
	if err == nil {
		err = json.Unmarshal(missing, &plan.Missing)
	}
	if err != nil {
		return Plan{}, fmt.Errorf("plan reindex: %w", err)
	}
	return plan, nil
}

// ApplyReindex makes the stored source equal to the new version in one transaction, vectors included. It
// is newer_snapshot when a newer run has settled the source, and reindex_running when another run has
// written it since the plan.
func (s *Store) ApplyReindex(ctx context.Context, p identity.Principal, runID string, a Apply) (Applied, error) {
	src := a.Source
	facts, err := json.Marshal(factsOf(src))
	if err != nil {
		return Applied{}, fmt.Errorf("apply reindex: %w", err)
	}
	hashes, headings := identities(a.Chunks)
	contents := make([]*string, len(a.Chunks))
	for _, at := range a.New {
		contents[at] = &a.Chunks[at].Content
	}
	var done Applied
	var status string
	calls := []call{{
		`select status, added, changed, kept, removed
		from api.apply_reindex($1::uuid, $2, $3, $4, $5::jsonb, $6::bytea[], $7, $8)`,
		[]any{runID, a.Generation, src.Type, src.Key, string(facts), hashes, headings, contents},
		one(&status, &done.Added, &done.Changed, &done.Kept, &done.Removed),
	}}
	for _, v := range a.Vectors {
		calls = append(calls, putEmbeddings(src, hashes, v))
	}
	if err := s.as(ctx, p, calls...); err != nil {
		return Applied{}, fmt.Errorf("apply reindex: %w", err)
	}
	done.Unchanged = status == "unchanged"
	return done, nil
}

// putEmbeddings sends each vector with the hash of the text that it was made from.
func putEmbeddings(src corpus.Source, hashes [][]byte, v Vectors) call {
	made, texts := make([][]byte, len(v.Places)), make([]string, len(v.Values))
	for i, at := range v.Places {
		made[i] = hashes[at]
	}
	for i, value := range v.Values {
		texts[i] = vectorText(value)
	}
	return call{
		`select api.put_embeddings($1, $2, $3, $4, $5::integer[], $6::bytea[], $7)`,
		[]any{src.Type, src.Key, v.Index, v.Model, v.Places, made, texts},
		nil,
	}
}

// FailSource notes that a run did not index a source, and why. What is stored of it stays.
func (s *Store) FailSource(ctx context.Context, p identity.Principal, runID, key, reason string) error {
	err := s.as(ctx, p, call{`select api.fail_source($1::uuid, $2, $3)`, []any{runID, key, reason}, nil})
	if err != nil {
		return fmt.Errorf("fail source: %w", err)
	}
	return nil
}

const runColumns = `run_id::text, tenant, status, added, changed, kept, removed, failed, superseded, retired,
	coalesce(refused_removal, 0), reason, started_at, finished_at, sources`

// FinishReindex closes a run. A complete run that was not interrupted retires the sources that the listing
// lacks; an empty listing retires none, and so does one that lacks more than the run may remove.
func (s *Store) FinishReindex(ctx context.Context, p identity.Principal, runID string, end End) (RunView, error) {
	var v RunView
	err := s.as(ctx, p, call{
		`select ` + runColumns + ` from api.finish_reindex($1::uuid, $2, $3, nullif($4::integer, 0))`,
		[]any{runID, append([]string{}, end.Listing...), end.IsInterrupted, end.RefusedRemoval},
		v.read(),
	})
	if err != nil {
		return RunView{}, fmt.Errorf("finish reindex: %w", err)
	}
	return v, nil
}

// GetReindex returns a run of the brand of p.
func (s *Store) GetReindex(ctx context.Context, p identity.Principal, runID string) (RunView, error) {
	var v RunView
	err := s.ask(ctx, p, call{`select ` + runColumns + ` from api.get_reindex($1::uuid)`, []any{runID}, v.read()})
	if err != nil {
		return RunView{}, fmt.Errorf("get reindex: %w", err)
	}
	return v, nil
}

func (v *RunView) read() func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		var sources []byte
		err := one(&v.ID, &v.Tenant, &v.Status, &v.Added, &v.Changed, &v.Kept, &v.Removed, &v.Failed,
			&v.Superseded, &v.Retired, &v.RefusedRemoval, &v.Reason, &v.StartedAt, &v.FinishedAt, &sources)(rows)
		if err != nil {
			return err
		}
		return json.Unmarshal(sources, &v.Sources)
	}
}

func identities(chunks []corpus.Chunk) (hashes [][]byte, headings []string) {
	hashes, headings = make([][]byte, len(chunks)), make([]string, len(chunks))
	for i, c := range chunks {
		hash := c.Hash()
		hashes[i], headings[i] = hash[:], c.HeadingPath
	}
	return hashes, headings
}

// facts is a source as api.apply_reindex reads it.
type facts struct {
	Title      string         `json:"title"`
	URL        *string        `json:"url"`
	Language   string         `json:"language"`
	Visibility string         `json:"visibility"`
	VerifiedAt *time.Time     `json:"verified_at"`
	ValidFrom  *time.Time     `json:"valid_from"`
	ValidTo    *time.Time     `json:"valid_to"`
	Metadata   map[string]any `json:"metadata,omitempty"`
}

func factsOf(s corpus.Source) facts {
	return facts{
		Title: s.Title, URL: nullable(s.URL), Language: s.Language, Visibility: string(s.Visibility),
		VerifiedAt: s.VerifiedAt, ValidFrom: s.ValidFrom, ValidTo: s.ValidTo, Metadata: s.Metadata,
	}
}
