-- The ledger: what a turn costs, whom, and what it gets back.
begin;
select plan(30);

update app.tenants set time_zone = 'Europe/Berlin' where slug = 'one';
create function pg_temp.ask(
    p_turn text, p_now timestamptz default '2026-07-15 12:00:10+00', p_name text default 'alice')
returns text
language sql
as $$
    select concat_ws(' ', b.state, b.run, b.refusal)
    from private.begin_turn(test.id('one'), test.id(p_name), 'why?', test.id(p_turn), null, null,
        '{shared}', p_now) b
$$;
create function pg_temp.finish(
    p_turn text, p_status text default 'answered', p_attempts jsonb default '[]', p_run integer default 1,
    p_now timestamptz default '2026-07-15 12:00:12+00')
returns boolean
language sql
as $$
    select private.finish_turn(test.id('one'), test.id('alice'), test.id(p_turn), p_run, p_status,
        null, null, null, null, null, p_attempts, '{}', '{}', '{}', p_now)
$$;
create function pg_temp.taken() returns text
language sql
as $$
    -- user, brand, installation
    select concat_ws(' ',
        (select turns from private.user_minutes where user_id = test.id('alice')),
        (select turns from private.tenant_days where tenant_id = test.id('one') and day = '2026-07-15'),
        (select turns from private.installation where day = '2026-07-15'))
$$;
create function pg_temp.entries(p_turn text) returns text
language sql
as $$
    select string_agg(r.state, ' ' order by r.run) from private.turn_reservations r
    where r.turn_id = test.id(p_turn)
$$;

-- one turn
select is(pg_temp.ask('t1'), 'begun 1', 'a turn begins');
select is(pg_temp.taken(), '1 1 1', 'and takes one from user, brand and installation');
select results_eq(
    'select state, minute, day, global_day, lease_ends_at from private.turn_reservations',
    $$ values ('open', '2026-07-15 12:00+00'::timestamptz, '2026-07-15'::date, '2026-07-15'::date,
        '2026-07-15 12:05:10+00'::timestamptz) $$, 'which is written down');
select is(pg_temp.ask('t1') || ', ' || pg_temp.taken(), 'running 1, 1 1 1',
    'asked once more while it runs it costs nothing');
select pg_temp.finish('t1');
select is(pg_temp.entries('t1'), 'settled', 'an answer settles it');
select is(pg_temp.ask('t1') || ', ' || pg_temp.taken(), 'finished 1, 1 1 1',
    'asked once more it costs nothing either');

-- O84: nothing is charged for what failed on our side
select pg_temp.ask('t2');
select is(pg_temp.taken(), '2 2 2', 'a second turn');
select pg_temp.finish('t2', 'failed');
select is(pg_temp.taken() || ' ' || pg_temp.entries('t2'), '1 1 1 refunded', 'that fails is given back');
select private.refund_turn(test.id('one'), test.id('t2'), 1, now());
select is(pg_temp.taken(), '1 1 1', 'once');
select is(pg_temp.ask('t2') || ', ' || pg_temp.taken(), 'begun 2, 2 2 2', 'and may be asked again');
select throws_ok(
    $$ select pg_temp.finish('t2') $$, 'PT404', 'not_found', 'which the first run cannot finish');
select pg_temp.finish('t2', 'answered', '[
    {"model":"gemini-3.5-flash-lite","outcome":"quota_day"},
    {"model":"gemini-3.1-flash-lite","outcome":"unavailable"},
    {"model":"gemini-3.6-flash","outcome":"timeout"}]', 2);
select is(
    pg_temp.taken() || ' ' || pg_temp.entries('t2'), '1 1 1 refunded refunded',
    'when all models failed nothing is charged, though the documents answered');
select is(private.is_charged(t.status, t.attempts::jsonb), t.expected, t.label)
from (values
    ('answered', '[]', true, 'documents that answer without a model are charged'),
    ('answered', '[{"model":"gemini-3.5-flash-lite","outcome":"timeout"},
        {"model":"gemini-3.1-flash-lite","outcome":"ok"}]', true, 'one model that answers is enough'),
    ('answered', '[{"model":"gemini-3.5-flash-lite","outcome":"safety"}]', true,
        'a question that a model refuses is charged'),
    ('held', '[{"model":"gemini-embedding-001","outcome":"quota_day"}]', true,
        'embedding is no generation'),
    ('aborted', '[{"model":"gemini-3.5-flash-lite","outcome":"error"}]', true,
        'who leaves pays'),
    ('failed', '[{"model":"gemini-3.5-flash-lite","outcome":"ok"}]', false,
        'a failure costs nothing, whatever went before')
) t (status, attempts, expected, label);

-- a reader who left and comes back
select pg_temp.ask('t3'), pg_temp.finish('t3', 'aborted');
select is(pg_temp.taken() || ' ' || pg_temp.entries('t3'), '2 2 2 settled', 'who leaves pays');
update app.tenant_limits set turns_per_day = 2;
update private.installation set turns_per_day = 2;
select is(
    pg_temp.ask('t3') || ', ' || pg_temp.taken(), 'begun 2, 2 2 2',
    'who comes back pays no second time, though nothing is left');
select is(pg_temp.entries('t3'), 'refunded open', 'the first run is given back for the second');
select pg_temp.finish('t3', 'aborted', '[]', 2);
select pg_temp.ask('t3'), pg_temp.finish('t3', 'aborted', '[]', 3);
select is(
    pg_temp.ask('t3'), 'refused 4 tenant_cap_reached', 'but reading and leaving again and again is not free');
select is(pg_temp.taken(), '2 2 2', 'a refusal takes from nobody');

-- a process that died
update app.tenant_limits set turns_per_day = 100;
update private.installation set turns_per_day = 100;
select pg_temp.ask('t4');
select is(
    pg_temp.ask('t5', '2026-07-15 12:05:10+00', 'bob') || ', ' || pg_temp.taken(), 'begun 1, 3 4 4',
    'a lease that has not ended holds');
select is(
    pg_temp.ask('t6', '2026-07-15 12:05:11+00', 'bob') || ', ' || pg_temp.taken(), 'begun 1, 3 4 4',
    'one that has is given back when anybody asks'); -- t6 takes what t4 gives back
select results_eq(
    $$ select t.status, r.state from app.turns t join private.turn_reservations r on r.turn_id = t.id
    where t.id = test.id('t4') $$, $$ values ('failed', 'refunded') $$, 'and the turn has failed');

update app.tenant_limits set turns_per_day = 1000, turns_per_minute = 1000;
update private.installation set turns_per_day = 1000;
select pg_temp.ask('dead ' || n, '2026-07-15 13:00:00+00') from generate_series(1, 120) n;
select is(
    private.return_expired('2026-07-15 14:00:00+00'), 120,
    'all that have died are given back at once, also of one brand');

-- the entries themselves
select is(test.outcome(u), 'PT500', label)
from (values
    ($$ update private.turn_reservations set state = 'open', closed_at = null
        where turn_id = test.id('t1') $$, 'a closed entry does not open again'),
    ($$ update private.turn_reservations set state = 'settled' where turn_id = test.id('t2') $$,
        'what was given back is not taken again'),
    ($$ update private.turn_reservations set day = day + 1 where turn_id = test.id('t5') $$,
        'nothing else of an entry changes')
) t (u, label);

select * from finish();
rollback;
