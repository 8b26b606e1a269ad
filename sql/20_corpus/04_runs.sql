-- Reindex runs: what was asked, what happened to each source.

create table app.reindex_runs (
    tenant_id uuid not null references app.tenants on delete cascade,
    id uuid not null default gen_random_uuid(),
    generation bigint generated always as identity,
    status text not null default 'running' check (status in ('running', 'ready', 'partial', 'failed')),
    is_complete boolean not null,
    requested_by uuid references auth.users on delete set null,
    retired integer not null default 0 check (retired >= 0),
    started_at timestamptz not null default now(),
    finished_at timestamptz,
    primary key (tenant_id, id),
    check ((status = 'running') = (finished_at is null))
);
comment on table app.reindex_runs is 'A reindex of some or all sources of a brand.';
comment on column app.reindex_runs.is_complete is
    'All sources were listed; only then may some be retired.';
comment on column app.reindex_runs.generation is 'Rises with each run: the newest snapshot wins.';
comment on column app.reindex_runs.retired is
    'Sources removed because the complete listing lacked them.';
create index reindex_runs_requested_by on app.reindex_runs (requested_by);
alter table app.reindex_runs enable row level security;
alter table app.reindex_runs force row level security;

create table app.reindex_run_sources (
    tenant_id uuid not null,
    run_id uuid not null,
    source_key text not null check (length(source_key) between 1 and 500),
    source_type text,
    status text not null check (status in ('ready', 'unchanged', 'error')),
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
    'NULL when the document could not be read.';
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
grant select on app.reindex_runs, app.reindex_run_sources to authenticated, service_role;
grant insert (tenant_id, is_complete, requested_by) on app.reindex_runs to authenticated, service_role;
grant update (status, retired, finished_at) on app.reindex_runs to authenticated, service_role;
grant insert on app.reindex_run_sources to authenticated, service_role;
