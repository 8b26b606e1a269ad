-- Search terms of the chunks: the lexical half of retrieval.
-- A plain postings table with a btree, since row-level security keeps Postgres from using GIN (its
-- operators are not leakproof) while equality of uuid and text is. The frequency lies in the key's
-- index: six words among 10,000 chunks cost 98 pages there, 7,615 in the table, which the key's order
-- scatters. The index is 13 % larger for it. About 4.7 kB a chunk.

create table app.chunk_terms (
    tenant_id uuid not null,
    lexeme text not null,
    chunk_id uuid not null,
    frequency integer not null check (frequency > 0),
    primary key (tenant_id, lexeme, chunk_id) include (frequency),
    foreign key (tenant_id, chunk_id) references app.chunks on delete cascade
);
comment on table app.chunk_terms is
    'Which lexeme stands how often in which chunk. Written by a trigger.';
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
    from (
        select c.tenant_id, c.id, c.heading_path, c.content, c.language
        from new_chunks c
        -- after an update only a chunk whose language changed has none
        where not exists (
            select from app.chunk_terms o where o.tenant_id = c.tenant_id and o.chunk_id = c.id)
    ) n, private.terms(n.heading_path || e'\n' || n.content, n.language) t
    where length(t.lexeme) <= 200
    group by n.tenant_id, t.lexeme, n.id;
    return null;
end
$$;
comment on function private.write_chunk_terms is 'Files the terms of each chunk that has none.';

create function private.drop_chunk_terms() returns trigger
language plpgsql security definer
set search_path = ''
as $$
begin
    delete from app.chunk_terms t where t.tenant_id = new.tenant_id and t.chunk_id = new.id;
    return null;
end
$$;
comment on function private.drop_chunk_terms is
    'Forgets the terms that another language made of a chunk.';

create trigger chunks_drop_terms after update of language on app.chunks
    for each row when (old.language <> new.language) execute function private.drop_chunk_terms();
comment on trigger chunks_drop_terms on app.chunks is
    'Forgets the terms of a chunk whose language changes.';
create trigger chunks_write_terms after insert on app.chunks
    referencing new table as new_chunks
    for each statement execute function private.write_chunk_terms();
comment on trigger chunks_write_terms on app.chunks is 'Files the terms of each new chunk.';
create trigger chunks_write_terms_again after update on app.chunks
    referencing new table as new_chunks
    for each statement execute function private.write_chunk_terms();
comment on trigger chunks_write_terms_again on app.chunks is
    'Files the terms of a chunk whose language changed.';
