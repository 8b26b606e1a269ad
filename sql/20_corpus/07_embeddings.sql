-- Writing vectors into an index, and how far each index is filled. A vector belongs to the text that it
-- was made from: no door changes a text, and the owner of the database can't either.

create function private.keep_chunk_text() returns trigger
language plpgsql
set search_path = ''
as $$
begin
    raise exception using errcode = 'PT400', message = 'bad_request',
        detail = 'the text of a chunk never changes, since its vectors and search terms would not',
        hint = 'Change the document and reindex it.';
end
$$;
comment on function private.keep_chunk_text is 'Refuses another text for a chunk.';
create trigger chunks_keep_text before update of heading_path, content on app.chunks
    for each row when (
        (old.heading_path, old.content) is distinct from (new.heading_path, new.content))
    execute function private.keep_chunk_text();
comment on trigger chunks_keep_text on app.chunks is 'A changed passage is a new row.';

create function private.put_embeddings(
    p_tenant_id uuid, p_type text, p_key text, p_index text, p_model text, p_places integer[],
    p_hashes bytea[], p_embeddings text[])
returns integer
language plpgsql
set search_path = ''
as $$
declare
    v_chunk_ids uuid[];
    v_written integer;
begin
    if not exists (select from app.embedding_indexes i where i.name = p_index and i.model = p_model) then
        raise exception using errcode = 'PT422', message = 'model_mismatch';
    end if;
    select array_agg(s.chunk_ids[p.place + 1] order by p.at) into v_chunk_ids
    from app.sources s, unnest(p_places) with ordinality p (place, at)
    where s.tenant_id = p_tenant_id and s.source_type = p_type and s.source_key = p_key;
    if coalesce(cardinality(v_chunk_ids), 0) <> cardinality(p_embeddings)
        or array_position(v_chunk_ids, null) > 0 then
        raise exception using errcode = 'PT400', message = 'bad_request', detail = 'a vector has no chunk';
    end if;
    -- a vector is of a text, not of a place: what stands there now may be another passage
    if cardinality(p_hashes) is distinct from cardinality(p_embeddings) or exists (
        select from unnest(v_chunk_ids, p_hashes) n (chunk_id, hash)
        join app.chunks c on c.tenant_id = p_tenant_id and c.id = n.chunk_id
        where c.content_hash is distinct from n.hash
    ) then
        raise exception using errcode = 'PT409', message = 'reindex_running';
    end if;
    case p_index
        when 'primary' then
            insert into app.chunk_embeddings_primary (tenant_id, chunk_id, embedding)
            select p_tenant_id, e.chunk_id, e.embedding::extensions.vector(768)
            from unnest(v_chunk_ids, p_embeddings) e (chunk_id, embedding) on conflict do nothing;
        when 'fallback' then
            insert into app.chunk_embeddings_fallback (tenant_id, chunk_id, embedding)
            select p_tenant_id, e.chunk_id, e.embedding::extensions.vector(768)
            from unnest(v_chunk_ids, p_embeddings) e (chunk_id, embedding) on conflict do nothing;
        when 'local' then
            insert into app.chunk_embeddings_local (tenant_id, chunk_id, embedding)
            select p_tenant_id, e.chunk_id, e.embedding::extensions.vector(384)
            from unnest(v_chunk_ids, p_embeddings) e (chunk_id, embedding) on conflict do nothing;
    end case;
    get diagnostics v_written = row_count;
    return v_written;
end
$$;
comment on function private.put_embeddings is 'See api.put_embeddings.';
grant execute on function private.put_embeddings to authenticated, service_role;

create function api.put_embeddings(
    p_type text, p_key text, p_index text, p_model text, p_places integer[], p_hashes bytea[],
    p_embeddings text[])
returns integer
language sql
set search_path = ''
begin atomic
    select private.put_embeddings(private.required_admin_tenant_id(), p_type, p_key, p_index, p_model,
        p_places, p_hashes, p_embeddings);
end;
comment on function api.put_embeddings is
    'Writes vectors (text form of pgvector) for the chunks at the places (from 0) of a source, made of '
    'texts with those hashes. A model that is not the registered one of the index is refused, and a '
    'vector of another text than the one that stands there.';
grant execute on function api.put_embeddings to authenticated, service_role;

create function private.index_coverage(p_tenant_id uuid)
returns table (index_name text, model text, chunks bigint, vectors bigint)
language sql stable
set search_path = ''
begin atomic
    select i.name, i.model,
        (select count(*) from app.chunks c where c.tenant_id = p_tenant_id),
        (select count(*) from private.index_chunk_ids(p_tenant_id, i.name))
    from app.embedding_indexes i
    order by array_position('{primary,fallback,local}'::text[], i.name);
end;
comment on function private.index_coverage is 'See api.index_coverage.';
grant execute on function private.index_coverage to authenticated, service_role;

create function api.index_coverage()
returns table (index_name text, model text, chunks bigint, vectors bigint)
language sql stable
set search_path = ''
begin atomic
    select c.index_name, c.model, c.chunks, c.vectors
    from private.index_coverage(private.required_admin_tenant_id()) c;
end;
comment on function api.index_coverage is 'How many chunks of the brand each index can find.';
grant execute on function api.index_coverage to authenticated, service_role;
