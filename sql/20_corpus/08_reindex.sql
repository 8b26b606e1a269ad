-- The life of a reindex run: its start, its signs of life, a source that failed. Its end: 09_finish.

create function private.abandon_reindexes(p_tenant_id uuid, p_run_id uuid, p_now timestamptz)
returns void
language sql
set search_path = ''
begin atomic
    update app.reindex_runs r
    set status = 'failed', reason = 'abandoned', finished_at = p_now
    where (r.tenant_id, r.id) in (
        select o.tenant_id, o.id from app.reindex_runs o
        where (p_tenant_id is null or o.tenant_id = p_tenant_id)
            and (p_run_id is null or o.id = p_run_id)
            and o.status = 'running' and o.lease_ends_at < p_now
        for no key update skip locked);
end;
comment on function private.abandon_reindexes is
    'Ends the runs whose process has died: of a brand, one of them, or with NULL those of all brands. '
    'Each new turn does the last, since a brand that was suspended starts no run that would.';
grant execute on function private.abandon_reindexes to authenticated, service_role;

create function private.removal_limit(p_tenant_id uuid) returns integer
language sql stable
set search_path = ''
begin atomic
    select case when l.removal_percent < 100 then l.removal_percent * (
        select count(*) from app.chunks c where c.tenant_id = p_tenant_id) / 100 end
    from app.tenant_limits l where l.tenant_id = p_tenant_id;
end;
comment on function private.removal_limit is
    'How many chunks a run may remove without being told to; NULL: as many as there are.';
grant execute on function private.removal_limit to authenticated, service_role;

create function private.start_reindex(
    p_tenant_id uuid, p_user_id uuid, p_is_complete boolean, p_removal_limit integer)
returns table (run_id uuid, tenant text, pool text)
language plpgsql
set search_path = ''
as $$
begin
    insert into app.reindex_runs (tenant_id, requested_by, is_complete, removal_limit)
    values (p_tenant_id, p_user_id, p_is_complete, p_removal_limit)
    returning id into start_reindex.run_id;
    return query
    select start_reindex.run_id, t.slug, t.quota_pool from app.tenants t where t.id = p_tenant_id;
exception when foreign_key_violation then
    -- the brand or the person went between the question who they are and this row
    raise exception using errcode = 'PT403', message = 'not_a_member';
end
$$;
comment on function private.start_reindex is 'See api.start_reindex.';
grant execute on function private.start_reindex to authenticated, service_role;

create function api.start_reindex(p_is_complete boolean, p_allowed_removal integer default null)
returns table (run_id uuid, tenant text, pool text)
language sql
set search_path = ''
begin atomic
    select private.abandon_reindexes(private.required_admin_tenant_id(), null, now());
    select s.run_id, s.tenant, s.pool
    from private.tenant_id() t (id)
    cross join private.start_reindex(t.id, private.user_id(), p_is_complete,
        coalesce(p_allowed_removal, private.removal_limit(t.id))) s;
end;
comment on function api.start_reindex is
    'Opens a run: its id, the slug of the brand and its quota pool. p_is_complete: all sources will be '
    'listed, so vanished ones are retired. p_allowed_removal: how many chunks it may remove; NULL: the '
    'share of them that the brand''s limits allow.';
grant execute on function api.start_reindex to authenticated, service_role;

create function private.renew_reindex(p_tenant_id uuid, p_run_id uuid) returns void
language plpgsql
set search_path = ''
as $$
begin
    update app.reindex_runs r set lease_ends_at = default
    where r.tenant_id = p_tenant_id and r.id = p_run_id and r.status = 'running';
    if not found then
        raise exception using errcode = 'PT404', message = 'not_found';
    end if;
end
$$;
comment on function private.renew_reindex is 'See api.renew_reindex.';
grant execute on function private.renew_reindex to authenticated, service_role;

create function api.renew_reindex(p_run_id uuid) returns void
language sql
set search_path = ''
begin atomic
    select private.renew_reindex(private.required_admin_tenant_id(), p_run_id);
end;
comment on function api.renew_reindex is
    'Says that the process of a run is alive. A run that says nothing for a minute has failed.';
grant execute on function api.renew_reindex to authenticated, service_role;

create function private.fail_source(
    p_tenant_id uuid, p_run_id uuid, p_key text, p_reason text, p_is_superseded boolean)
returns void
language plpgsql
set search_path = ''
as $$
declare
    v_reason text := left(p_reason, 500);
begin
    if p_is_superseded is null then
        raise exception using errcode = 'PT404', message = 'not_found';
    end if;
    -- the last reason counts, but what this run has indexed stays indexed: the answer to its
    -- transaction may have been lost on the way
    insert into app.reindex_run_sources as d (tenant_id, run_id, source_key, status, reason)
    values (p_tenant_id, p_run_id, p_key, case when p_is_superseded then 'superseded' else 'error' end,
        v_reason)
    on conflict (tenant_id, run_id, source_key) do update
        set status = excluded.status, reason = excluded.reason
        where d.status in ('superseded', 'error');
    -- what was indexed before stays; the source only says that its newest version failed
    if found and not p_is_superseded then
        update app.sources s set status = 'error', status_reason = v_reason
        where s.tenant_id = p_tenant_id and s.source_key = p_key
            and (s.status, s.status_reason) is distinct from ('error', v_reason);
    end if;
end
$$;
comment on function private.fail_source is 'See api.fail_source.';
grant execute on function private.fail_source to authenticated, service_role;

create function api.fail_source(p_run_id uuid, p_key text, p_reason text) returns void
language sql
set search_path = ''
begin atomic
    select private.lock_source(private.required_admin_tenant_id(), p_key);
    select private.fail_source(private.tenant_id(), p_run_id, p_key, p_reason,
        private.is_superseded(private.tenant_id(), p_run_id, p_key));
end;
comment on function api.fail_source is
    'Notes that a run did not index a source and why. Its old chunks stay. Where a newer run has '
    'settled the source it is superseded, otherwise it failed.';
grant execute on function api.fail_source to authenticated, service_role;
