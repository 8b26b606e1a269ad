-- The model ladder: who is tried first, and what closes a model for how long.
begin;
select plan(33);

create function pg_temp.open(p_now timestamptz, p_task text default 'generate') returns text
language sql
as $$ select coalesce(string_agg(m, ' '), 'none') from private.open_models('shared', p_task, p_now) m $$;
create function pg_temp.count(
    p_model text, p_outcome text, p_now timestamptz, p_wait integer default null)
returns text
language sql
as $$
    select private.take_call('shared', p_model, p_now);
    select private.close_model('shared', p_model, p_outcome, p_wait, p_now);
    select ''::text
$$;
create function pg_temp.reset() returns text
language sql
as $$ delete from private.model_days; select ''::text $$;

select is(
    pg_temp.open(now()), 'gemini-3.5-flash-lite gemini-3.1-flash-lite gemini-3.6-flash',
    'the lightest model leads');
select is(
    pg_temp.open(now(), 'embed'), 'gemini-embedding-001 gemini-embedding-2',
    'models that embed are apart');
select is(pg_temp.open(now(), 'paint'), 'none', 'an unknown task has no model');
update app.models set rung = 9 where name = 'gemini-3.5-flash-lite';
select is(
    pg_temp.open(now()), 'gemini-3.1-flash-lite gemini-3.6-flash gemini-3.5-flash-lite',
    'the order is data');
delete from app.models where name <> 'gemini-3.6-flash' and task = 'generate';
update app.models set name = 'flash', calls_per_day = 3 where task = 'generate';

-- the daily number of calls, on the provider's day
select pg_temp.count('flash', 'ok', '2026-01-15 12:00-08'),
    pg_temp.count('flash', 'safety', '2026-01-15 12:01-08');
select is(pg_temp.open('2026-01-15 12:02-08'), 'flash', 'after two of three calls a model is open');
select pg_temp.count('flash', 'timeout', '2026-01-15 12:02-08');
select is(pg_temp.open('2026-01-15 12:02-08'), 'none', 'after three it is not, however they ended');
select is(
    pg_temp.open('2026-01-15 23:59:59-08'), 'none',
    'until the last second of the day in Los Angeles');
select is(pg_temp.open('2026-01-16 00:00-08'), 'flash', 'midnight there opens it');
select pg_temp.count('extractive', 'ok', now()), pg_temp.count(null, 'ok', now());
select is(
    (select sum(calls) from private.model_days), 3::bigint,
    'what is no registered model is not counted');

select private.take_call('shared', 'flash', '2026-01-16 00:01-08') from generate_series(1, 5);
select is(
    (select calls from private.model_days where day = '2026-01-16'), 3,
    'nobody takes more than there are');
-- O82, O83: the day is the provider's, and a new day begins at nothing
select is(
    (select array_agg(calls order by day) from private.model_days), '{3,3}',
    'calls at 16:30 and at 17:30 in Los Angeles are of one day, though UTC has two')
from (select private.take_call('shared', 'flash', '2026-01-16 16:30-08'),
    private.take_call('shared', 'flash', '2026-01-16 17:30-08')) later;
select is(
    private.take_call('shared', 'flash', '2026-01-17 00:00-08'), '2026-01-17'::date,
    'the first call of the next day passes');

-- each key has a quota of its own
select is(
    (select string_agg(m, ' ') from private.open_models('demo', 'generate', '2026-01-16 12:00-08') m),
    'flash', 'what one pool has used up is there in another');
select is(
    private.take_call('demo', 'flash', '2026-01-16 12:00-08'), '2026-01-16'::date, 'and is taken there');
select is_empty(
    $$ select private.open_models(null, 'generate', now()) $$, 'without a pool there is no model');
delete from private.model_days;

-- O85: a spent day closes the model until the provider's midnight, in winter, summer and between
create function pg_temp.closed_from_to(p_at timestamptz) returns text
language sql
as $$
    select pg_temp.reset();
    select pg_temp.count('flash', 'quota_day', p_at);
    select to_char(d.closed_until at time zone 'UTC', 'MM-DD HH24:MI') from private.model_days d
$$;
select is(pg_temp.closed_from_to(t.at), t.until, t.label)
from (values
    ('2026-01-15 08:00:00+00'::timestamptz, '01-16 08:00', 'at midnight in winter for 24 hours'),
    ('2026-01-16 07:59:59+00', '01-16 08:00', 'at the last second for one'),
    ('2026-07-15 07:00:00+00', '07-16 07:00', 'in summer the day turns at 7 UTC'),
    ('2026-07-15 06:59:59+00', '07-15 07:00', 'a second before, it is yesterday there'),
    ('2026-03-08 09:00:00+00', '03-09 07:00', 'the day on which summer time begins has 23 hours'),
    ('2026-11-01 08:00:00+00', '11-02 08:00', 'the day on which it ends has 25'),
    ('2026-12-31 23:00:00+00', '01-01 08:00', 'a year ends there too')
) t (at, until, label);
select is(pg_temp.open('2027-01-01 07:59:59+00'), 'none', 'closed until then');
select is(pg_temp.open('2027-01-01 08:00:00+00'), 'flash', 'open from then');

-- a spent minute is a short pause
update app.models set calls_per_day = 1000 where name = 'flash';
select pg_temp.reset(), pg_temp.count('flash', 'quota_minute', '2026-07-15 12:00+00');
select is(
    pg_temp.open('2026-07-15 12:00:59+00'), 'none', 'a spent minute closes it for 60 seconds');
select is(pg_temp.open('2026-07-15 12:01:00+00'), 'flash', 'and no longer');
select pg_temp.reset(), pg_temp.count('flash', 'quota_minute', '2026-07-15 12:00+00', 7);
select is(
    pg_temp.open('2026-07-15 12:00:06+00') || ' ' || pg_temp.open('2026-07-15 12:00:07+00'),
    'none flash',
    'or for as long as the provider says');
select pg_temp.reset(), pg_temp.count('flash', 'quota_minute', '2026-07-15 12:00+00', 999999);
select is(pg_temp.open('2026-07-15 13:00:00+00'), 'flash', 'but for an hour at most');
select pg_temp.reset(), pg_temp.count('flash', 'quota_minute', '2026-07-15 06:59:30+00');
select is(
    pg_temp.open('2026-07-15 07:00:29+00') || ' ' || pg_temp.open('2026-07-15 07:00:30+00'),
    'none flash',
    'the pause goes on past the midnight of the provider');
-- one answer may name both violations; whatever comes later does not open it early
select pg_temp.reset(), pg_temp.count('flash', 'quota_day', '2026-07-15 12:00+00'),
    pg_temp.count('flash', 'quota_minute', '2026-07-15 12:01+00'),
    pg_temp.count('flash', 'ok', '2026-07-15 12:02+00');
select is(pg_temp.open('2026-07-16 06:59:59+00'), 'none', 'a minute does not shorten a day');
select is((select calls from private.model_days), 1, 'and a closed model is not called');

-- who sees it
select test.act_as('alice');
select is((select count(*) from app.models), 3::bigint, 'a member sees the ladder');
select test.act_as('eve');
select is_empty('select name from app.models', 'a stranger does not');

select * from finish();
rollback;
