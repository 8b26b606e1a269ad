-- Reconciliation, second half: one source, one transaction, vectors included.
-- Kept chunks are not touched at all, so their verified_at keeps its meaning. Written is only what was
-- planned on the stored state: a source that changed since the plan has to be planned again.

create function private.claim_source(
    p_tenant_id uuid, p_type text, p_key text, p_generation bigint)
returns void
language plpgsql
set search_path = ''
as $$
declare
    v_generation bigint;
begin
    select s.generation into v_generation from app.sources s
    where s.tenant_id = p_tenant_id and s.source_type = p_type and s.source_key = p_key
    for no key update;
    if coalesce(v_generation, 0) is distinct from p_generation then
        raise exception using errcode = 'PT409', message = 'reindex_running';
    end if;
end
$$;
comment on function private.claim_source is
    'Takes the row of the source; ends the call with 409 when it is no longer what the plan saw.';
grant execute on function private.claim_source to authenticated, service_role;

create function private.write_source(
    p_tenant_id uuid, p_generation bigint, p_type text, p_key text, p_source jsonb, p_now timestamptz)
returns boolean
language plpgsql
set search_path = ''
as $$
declare
    v_new record;
begin
    select p_source ->> 'title' as title, p_source ->> 'url' as url, p_source ->> 'language' as language,
        p_source ->> 'visibility' as visibility, (p_source ->> 'verified_at')::timestamptz as verified_at,
        (p_source ->> 'valid_from')::timestamptz as valid_from,
        (p_source ->> 'valid_to')::timestamptz as valid_to,
        coalesce(p_source -> 'metadata', '{}') as metadata
    into v_new;
    insert into app.sources as s (tenant_id, source_type, source_key, title, url, language, visibility,
        verified_at, valid_from, valid_to, metadata, generation)
    values (p_tenant_id, p_type, p_key, v_new.title, v_new.url, v_new.language, v_new.visibility,
        v_new.verified_at, v_new.valid_from, v_new.valid_to, v_new.metadata, p_generation)
    on conflict (tenant_id, source_type, source_key) do update
        set title = v_new.title, url = v_new.url, language = v_new.language,
            visibility = v_new.visibility, verified_at = v_new.verified_at,
            valid_from = v_new.valid_from, valid_to = v_new.valid_to, metadata = v_new.metadata,
            generation = p_generation, updated_at = p_now
        where (s.title, s.url, s.language, s.visibility, s.verified_at, s.valid_from, s.valid_to, s.metadata)
            is distinct from (v_new.title, v_new.url, v_new.language, v_new.visibility,
                v_new.verified_at, v_new.valid_from, v_new.valid_to, v_new.metadata);
    return found;
end
$$;
comment on function private.write_source is
    'Inserts the source or updates what differs; whether it wrote.';
grant execute on function private.write_source to authenticated, service_role;

create function private.write_chunks(
    p_tenant_id uuid, p_run_id uuid, p_generation bigint, p_type text, p_key text, p_hashes bytea[],
    p_headings text[], p_contents text[], p_chunk_ids uuid[], p_occurrences integer[],
    p_wrote boolean, p_removal_left integer, p_now timestamptz)
returns table (status text, added integer, changed integer, kept integer, removed integer)
language plpgsql
set search_path = ''
as $$
declare
    v_source app.sources;
    v_ids uuid[];
    v_gone text[];
