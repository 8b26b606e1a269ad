-- Reconciliation, first half: what would a reindex of one source do? Reads only.
-- The caller sends the hashes of the chunks in order; only what is new has to be embedded and sent.
-- An unchanged source of 10,000 chunks costs one index scan.

create function private.diff_source(p_tenant_id uuid, p_type text, p_key text, p_hashes bytea[])
returns table (place integer, occurrence integer, chunk_id uuid)
language sql stable
set search_path = ''
begin atomic
    -- the n-th equal passage of the new version is the n-th equal passage of the stored one
    select h.place::integer, h.occurrence::integer, c.id
    from (
        select u.hash, u.place, row_number() over (partition by u.hash order by u.place) - 1 as occurrence
        from unnest(p_hashes) with ordinality u (hash, place)
    ) h
    left join app.sources s
        on s.tenant_id = p_tenant_id and s.source_type = p_type and s.source_key = p_key
    left join app.chunks c
        on c.tenant_id = s.tenant_id and c.source_id = s.id
        and c.content_hash = h.hash and c.occurrence = h.occurrence
    order by h.place;
end;
comment on function private.diff_source is
    'For each chunk of the new version, in order: the stored chunk that it equals, or NULL.';
grant execute on function private.diff_source to authenticated, service_role;

create function private.index_chunk_ids(p_tenant_id uuid, p_index text)
returns setof uuid
language sql stable
set search_path = ''
begin atomic
    select e.chunk_id from app.chunk_embeddings_primary e
    where p_index = 'primary' and e.tenant_id = p_tenant_id
    union all
    select e.chunk_id from app.chunk_embeddings_fallback e
    where p_index = 'fallback' and e.tenant_id = p_tenant_id
    union all
    select e.chunk_id from app.chunk_embeddings_local e
    where p_index = 'local' and e.tenant_id = p_tenant_id;
end;
comment on function private.index_chunk_ids is
    'The chunks of a brand that have a vector in the index.';
grant execute on function private.index_chunk_ids to authenticated, service_role;

create function private.plan_reindex(
    p_tenant_id uuid, p_type text, p_key text, p_hashes bytea[], p_headings text[], p_indexes text[])
returns table (generation bigint,
    new_places integer[], changed integer, kept integer, removed integer, missing jsonb)
language sql stable
set search_path = ''
begin atomic
    with diff as (
        select d.place, d.chunk_id from private.diff_source(p_tenant_id, p_type, p_key, p_hashes) d
    ), stored as (
        select c.id, c.heading_path
        from app.sources s
        join app.chunks c on c.tenant_id = s.tenant_id and c.source_id = s.id
        where s.tenant_id = p_tenant_id and s.source_type = p_type and s.source_key = p_key
    ), gone as (
        select s.heading_path from stored s
        where not exists (select from diff d where d.chunk_id = s.id)
    )
    select
        coalesce((select s.generation from app.sources s
            where s.tenant_id = p_tenant_id and s.source_type = p_type and s.source_key = p_key), 0),
        coalesce((select array_agg(d.place - 1 order by d.place) from diff d where d.chunk_id is null), '{}'),
        (select count(*) from diff d
            where d.chunk_id is null and p_headings[d.place] in (select g.heading_path from gone g))::integer,
        (select count(*) from diff d where d.chunk_id is not null)::integer,
        (select count(*) from gone)::integer,
        coalesce((
            select jsonb_object_agg(i.name, coalesce((
                select jsonb_agg(d.place - 1 order by d.place)
                from diff d
                where d.chunk_id is null
                    or d.chunk_id not in (select private.index_chunk_ids(p_tenant_id, i.name))
                ), '[]'))
            from unnest(p_indexes) i (name)), '{}');
end;
comment on function private.plan_reindex is 'See api.plan_reindex.';
grant execute on function private.plan_reindex to authenticated, service_role;

create function api.plan_reindex(
    p_run_id uuid, p_type text, p_key text, p_hashes bytea[], p_headings text[], p_indexes text[])
returns table (generation bigint,
    new_places integer[], changed integer, kept integer, removed integer, missing jsonb,
    refused_removal integer)
language sql stable
set search_path = ''
begin atomic
    -- an older run learns here that it need not embed
    select private.require_newest(
        private.is_superseded(private.required_admin_tenant_id(), p_run_id, p_key));
    select p.generation, p.new_places, p.changed, p.kept, p.removed, p.missing,
        case when p.removed > cardinality(p.new_places)
                and p.removed - cardinality(p.new_places) > m.left_over
            then m.so_far + p.removed - cardinality(p.new_places) end
    from private.tenant_id() t (id)
    cross join private.plan_reindex(t.id, p_type, p_key, p_hashes, p_headings, p_indexes) p
    cross join private.removal(t.id, p_run_id, p_key) m;
end;
comment on function api.plan_reindex is
    'What a reindex of the source would do. generation: of what is stored, 0 for nothing; '
    'new_places: places (from 0) whose text has to be sent; '
    'changed: new chunks under a heading that loses one; missing: per index, the places without a vector; '
    'refused_removal: how many chunks the run would have removed, where that is more than it may.';
grant execute on function api.plan_reindex to authenticated, service_role;
