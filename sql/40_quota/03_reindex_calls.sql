-- What a reindex takes from the quota of the embedding models: one call for each request that it makes,
-- before it makes it. Nothing is given back, since it is made at once.

create table private.reindex_calls (
    tenant_id uuid not null,
    run_id uuid not null,
    model text not null references app.models on delete cascade,
    pool text not null,
    day date not null,
    calls integer not null check (calls > 0),
    primary key (tenant_id, run_id, model, pool, day),
    foreign key (tenant_id, run_id) references app.reindex_runs on delete cascade
);
comment on table private.reindex_calls is
    'Calls of a model that a reindex run has made on a day of the provider.';
create index reindex_calls_model on private.reindex_calls (model);
alter table private.reindex_calls enable row level security;
alter table private.reindex_calls force row level security;

create function private.take_reindex_call(
    p_tenant_id uuid, p_run_id uuid, p_model text, p_now timestamptz)
returns boolean
language sql security definer
set search_path = ''
begin atomic
    with taken as (
        insert into private.reindex_calls as c (tenant_id, run_id, model, pool, day, calls)
        select r.tenant_id, r.id, p_model, t.quota_pool, d.day, 1
        from app.reindex_runs r
        join app.tenants t on t.id = r.tenant_id,
            private.take_call(t.quota_pool, p_model, p_now) d (day)
        where r.tenant_id = p_tenant_id and r.id = p_run_id and r.status = 'running'
            and d.day is not null
        on conflict (tenant_id, run_id, model, pool, day) do update set calls = c.calls + 1
        returning true
    )
    select count(*) > 0 from taken;
end;
comment on function private.take_reindex_call is 'See api.take_reindex_call.';
grant execute on function private.take_reindex_call to authenticated, service_role;

create function api.take_reindex_call(p_run_id uuid, p_model text) returns boolean
language sql
set search_path = ''
begin atomic
    select private.require_functions(); -- over PostgREST an admin would take what is never called
    select private.take_reindex_call(private.required_admin_tenant_id(), p_run_id, p_model, now());
end;
comment on function api.take_reindex_call is
    'Whether a running reindex may call the model once more. Asked before each call.';
grant execute on function api.take_reindex_call to authenticated, service_role;

create function private.embedding_quota(p_tenant_id uuid, p_now timestamptz)
returns table (model text, calls_per_day integer, calls_left integer)
language sql stable security definer
set search_path = ''
begin atomic
    select m.name, m.calls_per_day, case when m.name in (
            select private.open_models(t.quota_pool, 'embed', p_now))
        then m.calls_per_day - coalesce(d.calls, 0) else 0 end
    from app.tenants t
    cross join app.models m
    left join private.model_days d
        on d.pool = t.quota_pool and d.model = m.name and d.day = (p_now at time zone m.time_zone)::date
    where t.id = p_tenant_id and m.task = 'embed'
    order by m.rung;
end;
comment on function private.embedding_quota is 'See api.embedding_quota.';
grant execute on function private.embedding_quota to authenticated, service_role;

create function api.embedding_quota()
returns table (model text, calls_per_day integer, calls_left integer)
language sql stable
set search_path = ''
begin atomic
    select q.* from private.embedding_quota(private.required_admin_tenant_id(), now()) q;
end;
comment on function api.embedding_quota is
    'The calls of each embedding model that are left of its provider''s day, with the brand''s key.';
grant execute on function api.embedding_quota to authenticated, service_role;
