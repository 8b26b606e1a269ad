package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// The attacks of this file try to tell what another brand has from what nobody has, by each route that
// takes an id or a name. The first brand is the attacker's, the second has what is asked for. T11 T12 T16

// ids reads the ids of the second brand that a query gives.
func (w *world) ids(ctx context.Context, query string) ([]string, error) {
	rows, err := w.db.Query(ctx, query, w.brands[1].id)
	if err != nil {
		return nil, err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err == nil && len(ids) == 0 {
		err = errors.New("the brand has none")
	}
	return ids, err
}

// tell compares the ids of the query, in turns, with random ones.
func (w *world) tell(ctx context.Context, name, token, query string, with func(id string) request) (row, error) {
	ids, err := w.ids(ctx, query)
	if err != nil {
		return row{}, fmt.Errorf("%s: %w", name, err)
	}
	return alike(ctx, w, name, w.brands[0], token,
		func(pair int) request { return with(ids[pair%len(ids)]) },
		func(int) request { return with(uuid.NewString()) })
}

func tellRuns(ctx context.Context, w *world) (row, error) {
	return w.tell(ctx, "a run: theirs or nobody's", w.brands[0].admin,
		`select id::text from app.reindex_runs where tenant_id = $1::uuid`,
		func(id string) request { return to(http.MethodGet, "/v1/reindex/"+id) })
}

func tellChunks(ctx context.Context, w *world) (row, error) {
	return w.tell(ctx, "a chunk to verify: theirs or nobody's", w.brands[0].admin,
		`select id::text from app.chunks where tenant_id = $1::uuid`,
		func(id string) request { return to(http.MethodPost, "/v1/review/chunks/"+id+"/verify") })
}

// Each id of a turn is sent once: after that it is the attacker's own. They are made for it.
const makeTurns = `insert into app.turns (tenant_id, id, conversation_id, status, question, finished_at)
	select $1::uuid, i, i, 'no_match', '?', now() from (select gen_random_uuid() from generate_series(1, 500)) t (i)
	returning id::text`

func tellTurns(ctx context.Context, w *world) (row, error) {
	return w.tell(ctx, "the id of a turn: theirs or nobody's", w.brands[0].admin, makeTurns,
		func(id string) request { return asking("turn_id", id) })
}

func tellConversations(ctx context.Context, w *world) (row, error) {
	return w.tell(ctx, "a conversation: theirs or nobody's", w.brands[0].rep,
		`select conversation_id::text from app.turns where tenant_id = $1::uuid limit 100`,
		func(id string) request { return asking("conversation_id", id) })
}

func tellAnswers(ctx context.Context, w *world) (row, error) {
	return w.tell(ctx, "an answer to read again: theirs or nobody's", w.brands[0].rep,
		`select id::text from app.turns where tenant_id = $1::uuid and status = 'answered' limit 100`,
		func(id string) request { return to(http.MethodGet, "/v1/turns/"+id) })
}

func tellBrands(ctx context.Context, w *world) (row, error) {
	reindex := func(slug string) func(int) request {
		return func(int) request {
			return request{http.MethodPost, "/v1/reindex", map[string]any{"all": true, "tenant": slug}}
		}
	}
	return alike(ctx, w, "a brand to reindex: theirs or nobody's", w.brands[0], w.brands[0].admin,
		reindex(w.brands[1].slug), reindex("brand-gorsefendex"))
}
