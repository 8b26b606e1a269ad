-- The ledger: what was taken from the counters, for which turn, and what became of it.
-- Decides what a turn costs. A reservation is open while the turn runs; then it is settled, or
-- refunded:
--   turn  settled when the turn was answered, held, unanswered, or its reader left (aborted);
--         refunded when it failed on our side or all models failed, also if the documents' own
--         sentences took over; and when a process died: after its lease.
--   call  settled when the provider was called, however that ended; else refunded.
-- A turn that its reader left may be asked again under its id: its first run is refunded then, so
-- that one answer costs one turn. Counters are the sums of the rows that are not refunded.

create table private.turn_reservations (
    tenant_id uuid not null,
    turn_id uuid not null,
    run integer not null,
    user_id uuid not null,
    minute timestamptz not null,
    day date not null,
    global_day date not null,
    state text not null default 'open' check (state in ('open', 'settled', 'refunded')),
    lease_ends_at timestamptz not null,
    closed_at timestamptz,
    primary key (tenant_id, turn_id, run),
    foreign key (tenant_id, turn_id) references app.turns on delete cascade,
    check ((state = 'open') = (closed_at is null))
);
comment on table private.turn_reservations is
    'One turn of a user''s minute, a brand''s day and the installation''s day.';
comment on column private.turn_reservations.lease_ends_at is
    'Then whoever held it is dead: longer than any turn, and than the minute of the user.';
create unique index turn_reservations_open on private.turn_reservations (tenant_id, turn_id)
    where state = 'open';
create index turn_reservations_lease on private.turn_reservations (lease_ends_at)
    where state = 'open';
alter table private.turn_reservations enable row level security;
alter table private.turn_reservations force row level security;

create function private.keep_ledger() returns trigger
language plpgsql
set search_path = ''
as $$
begin
    if old.state = 'refunded' or new.state = 'open' or new.state = old.state
        or to_jsonb(new) - '{state,closed_at}'::text[] <> to_jsonb(old) - '{state,closed_at}'::text[] then
        raise exception using errcode = 'PT500', message = 'internal',
            detail = 'an entry of the ledger does not change';
    end if;
    return new;
end
$$;
comment on function private.keep_ledger is
    'Entries only move on: open to settled or refunded, settled to refunded.';
create trigger turn_reservations_keep before update on private.turn_reservations
    for each row execute function private.keep_ledger();
comment on trigger turn_reservations_keep on private.turn_reservations is 'See private.keep_ledger.';

create function private.reserve_turn(
    p_tenant_id uuid, p_user_id uuid, p_turn_id uuid, p_run integer, p_now timestamptz,
    out refusal text, out retry_after_seconds integer)
language plpgsql
set search_path = ''
as $$
declare
    v_limits record;
    v_minute timestamptz;
    v_global_day date;
    v_earlier integer;
    v_returning integer;
begin
    select (p_now at time zone t.time_zone)::date as today, t.time_zone, l.*
    into strict v_limits
    from app.tenants t join app.tenant_limits l on l.tenant_id = t.id where t.id = p_tenant_id;
    -- what a run that its reader left has cost today is returned below, but not for ever: a reader
    -- who reads and leaves again and again pays
    select r.run into v_earlier from private.turn_reservations r
    where r.tenant_id = p_tenant_id and r.turn_id = p_turn_id and p_run <= 3
        and r.state = 'settled' and r.day = v_limits.today
        and r.global_day = (p_now at time zone 'UTC')::date;
    v_returning := case when v_earlier is null then 0 else 1 end;

    v_minute := private.take_user_turn(p_user_id, v_limits.turns_per_minute, p_now);
    if v_minute is null then
        refusal := 'rate_limited';
        retry_after_seconds := ceil(60 - extract(second from p_now));
        return;
    end if;
    if private.take_tenant_turn(
            p_tenant_id, v_limits.turns_per_day + v_returning, v_limits.today) is null then
        refusal := 'tenant_cap_reached';
        retry_after_seconds := ceil(extract(epoch from
            (v_limits.today + 1)::timestamp at time zone v_limits.time_zone - p_now));
        perform private.return_turn(p_user_id, v_minute, null, null, null);
        return;
    end if;
    v_global_day := private.take_global_turn(p_now, v_returning);
    if v_global_day is null then
        refusal := 'global_cap_reached';
        retry_after_seconds := ceil(extract(epoch from
            ((p_now at time zone 'UTC')::date + 1)::timestamp at time zone 'UTC' - p_now));
        perform private.return_turn(p_user_id, v_minute, p_tenant_id, v_limits.today, null);
        return;
    end if;
    insert into private.turn_reservations
        (tenant_id, turn_id, run, user_id, minute, day, global_day, lease_ends_at)
    values (p_tenant_id, p_turn_id, p_run, p_user_id, v_minute, v_limits.today, v_global_day,
        p_now + interval '5 minutes');
    perform private.refund_turn(p_tenant_id, p_turn_id, v_earlier, p_now);
end
$$;
comment on function private.reserve_turn is
    'Takes a turn from user, brand and installation, all or none: NULL, or the limit in the way.';

create function private.refund_turn(p_tenant_id uuid, p_turn_id uuid, p_run integer, p_now timestamptz)
returns void
language plpgsql
set search_path = ''
as $$
declare
    v_turn private.turn_reservations;
begin
    update private.turn_reservations r set state = 'refunded', closed_at = p_now
    where r.tenant_id = p_tenant_id and r.turn_id = p_turn_id and r.run = p_run
        and r.state <> 'refunded'
    returning r.* into v_turn;
    if found then
        perform private.return_turn(v_turn.user_id,
            -- a minute that is over is nobody's any more, and its row may be locked by its user
            case when v_turn.minute > p_now - interval '1 minute' then v_turn.minute end,
            v_turn.tenant_id, v_turn.day, v_turn.global_day);
    end if;
end
$$;
comment on function private.refund_turn is
    'Gives back what a run took from the three counters. A second time it does nothing.';
