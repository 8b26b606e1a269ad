-- Search terms of the chunks: the lexical half of retrieval.
-- A plain postings table with a btree, since row-level security keeps Postgres from using GIN (its
-- operators are not leakproof) while equality of uuid and text is. About 4.5 kB a chunk.

create table app.chunk_terms (
    tenant_id uuid not null,
    lexeme text not null,
    chunk_id uuid not null,
    frequency integer not null check (frequency > 0),
    primary key (tenant_id, lexeme, chunk_id),
    foreign key (tenant_id, chunk_id) references app.chunks on delete cascade
);
comment on table app.chunk_terms is 'Which lexeme stands how often in which chunk. Written by a trigger.';
create index chunk_terms_chunk on app.chunk_terms (tenant_id, chunk_id);
alter table app.chunk_terms enable row level security;
alter table app.chunk_terms force row level security;
create policy chunk_terms_select_member on app.chunk_terms for select to authenticated
    using (tenant_id = (select private.tenant_id()));
grant select on app.chunk_terms to authenticated, service_role;

create function private.write_chunk_terms() returns trigger
language plpgsql security definer
set search_path = ''
as $$
begin
    insert into app.chunk_terms (tenant_id, lexeme, chunk_id, frequency)
    select n.tenant_id, t.lexeme, n.id, sum(t.frequency)
    from new_chunks n, private.terms(n.heading_path || e'\n' || n.content, n.language) t
    where length(t.lexeme) <= 200
    group by n.tenant_id, t.lexeme, n.id;
    return null;
end
$$;
comment on function private.write_chunk_terms is 'Files the terms of each new chunk.';

create trigger chunks_write_terms after insert on app.chunks
    referencing new table as new_chunks
    for each statement execute function private.write_chunk_terms();
comment on trigger chunks_write_terms on app.chunks is 'Files the terms of each new chunk.';
