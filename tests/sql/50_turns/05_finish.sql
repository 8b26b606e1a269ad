-- The last transaction of a question: only the own running turn, only chunks of the brand.
begin;
select plan(30);

select test.add_source('one', 'faq', '{lantern,candle}', '{1,1}',
    p_verified_at => '2026-01-01 00:00+00');
select test.add_source('two', 'faq', '{lamp}', '{1}');
create function pg_temp.finish(
    p_turn text, p_status text default 'answered', p_chunks text[] default '{}',
    p_similarities float8[] default '{}',
    p_attempts jsonb default '[]', p_index text default 'local', p_answer text default 'because')
returns boolean
language sql
as $$
    select api.finish_turn(test.id(p_turn), 1, p_status, p_answer, 'en', '2026-01-01', p_index,
        'extractive', p_attempts, '{"total":12}',
        array(select test.id(c) from unnest(p_chunks) c), p_similarities)
$$;
create function pg_temp.begin_turn(p_turn text) returns void
language sql
as $$ select from api.begin_turn('why?', test.id(p_turn), p_pools => '{shared}') $$;

select test.act_as('alice');
select pg_temp.begin_turn('t1'), pg_temp.begin_turn('t2'), pg_temp.begin_turn('t3'),
    pg_temp.begin_turn('t4');
select is(
    pg_temp.finish('t1', 'answered', '{one/faq/1,one/faq/0}', '{0.9,0.8}'), true,
    'a running turn is finished');
select results_eq(
    $$ select status, answer, index_name, model, attempts, milliseconds, finished_at from app.turns
    where id = test.id('t1') $$,
    $$ values ('answered', 'because', 'local', 'extractive', '[]'::jsonb, '{"total":12}'::jsonb,
        now()) $$,
    'with all that became of it');
select results_eq(
    $$ select place, chunk_id, source_id, content_hash, verified_at, similarity
    from app.turn_sources order by place $$,
    $$ values (0, test.id('one/faq/1'), test.id('one/faq'), sha256(e'\ncandle'),
        '2026-01-01 00:00+00'::timestamptz, 0.9::float8),
        (1, test.id('one/faq/0'), test.id('one/faq'), sha256(e'\nlantern'), '2026-01-01 00:00+00',
        0.8) $$,
    'and the chunks that were used, best first, as fresh as they were');

-- once, and the own one
select throws_ok(
    $$ select pg_temp.finish('t1') $$, 'PT404', 'not_found', 'a turn is finished once');
select throws_ok(
    $$ select pg_temp.finish('never') $$, 'PT404', 'not_found',
    'one that never began is not there');
select test.act_as('bob');
select throws_ok(
    $$ select pg_temp.finish('t2') $$, 'PT404', 'not_found',
    'that of a colleague neither, not even for an admin');
select test.act_as('pat', 'one');
select throws_ok(
    $$ select pg_temp.finish('t2') $$, 'PT404', 'not_found', 'nor for a platform admin');
select test.act_as('carol');
select throws_ok($$ select pg_temp.finish('t2') $$, 'PT404', 'not_found', 'nor for another brand');
select pg_temp.begin_turn('t2');
select is(pg_temp.finish('t2'), true, 'who finishes the own one of the same id');
select test.act_as('eve');
select throws_ok(
    $$ select pg_temp.finish('t2') $$, 'PT403', 'not_a_member', 'a stranger finishes nothing');
select test.act_as('service', 'one');
select throws_ok($$ select pg_temp.finish('t2') $$, '42501', null, 'nor does the service');
select test.act_as('alice');
select is(
    (select status from app.turns where id = test.id('t2')), 'running',
    'all the while hers is running');

-- somebody in two brands, with a turn of the same id in each
select test.act_as('superuser');
insert into app.members (tenant_id, user_id, role) values (test.id('two'), test.id('alice'), 'rep');
select test.act_as('alice', 'two');
select pg_temp.begin_turn('t3'), pg_temp.finish('t3');
select test.act_as('alice');
select is(
    (select status from app.turns where id = test.id('t3')), 'running',
    'finishes that of one brand alone');

