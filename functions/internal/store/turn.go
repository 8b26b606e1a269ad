package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"porchlight/functions/internal/corpus"
	"porchlight/functions/internal/identity"
	"porchlight/functions/internal/problem"
	"porchlight/functions/internal/turn"
)

// BeginTurn opens a turn: membership, limits, persona, history, indexes and models. A refusal of a
// limit is an error with its code, and a row in the log of turns.
func (s *Store) BeginTurn(
	ctx context.Context, p identity.Principal, q turn.Question, pools []string,
) (turn.Begun, error) {
	var b turn.Begun
	var refusal *string
	var wait *int
	var history []byte
	err := s.as(ctx, p, call{
		`select turn_id::text, run, state, conversation_id::text, refusal, retry_after_seconds,
			coalesce(brand, ''), coalesce(language, ''), coalesce(persona, ''), coalesce(fallback, ''),
			coalesce(history, '[]'), coalesce(pool, ''), indexes, models, coalesce(verified_within_days, 0),
			coalesce(has_documents, false)
		from api.begin_turn($1, $2::uuid, $3::uuid, $4, $5::text[])`,
		[]any{q.Text, nullable(q.TurnID), nullable(q.ConversationID), nullable(q.Language), pools},
		one(&b.TurnID, &b.Run, &b.State, &b.ConversationID, &refusal, &wait, &b.Brand, &b.Language,
			&b.Persona, &b.Fallback, &history, &b.Pool, &b.Indexes, &b.Models, &b.VerifiedWithinDays,
			&b.HasDocuments),
	})
	if err != nil {
		return turn.Begun{}, fmt.Errorf("begin turn: %w", err)
	}
	if refusal != nil {
		e := &problem.Error{Code: problem.Code(*refusal)}
		if wait != nil {
			e.RetryAfter = time.Duration(*wait) * time.Second
		}
		return turn.Begun{}, e
	}
	if err := json.Unmarshal(history, &b.History); err != nil {
		return turn.Begun{}, fmt.Errorf("begin turn: read history: %w", err)
	}
	return b, nil
}

// matchCalls names the search function of each index: a vector meets only its own.
var matchCalls = map[string]string{
	"primary":  matchCall("primary"),
	"fallback": matchCall("fallback"),
	"local":    matchCall("local"),
}

func matchCall(index string) string {
	return `select chunk_id, source_id, source_type, source_title, coalesce(source_url, ''), heading_path,
		content, language, verified_at, is_pricing, is_stale, is_relevant, similarity, score
	from api.match_chunks_` + index + `($1::extensions.vector, $2, $3, $4::integer, $5::double precision)`
}

// MatchChunks searches the caller's brand in the index of the vector, best first.
func (s *Store) MatchChunks(ctx context.Context, p identity.Principal, m turn.Search) ([]corpus.Match, error) {
	sql, ok := matchCalls[m.Index]
	if !ok {
		return nil, fmt.Errorf("match chunks: there is no index %q", m.Index)
	}
	var matches []corpus.Match
	err := s.ask(ctx, p, call{
		sql,
		[]any{vector(m.Vector), m.Model, m.Question, m.Limit, m.DenseWeight},
		func(rows pgx.Rows) (err error) {
			matches, err = pgx.CollectRows(rows, pgx.RowToStructByPos[corpus.Match])
			return err
		},
	})
	if err != nil {
		return nil, fmt.Errorf("match chunks: %w", err)
	}
	return matches, nil
}

// ReserveCall says whether the model may be called once more for a running turn.
func (s *Store) ReserveCall(
	ctx context.Context, p identity.Principal, turnID string, run int, model string,
) (isReserved bool, err error) {
	err = s.as(ctx, p, call{
		`select api.reserve_call($1::uuid, $2::integer, $3)`, []any{turnID, run, model}, one(&isReserved),
	})
	if err != nil {
		return false, fmt.Errorf("reserve a call: %w", err)
	}
	return isReserved, nil
}

// FinishTurn closes a running turn with what became of it.
func (s *Store) FinishTurn(ctx context.Context, p identity.Principal, f turn.Finished) error {
	attempts, err := json.Marshal(f.Attempts)
	if err != nil {
		return fmt.Errorf("finish turn: write attempts: %w", err)
	}
	millis, err := json.Marshal(f.MS)
	if err != nil {
		return fmt.Errorf("finish turn: write times: %w", err)
	}
	if f.Attempts == nil {
		attempts = []byte("[]")
	}
	ids, similarities := make([]string, len(f.Used)), make([]float64, len(f.Used))
	for i, m := range f.Used {
		ids[i], similarities[i] = m.ChunkID, m.Similarity
	}
	var asOf *string
	if f.AsOf != nil {
		day := f.AsOf.UTC().Format(time.DateOnly)
		asOf = &day
	}
	err = s.as(ctx, p, call{
		`select api.finish_turn($1::uuid, $2::integer, $3, $4, $5, $6::date, $7, $8, $9::jsonb, $10::jsonb,
			$11::uuid[], $12::double precision[])`,
		[]any{
			f.TurnID, f.Run, f.Status, nullable(f.Answer), nullable(f.Language), asOf, nullable(f.Index),
			nullable(f.Model), string(attempts), string(millis), ids, similarities,
		},
		nil,
	})
	if err != nil {
		return fmt.Errorf("finish turn: %w", err)
	}
	return nil
}

// StoredTurn reads a turn of the principal as it ended, or with the status "running".
func (s *Store) StoredTurn(ctx context.Context, p identity.Principal, turnID string) (turn.Finished, error) {
	f := turn.Finished{TurnID: turnID}
	var millis, sources []byte
	err := s.ask(ctx, p, call{
		`select status, coalesce(answer, ''), coalesce(language, ''), as_of, coalesce(index_name, ''),
			coalesce(model, ''), milliseconds, sources
		from api.stored_turn($1::uuid)`,
		[]any{turnID},
		one(&f.Status, &f.Answer, &f.Language, &f.AsOf, &f.Index, &f.Model, &millis, &sources),
	})
	if err != nil {
		return f, fmt.Errorf("read turn: %w", err)
	}
	if err := json.Unmarshal(millis, &f.MS); err != nil {
		return f, fmt.Errorf("read turn: times: %w", err)
	}
	if f.Used, err = readSources(sources, f.Status == turn.Held); err != nil {
		return f, fmt.Errorf("read turn: sources: %w", err)
	}
	return f, nil
}

// readSources reads what a reader is shown of each chunk. Only a held answer rests on a stale price.
func readSources(raw []byte, isStale bool) ([]corpus.Match, error) {
	var rows []struct {
		SourceID   string     `json:"source_id"`
		Type       string     `json:"type"`
		Title      string     `json:"title"`
		URL        string     `json:"url"`
		Heading    string     `json:"heading"`
		VerifiedAt *time.Time `json:"verified_at"`
	}
	if err := json.Unmarshal(raw, &rows); err != nil {
		return nil, err
	}
	matches := make([]corpus.Match, len(rows))
	for i, r := range rows {
		matches[i] = corpus.Match{
			SourceID: r.SourceID, SourceType: r.Type, SourceTitle: r.Title, SourceURL: r.URL,
			HeadingPath: r.Heading, VerifiedAt: r.VerifiedAt, IsStale: isStale,
		}
	}
	return matches, nil
}
