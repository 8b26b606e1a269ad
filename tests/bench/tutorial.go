package main

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// tutorial is what the tutorials of the trade teach: one table for text and vector, one policy, one
// function that thresholds, sorts and limits. It is a fair opponent: the same rows and texts, the same
// Postgres and session, the same login under a policy that holds, the same questions, and a threshold
// that lets only a cluster pass, so that it sorts little. No index over the vectors on either side,
// since one over all brands would not find what both find here. What differs is what the tutorials leave
// at its default: the vector lies out of line (TOAST), the policy asks for the claims row by row, and
// nothing but the policy narrows the rows.
const tutorial = `
	create schema tutorial;
	create table tutorial.documents (
		id bigserial primary key,
		tenant_id uuid not null,
		content text,
		metadata jsonb,
		embedding extensions.vector(768)
	);
	insert into tutorial.documents (tenant_id, content, metadata, embedding)
	select c.tenant_id, c.content, jsonb_build_object('chunk_id', c.id, 'source_id', c.source_id), e.embedding
	from app.chunk_embeddings_primary e
	join app.chunks c on c.tenant_id = e.tenant_id and c.id = e.chunk_id
	order by e.ctid; -- lies as ours does
	alter table tutorial.documents enable row level security;
	create policy "own tenant" on tutorial.documents for select to authenticated
		using (tenant_id = (auth.jwt() -> 'app_metadata' ->> 'tenant_id')::uuid);
	create function tutorial.match_documents(
		query_embedding extensions.vector(768), match_threshold float, match_count int)
	returns table (id bigint, content text, metadata jsonb, similarity float)
	language sql stable
	as $$
		select d.id, d.content, d.metadata, 1 - (d.embedding operator(extensions.<=>) query_embedding)
		from tutorial.documents d
		where 1 - (d.embedding operator(extensions.<=>) query_embedding) > match_threshold
		order by d.embedding operator(extensions.<=>) query_embedding
		limit match_count;
	$$;
	grant usage on schema tutorial to authenticated;
	grant select on tutorial.documents to authenticated;
	grant execute on function tutorial.match_documents to authenticated`

// tutorialIndex is what a careful reader adds.
const tutorialIndex = `create index on tutorial.documents (tenant_id); analyze tutorial.documents`

const matchDocuments = `select metadata ->> 'chunk_id', content, similarity
	from tutorial.match_documents($1::extensions.vector, 0.5, $2::integer)`

func loadTutorial(ctx context.Context, conn *pgx.Conn) error {
	if _, err := conn.Exec(ctx, tutorial, pgx.QueryExecModeSimpleProtocol); err != nil {
		return fmt.Errorf("load the tutorial's table: %w", err)
	}
	return nil
}

// searchTutorial asks the tutorial's function, in one round trip as well.
func (c caller) searchTutorial(ctx context.Context, question []float32) ([]string, error) {
	return c.ask(ctx, matchDocuments, question, answers)
}