begin
    select s.* into strict v_source from app.sources s
    where s.tenant_id = p_tenant_id and s.source_type = p_type and s.source_key = p_key;
    -- a date to come would keep a price fresh until then: nobody has verified it later than now
    if v_source.verified_at > p_now then
        v_source.verified_at := p_now;
    end if;
    select coalesce(array_agg(coalesce(c.id, gen_random_uuid()) order by c.place), '{}') into v_ids
    from unnest(p_chunk_ids) with ordinality c (id, place);

    with deleted as (
        delete from app.chunks c
        where c.tenant_id = p_tenant_id and c.source_id = v_source.id and c.id <> all (v_ids)
        returning c.heading_path
    )
    select coalesce(array_agg(d.heading_path), '{}') into v_gone from deleted d;

    -- a chunk that was there when the plan was made, and is not any more, came without its text
    if exists (select from unnest(p_chunk_ids, p_contents) c (id, content)
        where c.id is null and c.content is null) then
        raise exception using errcode = 'PT409', message = 'reindex_running';
    end if;
    insert into app.chunks (tenant_id, id, source_id, heading_path, content, occurrence, language,
        verified_at)
    select p_tenant_id, v_ids[c.place], v_source.id, p_headings[c.place], p_contents[c.place],
        p_occurrences[c.place], v_source.language, v_source.verified_at
    from unnest(p_chunk_ids) with ordinality c (id, place)
    where c.id is null;
    get diagnostics added = row_count;
    if exists (
        select from unnest(v_ids, p_hashes, p_chunk_ids) n (id, hash, old_id)
        join app.chunks c on c.tenant_id = p_tenant_id and c.id = n.id
        where n.old_id is null and c.content_hash <> n.hash
    ) then
        raise exception using errcode = 'PT400', message = 'bad_request',
            detail = 'a hash differs from its text';
    end if;

    update app.chunks c set language = v_source.language
    where p_wrote and c.tenant_id = p_tenant_id and c.source_id = v_source.id
        and c.language <> v_source.language;
    -- a document that was verified again makes its older facts fresh; an older date changes nothing
    if p_wrote then
        update app.chunks c set verified_at = v_source.verified_at, verified_by = null
        where c.tenant_id = p_tenant_id and c.source_id = v_source.id
            and (c.verified_at < v_source.verified_at
                or c.verified_at is null and v_source.verified_at is not null);
    end if;
    if v_source.chunk_ids <> v_ids or v_source.status <> 'ready' then
        update app.sources s
        set chunk_ids = v_ids, generation = p_generation, status = 'ready', status_reason = null,
            updated_at = p_now
        where s.tenant_id = p_tenant_id and s.id = v_source.id;
        p_wrote := true;
    end if;

    status := case when p_wrote then 'ready' else 'unchanged' end;
    kept := cardinality(v_ids) - added;
    removed := cardinality(v_gone);
    if removed > added and removed - added > p_removal_left then
        raise exception using errcode = 'PT409', message = 'removal_refused';
    end if;
    select count(*) into changed
    from unnest(p_chunk_ids) with ordinality c (id, place)
    where c.id is null and p_headings[c.place] = any (v_gone);
    insert into app.reindex_run_sources
        (tenant_id, run_id, source_key, source_type, status, added, changed, kept, removed)
    values (p_tenant_id, p_run_id, p_key, p_type, write_chunks.status, write_chunks.added,
        write_chunks.changed, write_chunks.kept, write_chunks.removed)
    on conflict (tenant_id, run_id, source_key) do update
        set source_type = excluded.source_type, status = excluded.status, reason = null,
            added = excluded.added, changed = excluded.changed, kept = excluded.kept,
            removed = excluded.removed;
    return next;
end
$$;
comment on function private.write_chunks is
    'Inserts new chunks, deletes gone ones, leaves the others alone.';
grant execute on function private.write_chunks to authenticated, service_role;

create function api.apply_reindex(
    p_run_id uuid, p_generation bigint, p_type text, p_key text, p_source jsonb, p_hashes bytea[],
    p_headings text[], p_contents text[])
returns table (status text, added integer, changed integer, kept integer, removed integer)
language sql
set search_path = ''
begin atomic
    -- each statement sees what was committed before it: what is checked is what the lock guards
    select private.lock_source(private.required_admin_tenant_id(), p_key);
    select private.require_newest(private.is_superseded(private.tenant_id(), p_run_id, p_key));
    select private.claim_source(private.tenant_id(), p_type, p_key, p_generation);
    select w.status, w.added, w.changed, w.kept, w.removed
    from (
        select r.generation,
            private.write_source(r.tenant_id, r.generation, p_type, p_key, p_source, now()) as wrote
        from app.reindex_runs r where r.tenant_id = private.tenant_id() and r.id = p_run_id
    ) s, (
        select array_agg(d.chunk_id order by d.place) as chunk_ids,
            array_agg(d.occurrence order by d.place) as occurrences
        from private.diff_source(private.tenant_id(), p_type, p_key, p_hashes) d
    ) d,
    private.removal(private.tenant_id(), p_run_id, p_key) m,
    private.write_chunks(private.tenant_id(), p_run_id, s.generation, p_type, p_key, p_hashes,
        p_headings, p_contents, d.chunk_ids, d.occurrences, s.wrote, m.left_over, now()) w;
end;
comment on function api.apply_reindex is
    'Makes the stored source equal to the new version. p_generation is what the plan said, p_contents '
    'NULL at the places that are kept. 409 newer_snapshot: a newer run has settled the source; '
    '409 reindex_running: another run wrote it since the plan, so plan again; '
    '409 removal_refused: the run would remove more than it may.';
grant execute on function api.apply_reindex to authenticated, service_role;
