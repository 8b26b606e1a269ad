-- Reindex runs: what was asked, what happened to each source, and which run has the last word.
-- Runs of one brand may overlap. A source is written by one at a time: the others wait for it, for as
-- long as one transaction takes. The newest generation wins in whatever order they arrive.

create table app.reindex_runs (
    tenant_id uuid not null references app.tenants on delete cascade,
    id uuid not null default gen_random_uuid(),
    generation bigint generated always as identity,
    status text not null default 'running' check (status in ('running', 'ready', 'partial', 'failed')),
    is_complete boolean not null,
    requested_by uuid references auth.users on delete set null,
    reason text check (length(reason) <= 500),
    is_listed boolean not null default false,
    retired integer not null default 0 check (retired >= 0),
    removal_limit integer check (removal_limit >= 0),
    refused_removal integer check (refused_removal > 0),
    lease_ends_at timestamptz not null default now() + interval '1 minute',
    started_at timestamptz not null default now(),
    finished_at timestamptz,
    primary key (tenant_id, id),
    check ((status = 'running') = (finished_at is null))
);
comment on table app.reindex_runs is 'A reindex of some or all sources of a brand.';
comment on column app.reindex_runs.is_complete is
    'All sources were listed; only then may some be retired.';
comment on column app.reindex_runs.generation is 'Rises with each run: the newest snapshot wins.';
comment on column app.reindex_runs.reason is 'Why it ended before its time.';
comment on column app.reindex_runs.is_listed is
    'It ended with a listing of all sources: what it does not name was not there any more.';
comment on column app.reindex_runs.lease_ends_at is
    'Its process renews this while it lives; a running one that is past it has lost its process.';
comment on column app.reindex_runs.retired is
    'Sources removed because the complete listing lacked them.';
comment on column app.reindex_runs.removal_limit is
    'How many chunks it may remove: as a person allowed, or the share that the brand allows of those '
    'that there were; NULL: as many as there are.';
comment on column app.reindex_runs.refused_removal is
    'How many chunks it would have removed, at least, when that was more than allowed: it stopped.';
create unique index reindex_runs_generation on app.reindex_runs (tenant_id, generation);
create index reindex_runs_lease on app.reindex_runs (lease_ends_at) where status = 'running';
create index reindex_runs_requested_by on app.reindex_runs (requested_by);
alter table app.reindex_runs enable row level security;
alter table app.reindex_runs force row level security;

create table app.reindex_run_sources (
    tenant_id uuid not null,
    run_id uuid not null,
    source_key text not null check (length(source_key) between 1 and 500),
    source_type text,
    status text not null check (status in ('ready', 'unchanged', 'superseded', 'error')),
    reason text check (length(reason) <= 500),
    added integer not null default 0 check (added >= 0),
    changed integer not null default 0 check (changed >= 0),
    kept integer not null default 0 check (kept >= 0),
    removed integer not null default 0 check (removed >= 0),
    primary key (tenant_id, run_id, source_key),
    foreign key (tenant_id, run_id) references app.reindex_runs on delete cascade
);
comment on table app.reindex_run_sources is 'What a run did to a source, counted in chunks.';
comment on column app.reindex_run_sources.source_type is
    'NULL when the document was not indexed.';
comment on column app.reindex_run_sources.status is
    'superseded: a newer run had the last word on it, so that this one left it alone.';
comment on column app.reindex_run_sources.changed is 'New chunks under a heading that lost one.';
comment on column app.reindex_run_sources.reason is 'Why it failed. Never content of the document.';
create index reindex_run_sources_key on app.reindex_run_sources (tenant_id, source_key);
alter table app.reindex_run_sources enable row level security;
alter table app.reindex_run_sources force row level security;

create policy reindex_runs_select_admin on app.reindex_runs for select to authenticated
    using (tenant_id = (select private.tenant_id()) and (select private.is_admin()));
create policy reindex_runs_insert_admin on app.reindex_runs for insert to authenticated
    with check (tenant_id = (select private.tenant_id()) and (select private.is_admin()));
create policy reindex_runs_update_admin on app.reindex_runs for update to authenticated
    using (tenant_id = (select private.tenant_id()) and (select private.is_admin()))
    with check (tenant_id = (select private.tenant_id()) and (select private.is_admin()));
