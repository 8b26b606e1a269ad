-- What may not be asked any more. The works take the time as p_now, so that every edge is tried.
begin;
select plan(28);

create function pg_temp.ask(
    p_name text, p_brand text, p_now timestamptz, p_question text default 'why?')
returns text
language sql
as $$
    select concat_ws(' ', coalesce(b.refusal, 'ok'), b.retry_after_seconds)
    from private.begin_turn(
        test.id(p_brand), test.id(p_name), p_question, null, null, null, '{shared}', p_now) b
$$;
create function pg_temp.ask_often(p_name text, p_brand text, p_now timestamptz, p_times integer)
returns bigint
language sql
as $$ select count(*) from generate_series(1, p_times) i
    where pg_temp.ask(p_name, p_brand, p_now) = 'ok' $$;
create function pg_temp.counted(p_brand text, p_day date) returns integer
language sql
as $$ select d.turns from private.tenant_days d
    where d.tenant_id = test.id(p_brand) and d.day = p_day $$;

-- a user in a minute
select is(
    pg_temp.ask_often('alice', 'one', '2026-01-02 12:00:15+00', 12), 10::bigint,
    'ten questions in a minute');
select is(
    pg_temp.ask('alice', 'one', '2026-01-02 12:00:15+00'), 'rate_limited 45',
    'then to wait for the next minute');
select is(
    pg_temp.ask('alice', 'one', '2026-01-02 12:00:59.5+00'), 'rate_limited 1',
    'for a second at least');
select is(pg_temp.ask('bob', 'one', '2026-01-02 12:00:59.5+00'), 'ok', 'a colleague may ask');
select is(
    pg_temp.ask('alice', 'one', '2026-01-02 12:01:00+00'), 'ok', 'and so may she, a moment later');
select is(
    pg_temp.counted('one', '2026-01-02'), 12, 'what was refused cost the brand nothing');
select results_eq(
    $$ select refusal, count(*) from app.turns where status = 'refused' group by 1 $$,
    $$ values ('rate_limited', 4::bigint) $$, 'each refusal is a row');
select is(
    pg_temp.ask('alice', 'one', '2026-01-02 12:01:30+00', '') || ' '
        || pg_temp.ask('alice', 'one', '2026-01-02 12:01:30+00', repeat('x', 2001)),
    'question_empty question_too_long', 'a question that cannot be asked');
select is(
    (select turns from private.user_minutes where user_id = test.id('alice')), 1, 'costs nothing');

-- a brand in a day of its own time zone
update app.tenant_limits set turns_per_day = 2, turns_per_minute = 1000;
update app.tenants set time_zone = 'Europe/Berlin' where slug = 'one';
select is(
    pg_temp.ask_often('alice', 'one', '2026-01-10 22:59+00', 5), 2::bigint, 'two of five a day');
select is(
    pg_temp.ask('bob', 'one', '2026-01-10 22:59+00'), 'tenant_cap_reached 60',
    'for all users together');
select is(
    pg_temp.ask('bob', 'one', '2026-01-10 22:59:59.9+00'), 'tenant_cap_reached 1',
    'until midnight in Berlin');
select is(pg_temp.ask('bob', 'one', '2026-01-10 23:00+00'), 'ok', 'which is 23 UTC in winter');
select is(
    pg_temp.ask_often('alice', 'one', '2026-03-28 23:00+00', 3), 2::bigint,
    'when summer time begins');
select is(
    pg_temp.ask('alice', 'one', '2026-03-28 23:00+00'), 'tenant_cap_reached 82800',
    'a day has 23 hours');
select is(pg_temp.ask_often('bob', 'one', '2026-07-10 21:59+00', 3), 2::bigint, 'another day');
select is(pg_temp.ask('bob', 'one', '2026-07-10 22:00+00'), 'ok', 'and 22 UTC in summer');
select is(
    pg_temp.ask('carol', 'two', '2026-07-10 23:59:59+00'), 'ok',
    'a brand that lives in UTC has its own day');
select is(pg_temp.ask_often('alice', 'one', '2026-10-24 22:00+00', 3), 2::bigint, 'when it ends');
select is(
    pg_temp.ask('alice', 'one', '2026-10-24 22:00+00'), 'tenant_cap_reached 90000', 'it has 25');
select is(pg_temp.counted('one', '2026-10-25'), 2, 'and what was refused is not counted');

-- all brands in a UTC day
update app.tenant_limits set turns_per_day = 100;
update private.installation set turns_per_day = 3;
select is(
    pg_temp.ask_often('alice', 'one', '2026-12-01 12:00+00', 3), 3::bigint, 'three a day for all');
select is(
    pg_temp.ask('carol', 'two', '2026-12-01 12:00+00'), 'global_cap_reached 43200',
    'until midnight in UTC');
select is(pg_temp.counted('two', '2026-12-01'), 0, 'the brand gets back what it could not use');
select is(
    pg_temp.ask('alice', 'one', '2026-12-01 12:00+00'), 'global_cap_reached 43200',
    'nobody gets past it');
select is(pg_temp.counted('one', '2026-12-01'), 3, 'the other brand too');
select is(pg_temp.ask('carol', 'two', '2026-12-02 00:00+00'), 'ok', 'a new day is a new day');

-- through the door nobody chooses the time
select test.act_as('alice');
select throws_ok(
    $$ select private.begin_turn(test.id('one'), test.id('alice'), '?', null, null, null,
        '{}', '2030-01-01') $$,
    '42501', null, 'a user does not reach the works');

select * from finish();
rollback;
