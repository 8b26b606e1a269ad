-- The ledger of model calls: each is reserved before it is made. The first ones with the begin of a turn,
-- a further one when a model failed.

create table private.call_reservations (
    tenant_id uuid not null,
    turn_id uuid not null,
    run integer not null,
    number integer not null,
    pool text not null,
    model text not null references app.models on delete cascade,
    day date not null,
    state text not null default 'open' check (state in ('open', 'settled', 'refunded')),
    closed_at timestamptz,
    primary key (tenant_id, turn_id, run, number),
    foreign key (tenant_id, turn_id, run) references private.turn_reservations on delete cascade,
    check ((state = 'open') = (closed_at is null))
);
comment on table private.call_reservations is 'One call of a model, on a day of its provider.';
create index call_reservations_model on private.call_reservations (model);
alter table private.call_reservations enable row level security;
alter table private.call_reservations force row level security;
create trigger call_reservations_keep before update on private.call_reservations
    for each row execute function private.keep_ledger();
comment on trigger call_reservations_keep on private.call_reservations is 'See private.keep_ledger.';

create function private.take_reserved_call(
    p_tenant_id uuid, p_turn_id uuid, p_run integer, p_model text, p_now timestamptz)
returns boolean
language sql
set search_path = ''
begin atomic
    insert into private.call_reservations (tenant_id, turn_id, run, number, pool, model, day)
    select p_tenant_id, p_turn_id, p_run,
        (select count(*) from private.call_reservations c
            where c.tenant_id = p_tenant_id and c.turn_id = p_turn_id and c.run = p_run),
        t.quota_pool, p_model, d.day
    from app.tenants t, private.take_call(t.quota_pool, p_model, p_now) d (day)
    where t.id = p_tenant_id and d.day is not null
    returning true;
end;
comment on function private.take_reserved_call is
    'Reserves one call of a model for a run. True when it had one left; else NULL.';

create function private.reserve_first_calls(
    p_tenant_id uuid, p_turn_id uuid, p_run integer, p_pool text, p_now timestamptz,
    out indexes text[], out models text[])
language plpgsql
set search_path = ''
as $$
declare
    v_model text;
begin
    -- what was open when it was listed may be taken a moment later: then the next one leads
    indexes := private.usable_indexes(p_tenant_id, p_pool, p_now);
    while cardinality(indexes) > 0 loop
        select m.name into v_model
        from app.embedding_indexes i join app.models m on m.name = i.model where i.name = indexes[1];
        exit when not found
            or private.take_reserved_call(p_tenant_id, p_turn_id, p_run, v_model, p_now);
        indexes := indexes[2:];
    end loop;
    models := array(select private.open_models(p_pool, 'generate', p_now));
    while cardinality(models) > 0 loop
        exit when private.take_reserved_call(p_tenant_id, p_turn_id, p_run, models[1], p_now);
        models := models[2:];
    end loop;
end
$$;
comment on function private.reserve_first_calls is
    'What a run may search and who may write, best first; one call of each first one is reserved.';

create function private.close_calls(
    p_tenant_id uuid, p_turn_id uuid, p_run integer, p_attempts jsonb, p_now timestamptz)
returns void
language plpgsql
set search_path = ''
as $$
begin
    -- see the order of locks in 40_quota: several models may be touched here
    perform from private.installation for update;
    with made as (
        select a.model, count(*) as calls
        from jsonb_to_recordset(p_attempts) a (model text) group by a.model
    ), open as (
        select c.number, c.model, row_number() over (partition by c.model order by c.number) as place
        from private.call_reservations c
        where c.tenant_id = p_tenant_id and c.turn_id = p_turn_id and c.run = p_run and c.state = 'open'
    ), closed as (
        update private.call_reservations c
        set state = case when o.place <= m.calls then 'settled' else 'refunded' end, closed_at = p_now
        from open o left join made m on m.model = o.model
        where c.tenant_id = p_tenant_id and c.turn_id = p_turn_id and c.run = p_run
            and c.number = o.number
        returning c.pool, c.model, c.day, c.state
    )
    update private.model_days d set calls = d.calls - r.calls
    from (
        select c.pool, c.model, c.day, count(*) as calls from closed c
        where c.state = 'refunded' group by c.pool, c.model, c.day
    ) r
    where d.pool = r.pool and d.model = r.model and d.day = r.day;

    perform private.close_model(t.quota_pool, a.model, a.outcome, a.wait_seconds, p_now)
    from app.tenants t, jsonb_to_recordset(p_attempts) a (model text, outcome text, wait_seconds integer)
    where t.id = p_tenant_id;
end
$$;
comment on function private.close_calls is
    'Settles the calls that a run made, refunds those that it did not, closes models without quota.';

create function private.return_expired(p_now timestamptz) returns integer
language plpgsql
set search_path = ''
as $$
declare
    v_runs private.turn_reservations[];
    v_run private.turn_reservations;
begin
    -- all before the first is returned: a row that was changed in between would pass for locked
    v_runs := array(
        select r
        from private.turn_reservations r
        join app.turns t on t.tenant_id = r.tenant_id and t.id = r.turn_id
        join private.tenant_days d on d.tenant_id = r.tenant_id and d.day = r.day
        where r.state = 'open' and r.lease_ends_at < p_now
        -- waits for nobody, so it may come after all other locks
        for no key update of r, t, d skip locked);
    foreach v_run in array v_runs loop
        perform private.refund_turn(v_run.tenant_id, v_run.turn_id, v_run.run, p_now);
        perform private.close_calls(v_run.tenant_id, v_run.turn_id, v_run.run, '[]', p_now);
        update app.turns t set status = 'failed', finished_at = p_now
        where t.tenant_id = v_run.tenant_id and t.id = v_run.turn_id;
    end loop;
    return cardinality(v_runs);
end
$$;
comment on function private.return_expired is
    'Refunds the turns of dead processes, of all brands: their number. Each new turn calls it.';

create function private.reserve_call(
    p_tenant_id uuid, p_user_id uuid, p_turn_id uuid, p_run integer, p_model text, p_now timestamptz)
returns boolean
language plpgsql security definer
set search_path = ''
as $$
begin
    perform private.require_functions();
    -- locked, or the turn could end in between and leave the call open
    perform from app.turns t
    where t.tenant_id = p_tenant_id and t.user_id = p_user_id and t.id = p_turn_id
        and t.run = p_run and t.status = 'running'
    for no key update;
    if not found then
        perform private.refuse(404, 'not_found');
    end if;
    return coalesce(private.take_reserved_call(p_tenant_id, p_turn_id, p_run, p_model, p_now), false);
end
$$;
comment on function private.reserve_call is 'See api.reserve_call.';
grant execute on function private.reserve_call to authenticated;

create function api.reserve_call(p_turn_id uuid, p_run integer, p_model text) returns boolean
language sql
set search_path = ''
begin atomic
    select private.reserve_call(private.required_tenant_id(), private.user_id(), p_turn_id, p_run,
        p_model, now());
end;
comment on function api.reserve_call is
    'Whether the model may be called once more for a running turn of the signed-in user.';
grant execute on function api.reserve_call to authenticated;
