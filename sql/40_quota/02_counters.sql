-- Counters of our own limits: per user and minute, per brand and day, for all together and day.
-- Each is taken by one atomic statement (n = n + 1 where n < cap), always in this order, so that
-- parallel requests can neither pass a cap nor deadlock. Called by private.begin_turn.

create table private.user_minutes (
    user_id uuid primary key,
    minute timestamptz not null,
    turns integer not null check (turns > 0)
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

create table private.global_days (
    day date primary key,
    turns integer not null check (turns > 0)
);
comment on table private.global_days is 'Turns of all brands on a UTC day.';
alter table private.global_days enable row level security;
alter table private.global_days force row level security;

create table private.settings (
    is_only_row boolean primary key default true check (is_only_row),
    turns_per_day integer not null default 20000 check (turns_per_day > 0)
);
comment on table private.settings is 'Limits of the whole installation. One row.';
alter table private.settings enable row level security;
alter table private.settings force row level security;
insert into private.settings default values;

create function private.take_user_turn(p_user_id uuid, p_cap integer, p_now timestamptz) returns boolean
language sql
set search_path = ''
begin atomic
    insert into private.user_minutes as m (user_id, minute, turns)
    values (p_user_id, date_trunc('minute', p_now), 1)
    on conflict (user_id) do update
        set turns = case when m.minute = excluded.minute then m.turns + 1 else 1 end,
            minute = excluded.minute
        where m.minute < excluded.minute or m.minute = excluded.minute and m.turns < p_cap
    returning true;
end;
comment on function private.take_user_turn is
    'True when the user had a turn left in this minute; else NULL.';

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

create function private.take_global_turn(p_now timestamptz) returns boolean
language sql
set search_path = ''
begin atomic
    insert into private.global_days as d (day, turns) values ((p_now at time zone 'UTC')::date, 1)
    on conflict (day) do update set turns = d.turns + 1
        where d.turns < (select s.turns_per_day from private.settings s)
    returning true;
end;
comment on function private.take_global_turn is
    'True when the installation had a turn left today; else NULL.';