-- chunks of somebody else, or of nobody, are not noted
select is(
    pg_temp.finish('t2', 'answered', '{two/faq/0,one/faq/0,nothing}', '{1,0.5,0.4}'), true,
    'foreign ids are no mistake');
select results_eq(
    $$ select chunk_id, place from app.turn_sources where turn_id = test.id('t2') $$,
    $$ values (test.id('one/faq/0'), 1) $$, 'but only the own one is noted');

-- what it may have become
select throws_ok(
    $$ select pg_temp.finish('t3', 'running') $$, '23514', null, 'a finished turn does not run');
select throws_ok(
    $$ select pg_temp.finish('t3', 'refused') $$, '23514', null, 'and was not refused');
select throws_ok(
    $$ select pg_temp.finish('t3', 'lost') $$, '23514', null, 'there are no other states');
select throws_ok(
    $$ select pg_temp.finish('t3', p_index => 'nowhere') $$, '23503', null,
    'the index is one of the registered');
select is(
    pg_temp.finish('t3', 'no_match', p_index => null, p_answer => null), true,
    'a turn without an answer or an index is one'); -- O58
select results_eq(
    $$ select status, answer, index_name from app.turns where id = test.id('t3') $$,
    $$ values ('no_match', null::text, null::text) $$, 'and logged as such');

-- O85: model calls are counted, and close a model
select api.reserve_call(test.id('t4'), 1, m)
from unnest('{gemini-3.1-flash-lite,gemini-3.6-flash}'::text[]) m;
select is(
    pg_temp.finish('t4', p_attempts => '[
        {"model":"gemini-3.6-flash","outcome":"ok","ms":900,"input_tokens":10,"output_tokens":5},
        {"model":"gemini-3.5-flash-lite","outcome":"quota_day","ms":20},
        {"model":"gemini-3.1-flash-lite","outcome":"quota_minute",
        "ms":20}]'), true, 'three models were tried');
create temporary table open as select models from api.begin_turn('next', p_pools => '{shared}');
select is(
    (select models from open), '{gemini-3.6-flash}',
    'the next question is told which are still open');
select test.act_as('superuser');
select results_eq(
    'select model, calls, closed_until is not null from private.model_days order by 1',
    $$ values ('gemini-3.1-flash-lite', 1, true), ('gemini-3.5-flash-lite', 1, true),
        ('gemini-3.6-flash', 2, false) $$,
    'each call is counted, and the one that the next question has reserved');
select is(
    (select closed_until from private.model_days where model = 'gemini-3.1-flash-lite'),
    now() + interval '60 seconds',
    'a spent minute closes for 60 seconds');
select is(
    (select to_char(closed_until at time zone 'America/Los_Angeles',
    'HH24:MI:SS') from private.model_days
    where model = 'gemini-3.5-flash-lite'), '00:00:00',
    'a spent day until midnight in Los Angeles');
select is(
    (select array[closed_until > now(),
    closed_until <= now() + interval '25 hours'] from private.model_days
    where model = 'gemini-3.5-flash-lite'), '{true,true}', 'the next one');
select test.act_as('carol');
select is(
    (select models from api.begin_turn('next', p_pools => '{shared}')), '{gemini-3.6-flash}',
    'a quota of the provider holds for all brands');

-- over PostgREST, whose login is authenticator, a user would report on the own turn
select test.act_as('alice');
select pg_temp.begin_turn('t9');
reset role;
set session authorization authenticator;
select test.act_as('alice');
select throws_ok(
    $$ select pg_temp.finish('t9', 'failed') $$, 'PT403', 'functions_only', 'which only the functions do');
select throws_ok(
    $$ select api.reserve_call(test.id('t9'), 1, 'gemini-3.6-flash') $$, 'PT403', 'functions_only',
    'nor is a model reserved there');
reset session authorization;

select * from finish();
rollback;
