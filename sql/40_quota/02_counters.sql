-- Counters of our own limits: per user and minute, per brand and day, for all together and day.
-- Each is taken by one atomic statement (n = n + 1 where n < cap), so that parallel requests cannot
-- pass a cap. Order of locks: user, brand, installation, models; who touches more than one model
-- holds the row of the installation. So no two requests wait for each other.
-- What was taken is written down in the ledger (50_turns/02_ledger.sql).

create table private.user_minutes (
    user_id uuid primary key,
    minute timestamptz not null,
    turns integer not null check (turns >= 0)
);
comment on table private.user_minutes is 'Turns of a user in the current minute. One row a user.';
alter table private.user_minutes enable row level security;
alter table private.user_minutes force row level security;

create table private.tenant_days (
    tenant_id uuid not null references app.tenants on delete cascade,
    day date not null,
    turns integer not null check (turns >= 0),
    primary key (tenant_id, day)
);
comment on table private.tenant_days is 'Turns of a brand on a day of its own time zone.';
alter table private.tenant_days enable row level security;
alter table private.tenant_days force row level security;

create table private.installation (
    is_only_row boolean primary key default true check (is_only_row),
    turns_per_day integer not null default 20000 check (turns_per_day > 0),
    day date not null default '-infinity',
    turns integer not null default 0 check (turns >= 0)
);
comment on table private.installation is
    'Turns of all brands on the current UTC day, and their cap. One row.';
alter table private.installation enable row level security;
alter table private.installation force row level security;
insert into private.installation default values;

create function private.take_user_turn(p_user_id uuid, p_cap integer, p_now timestamptz)
returns timestamptz
language sql
set search_path = ''
begin atomic
    insert into private.user_minutes as m (user_id, minute, turns)
    values (p_user_id, date_trunc('minute', p_now), 1)
    on conflict (user_id) do update
        -- who began before the minute turned, and comes after somebody who did not, is of the new one
        set turns = case when m.minute < excluded.minute then 1 else m.turns + 1 end,
            minute = greatest(m.minute, excluded.minute)
        where m.minute < excluded.minute or m.turns < p_cap
    returning m.minute;
end;
comment on function private.take_user_turn is
    'The minute in which the user had a turn left; NULL when there was none.';

create function private.take_tenant_turn(p_tenant_id uuid, p_cap integer, p_day date) returns boolean
language sql
set search_path = ''
begin atomic
    insert into private.tenant_days as d (tenant_id, day, turns) values (p_tenant_id, p_day, 1)
    on conflict (tenant_id, day) do update set turns = d.turns + 1 where d.turns < p_cap
    returning true;
end;
comment on function private.take_tenant_turn is
    'True when the brand had a turn left on that day; else NULL.';

create function private.take_global_turn(p_now timestamptz, p_extra integer default 0) returns date
language sql
set search_path = ''
begin atomic
    update private.installation i
    set turns = case when i.day < d.day then 1 else i.turns + 1 end, day = greatest(i.day, d.day)
    from (select (p_now at time zone 'UTC')::date) d (day)
    where i.day < d.day or i.turns < i.turns_per_day + p_extra
    returning i.day;
end;
comment on function private.take_global_turn is
    'The UTC day on which the installation had a turn left; NULL when there was none. p_extra: turns '
    'about to be returned.';

create function private.return_turn(
    p_user_id uuid, p_minute timestamptz, p_tenant_id uuid, p_day date, p_global_day date)
returns void
language plpgsql
set search_path = ''
as $$
begin
    update private.user_minutes m set turns = m.turns - 1
    where m.user_id = p_user_id and m.minute = p_minute;
    update private.tenant_days d set turns = d.turns - 1
    where d.tenant_id = p_tenant_id and d.day = p_day;
    -- locks the row also when the day is over: see the order of locks above
    update private.installation i
    set turns = i.turns - case when i.day = p_global_day then 1 else 0 end;
end
$$;
comment on function private.return_turn is
    'Gives a turn back to whom it was taken from; a NULL minute or day is not concerned.';
