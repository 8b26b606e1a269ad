-- The end of a reindex run, what it retires, and looking at it.

create type api.reindex as (
    run_id uuid,
    tenant text,
    status text,
    added bigint,
    changed bigint,
    kept bigint,
    removed bigint,
    failed bigint,
    superseded bigint,
    retired integer,
    refused_removal integer,
    reason text,
    started_at timestamptz,
    finished_at timestamptz,
    sources jsonb
);
comment on type api.reindex is
    'A run: added, changed, kept and removed in chunks; failed, superseded and retired in sources.';

create function private.reindex_summary(p_tenant_id uuid, p_run_id uuid)
returns setof api.reindex
language sql stable
set search_path = ''
begin atomic
    select r.id, (select t.slug from app.tenants t where t.id = r.tenant_id), r.status,
        coalesce(sum(s.added), 0), coalesce(sum(s.changed), 0),
        coalesce(sum(s.kept), 0), coalesce(sum(s.removed), 0),
        count(*) filter (where s.status = 'error'), count(*) filter (where s.status = 'superseded'),
        r.retired, r.refused_removal, r.reason, r.started_at, r.finished_at,
        coalesce(jsonb_agg(jsonb_build_object('key', s.source_key, 'status', s.status, 'reason', s.reason)
            order by s.source_key) filter (where s.source_key is not null), '[]')
    from app.reindex_runs r
    left join app.reindex_run_sources s on s.tenant_id = r.tenant_id and s.run_id = r.id
    where r.tenant_id = p_tenant_id and r.id = p_run_id
    group by r.tenant_id, r.id;
end;
comment on function private.reindex_summary is 'A run with its counts in chunks and its sources.';
grant execute on function private.reindex_summary to authenticated, service_role;

create function private.vanished(
    p_tenant_id uuid, p_run_id uuid, p_listing text[], out ids uuid[], out lost integer)
language sql stable
set search_path = ''
begin atomic
    select coalesce(array_agg(s.id), '{}'),
        coalesce(sum(greatest(cardinality(s.chunk_ids) - coalesce(d.added, 0), 0)), 0)
    from app.sources s
    -- of another type in this run: the chunks that it wins are not lost
    left join app.reindex_run_sources d
        on d.tenant_id = p_tenant_id and d.run_id = p_run_id
        and d.source_key = s.source_key and d.source_type <> s.source_type
    where s.tenant_id = p_tenant_id
        -- an empty listing is a broken crawl, not an empty brand
        and cardinality(p_listing) > 0
        and (s.source_key <> all (p_listing) or d.run_id is not null)
        -- what a later run has met is not this run's to judge
        and not exists (
            select from app.reindex_run_sources l
            join app.reindex_runs r on r.tenant_id = l.tenant_id and r.id = l.run_id
            join app.reindex_runs m on m.tenant_id = r.tenant_id and m.id = p_run_id
            where l.tenant_id = p_tenant_id and l.source_key = s.source_key
                and r.generation > m.generation);
end;
comment on function private.vanished is
    'The sources that a listing of all lacks, and how many chunks are lost with them.';
grant execute on function private.vanished to authenticated, service_role;

create function private.finish_reindex(
    p_tenant_id uuid, p_run_id uuid, p_is_listed boolean, p_is_interrupted boolean,
    p_refused_removal integer, p_retiring uuid[], p_lost integer, p_removed integer,
    p_removal_left integer, p_now timestamptz)
returns void
language plpgsql
set search_path = ''
as $$
declare
    v_is_listed boolean;
    v_failed bigint;
    v_done bigint;
    v_retired integer := 0;
    v_refused integer := p_refused_removal;
begin
    select r.is_complete and p_is_listed and not p_is_interrupted into v_is_listed
    from app.reindex_runs r
    where r.tenant_id = p_tenant_id and r.id = p_run_id and r.status = 'running'
    for no key update;
    if not found then
        raise exception using errcode = 'PT404', message = 'not_found';
    end if;
    select count(*) filter (where d.status = 'error'), count(*) filter (where d.status <> 'error')
    into v_failed, v_done
    from app.reindex_run_sources d where d.tenant_id = p_tenant_id and d.run_id = p_run_id;

    if v_is_listed and p_lost > 0 and p_lost > p_removal_left then
        v_refused := p_removed + p_lost;
        v_is_listed := false;
    elsif v_is_listed then
        delete from app.sources s where s.tenant_id = p_tenant_id and s.id = any (p_retiring);
        get diagnostics v_retired = row_count;
    end if;
    update app.reindex_runs r
    set status = case when v_failed = 0 and not p_is_interrupted and v_refused is null then 'ready'
            when v_done = 0 then 'failed' else 'partial' end,
        reason = case when v_refused is not null then 'removal_refused' end,
        refused_removal = v_refused, is_listed = v_is_listed, retired = v_retired,
        finished_at = p_now
    where r.tenant_id = p_tenant_id and r.id = p_run_id;
end
$$;
comment on function private.finish_reindex is 'See api.finish_reindex.';
grant execute on function private.finish_reindex to authenticated, service_role;

create function api.finish_reindex(
    p_run_id uuid, p_listing text[], p_is_interrupted boolean default false,
    p_refused_removal integer default null)
returns setof api.reindex
language sql
set search_path = ''
begin atomic
    select private.lock_sources(private.required_admin_tenant_id());
    select private.finish_reindex(t.id, p_run_id, coalesce(cardinality(p_listing), 0) > 0,
        p_is_interrupted, p_refused_removal, v.ids, v.lost, m.so_far, m.left_over, now())
    from private.tenant_id() t (id)
    cross join private.vanished(t.id, p_run_id, p_listing) v
    left join private.removal(t.id, p_run_id, '') m on true;
    select s.* from private.reindex_summary(private.tenant_id(), p_run_id) s;
end;
comment on function api.finish_reindex is
    'Closes a run. A complete run that was not interrupted retires the sources that p_listing lacks; '
    'an empty listing retires none, and so does one without so many that the run would remove more '
    'chunks than it may: refused_removal then says how many. p_refused_removal: what a plan said so.';
grant execute on function api.finish_reindex to authenticated, service_role;

create function private.require_run(p_tenant_id uuid, p_run_id uuid) returns void
language plpgsql stable
set search_path = ''
as $$
begin
    if not exists (select from app.reindex_runs r where r.tenant_id = p_tenant_id and r.id = p_run_id) then
        raise exception using errcode = 'PT404', message = 'not_found';
    end if;
end
$$;
comment on function private.require_run is 'Ends the call with 404 when the brand has no such run.';
grant execute on function private.require_run to authenticated, service_role;

create function api.get_reindex(p_run_id uuid)
returns setof api.reindex
language sql
set search_path = ''
begin atomic
    select private.abandon_reindexes(private.required_admin_tenant_id(), p_run_id, now());
    select private.require_run(private.tenant_id(), p_run_id);
    select s.* from private.reindex_summary(private.tenant_id(), p_run_id) s;
end;
comment on function api.get_reindex is 'A run of the brand with its sources.';
grant execute on function api.get_reindex to authenticated, service_role;
