-- The model ladder and what each model was used today, with each of the provider's keys.
-- A model's day is the provider's: it turns at midnight in the time zone of the row.

create table app.models (
    name text primary key,
    task text not null check (task in ('generate', 'embed')),
    rung integer not null check (rung > 0),
    calls_per_day integer not null check (calls_per_day >= 0),
    time_zone text not null default 'America/Los_Angeles'
        check (timezone(time_zone, timestamp '2000-01-01') is not null),
    unique (task, rung)
);
comment on table app.models is
    'Models in the order in which they are tried, with their free daily quota.';
comment on column app.models.rung is 'Lower is tried first: the lightest model leads.';
alter table app.models enable row level security;
alter table app.models force row level security;
create policy models_select_member on app.models for select to authenticated
    using ((select private.tenant_id()) is not null);
grant select on app.models to authenticated, service_role;

insert into app.models (name, task, rung, calls_per_day) values
    ('gemini-3.5-flash-lite', 'generate', 1, 1000),
    ('gemini-3.1-flash-lite', 'generate', 2, 1000),
    ('gemini-3.6-flash', 'generate', 3, 250),
    ('gemini-embedding-001', 'embed', 1, 1000),
    ('gemini-embedding-2', 'embed', 2, 1000);

create table private.model_days (
    pool text not null,
    model text not null references app.models on delete cascade,
    day date not null,
    calls integer not null default 0 check (calls >= 0),
    closed_until timestamptz,
    primary key (model, pool, day)
);
comment on table private.model_days is
    'Calls of a model on a day of its provider with one key, and until when it is closed.';
comment on column private.model_days.pool is 'As app.tenants.quota_pool.';
comment on column private.model_days.calls is 'Made or reserved: the open and settled rows of the ledger.';
alter table private.model_days enable row level security;
alter table private.model_days force row level security;

create function private.open_models(p_pool text, p_task text, p_now timestamptz) returns setof text
language sql stable strict
set search_path = ''
begin atomic
    select m.name
    from app.models m
    left join private.model_days d
        on d.pool = p_pool and d.model = m.name and d.day = (p_now at time zone m.time_zone)::date
    where m.task = p_task
        and coalesce(d.calls, 0) < m.calls_per_day
        -- a pause may have begun before midnight
        and not exists (
            select from private.model_days c
            where c.pool = p_pool and c.model = m.name
                and c.day >= (p_now at time zone m.time_zone)::date - 1 and c.closed_until > p_now)
    order by m.rung;
end;
comment on function private.open_models is
    'The models that may be called now with the key of a pool, first to last; without a pool none.';

create function private.take_call(p_pool text, p_model text, p_now timestamptz) returns date
language sql
set search_path = ''
begin atomic
    insert into private.model_days as d (pool, model, day, calls)
    select p_pool, m.name, (p_now at time zone m.time_zone)::date, 1
    from app.models m
    where m.name = p_model and m.name in (select private.open_models(p_pool, m.task, p_now))
    on conflict (model, pool, day) do update set calls = d.calls + 1
        where d.calls < (select m.calls_per_day from app.models m where m.name = d.model)
    returning d.day;
end;
comment on function private.take_call is
    'The day of the provider on which one call was taken; NULL when the model has none left.';

create function private.close_model(
    p_pool text, p_model text, p_outcome text, p_wait_seconds integer, p_now timestamptz)
returns void
language sql
set search_path = ''
begin atomic
    insert into private.model_days as d (pool, model, day, closed_until)
    select p_pool, m.name, (p_now at time zone m.time_zone)::date,
        case p_outcome
            when 'quota_day' then
                ((p_now at time zone m.time_zone)::date + 1)::timestamp at time zone m.time_zone
            else p_now + make_interval(secs => least(coalesce(p_wait_seconds, 60), 3600)) end
    from app.models m
    where m.name = p_model and p_outcome in ('quota_day', 'quota_minute')
    on conflict (model, pool, day) do update
        set closed_until = greatest(d.closed_until, excluded.closed_until);
end;
comment on function private.close_model is
    'Closes a model whose quota is spent until the provider opens it again; does nothing after '
    'any other outcome.';
