-- Model calls: reserved before they are made, settled when they were.
begin;
select plan(16);

select test.add_source('one', 'faq', '{lantern}', '{1}');
insert into app.chunk_embeddings_primary
values (test.id('one'), test.id('one/faq/0'), test.at_cosine(1, 768));
update app.tenant_limits set turns_per_minute = 100;
create function pg_temp.calls() returns text
language sql
as $$
    select string_agg(d.model || ' ' || d.calls, ', ' order by d.model)
    from private.model_days d where d.calls > 0
$$;
create function pg_temp.entries(p_turn text) returns text
language sql
as $$
    select string_agg(c.model || ' ' || c.state, ', ' order by c.number)
    from private.call_reservations c where c.turn_id = test.id(p_turn)
$$;
create function pg_temp.finish(p_turn text, p_attempts jsonb, p_status text default 'answered')
returns boolean
language sql
as $$
    select api.finish_turn(test.id(p_turn), 1, p_status, null, null, null, null, null, p_attempts, '{}',
        '{}', '{}')
$$;

select test.act_as('alice');
select api.begin_turn('why?', test.id('t1'), p_pools => '{shared}');
select test.act_as('superuser');
select is(
    pg_temp.entries('t1'), 'gemini-embedding-001 open, gemini-3.5-flash-lite open',
    'a turn begins with a call of the first index and one of the first model');
select is(pg_temp.calls(), 'gemini-3.5-flash-lite 1, gemini-embedding-001 1', 'which are taken at once');
select test.act_as('alice');
select is(
    api.reserve_call(test.id('t1'), 1, 'gemini-3.1-flash-lite'), true,
    'a further model is reserved when the first failed');
select pg_temp.finish('t1', '[{"model":"gemini-embedding-001","outcome":"ok"},
    {"model":"gemini-3.5-flash-lite","outcome":"quota_day"},
    {"model":"gemini-3.1-flash-lite","outcome":"ok"}]');
select test.act_as('superuser');
select is(
    pg_temp.entries('t1'),
    'gemini-embedding-001 settled, gemini-3.5-flash-lite settled, gemini-3.1-flash-lite settled',
    'each call that was made is settled, however it ended');
select test.act_as('alice');
select is(
    (select models from api.begin_turn('why?', test.id('t2'), p_pools => '{shared}')),
    '{gemini-3.1-flash-lite,gemini-3.6-flash}', 'a model without quota is not offered again');
select is(
    api.reserve_call(test.id('t2'), 1, 'gemini-3.5-flash-lite'), false, 'nor can it be reserved');
select is(
    api.reserve_call(test.id('t2'), 1, 'gemini-3.1-flash-lite'), true,
    'the same model may be called a second time');
select pg_temp.finish('t2', '[{"model":"gemini-3.1-flash-lite","outcome":"quota_minute"}]', 'failed');
select test.act_as('superuser');
select is(
    pg_temp.entries('t2'),
    'gemini-embedding-001 refunded, gemini-3.1-flash-lite settled, gemini-3.1-flash-lite refunded',
    'calls that were not made are given back, also when the turn failed');
select is(
    pg_temp.calls(),
    'gemini-3.1-flash-lite 2, gemini-3.5-flash-lite 1, gemini-embedding-001 1',
    'so the counters are what the provider got');
select is(private.return_expired(now() + interval '1 hour'), 0, 'nothing is left open');

-- the last calls of a day
update app.models set calls_per_day = 3 where name = 'gemini-3.1-flash-lite';
update private.model_days set closed_until = null;
update app.models set calls_per_day = 1 where name = 'gemini-3.5-flash-lite';
select test.act_as('alice');
select is(
    (select models[1] from api.begin_turn('why?', test.id('t3'), p_pools => '{shared}')),
    'gemini-3.1-flash-lite', 'the last call of a model');
select is(
    (select models from api.begin_turn('why?', test.id('t4'), p_pools => '{shared}')),
    '{gemini-3.6-flash}', 'is not there for a second turn, though the first has not called yet');

-- whose turn
select throws_ok(
    $$ select api.reserve_call(test.id('t1'), 1, 'gemini-3.6-flash') $$, 'PT404', 'not_found',
    'a finished turn calls nothing');
select throws_ok(
    $$ select api.reserve_call(test.id('t3'), 2, 'gemini-3.6-flash') $$, 'PT404', 'not_found',
    'nor does a run that never was');
select test.act_as('bob');
select throws_ok(
    $$ select api.reserve_call(test.id('t3'), 1, 'gemini-3.6-flash') $$, 'PT404', 'not_found',
    'nor a colleague');
select test.act_as('superuser');
select is(
    private.return_expired(now() + interval '1 hour') || ' ' || pg_temp.calls(),
    '2 gemini-3.1-flash-lite 2, gemini-3.5-flash-lite 1, gemini-embedding-001 1',
    'the calls of a dead process are given back with its turn');

select * from finish();
rollback;