create policy reindex_run_sources_select_admin on app.reindex_run_sources for select to authenticated
    using (tenant_id = (select private.tenant_id()) and (select private.is_admin()));
create policy reindex_run_sources_insert_admin on app.reindex_run_sources for insert to authenticated
    with check (tenant_id = (select private.tenant_id()) and (select private.is_admin()));
create policy reindex_run_sources_update_admin on app.reindex_run_sources for update to authenticated
    using (tenant_id = (select private.tenant_id()) and (select private.is_admin()))
    with check (tenant_id = (select private.tenant_id()) and (select private.is_admin()));
grant select on app.reindex_runs, app.reindex_run_sources to authenticated, service_role;
grant insert (tenant_id, is_complete, requested_by, removal_limit)
    on app.reindex_runs to authenticated, service_role;
grant update (status, reason, is_listed, retired, refused_removal, lease_ends_at, finished_at)
    on app.reindex_runs to authenticated, service_role;
grant insert on app.reindex_run_sources to authenticated, service_role;
grant update (source_type, status, reason, added, changed, kept, removed) on app.reindex_run_sources
    to authenticated, service_role;

create function private.lock_source(p_tenant_id uuid, p_key text) returns void
language plpgsql
set search_path = ''
as $$
begin
    -- always the brand before the source, and of a brand one source in a transaction: no circle
    perform pg_advisory_xact_lock_shared(hashtextextended('reindex/' || p_tenant_id, 0));
    perform pg_advisory_xact_lock(hashtextextended('reindex/' || p_tenant_id || '/' || p_key, 0));
end
$$;
comment on function private.lock_source is
    'Waits until no other run writes the source or retires sources of the brand.';
grant execute on function private.lock_source to authenticated, service_role;

create function private.lock_sources(p_tenant_id uuid) returns void
language plpgsql
set search_path = ''
as $$
begin
    perform pg_advisory_xact_lock(hashtextextended('reindex/' || p_tenant_id, 0));
end
$$;
comment on function private.lock_sources is 'Waits until no other run writes any source of the brand.';
grant execute on function private.lock_sources to authenticated, service_role;

create function private.is_superseded(p_tenant_id uuid, p_run_id uuid, p_key text)
returns boolean
language sql stable
set search_path = ''
begin atomic
    select exists (
        select from app.reindex_runs r
        left join app.reindex_run_sources d
            on d.tenant_id = r.tenant_id and d.run_id = r.id and d.source_key = p_key
        where r.tenant_id = p_tenant_id and r.generation > m.generation
            and (d.status in ('ready', 'unchanged') or d.run_id is null and r.is_listed))
    from app.reindex_runs m
    where m.tenant_id = p_tenant_id and m.id = p_run_id and m.status = 'running';
end;
comment on function private.is_superseded is
    'Whether a newer run has indexed the source, or has found that it is gone. NULL: no such run runs.';
grant execute on function private.is_superseded to authenticated, service_role;

create function private.require_newest(p_is_superseded boolean) returns void
language plpgsql immutable
set search_path = ''
as $$
begin
    if p_is_superseded is null then
        raise exception using errcode = 'PT404', message = 'not_found';
    elsif p_is_superseded then
        raise exception using errcode = 'PT409', message = 'newer_snapshot';
    end if;
end
$$;
comment on function private.require_newest is
    'Ends the call with 404 without a running run, and with 409 when a newer one has settled the source.';
grant execute on function private.require_newest to authenticated, service_role;

create function private.removal(
    p_tenant_id uuid, p_run_id uuid, p_key text, out so_far integer, out left_over integer)
language sql stable
set search_path = ''
begin atomic
    -- what is replaced is not lost: a source that lost ten chunks and won ten has lost none
    select t.so_far::integer, r.removal_limit - t.so_far::integer
    from app.reindex_runs r
    cross join lateral (
        select coalesce(sum(greatest(d.removed - d.added, 0)), 0)
        from app.reindex_run_sources d
        where d.tenant_id = r.tenant_id and d.run_id = r.id and d.source_key <> p_key
    ) t (so_far)
    where r.tenant_id = p_tenant_id and r.id = p_run_id;
end;
comment on function private.removal is
    'How many chunks a run has removed, of other sources than p_key, and how many more it may; NULL: '
    'as many as there are.';
grant execute on function private.removal to authenticated, service_role;
