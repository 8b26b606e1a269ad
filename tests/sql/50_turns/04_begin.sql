-- The first transaction of a question: what the answer is made with.
begin;
select plan(38);

create function pg_temp.begin_turn(
    p_question text default 'why?', p_turn text default null, p_conversation text default null,
    p_language text default null, p_pools text[] default '{shared}')
returns table (turn_id uuid, run integer, state text, conversation_id uuid, refusal text,
    retry_after_seconds integer, brand text, language text, persona text, fallback text,
    history jsonb, pool text, indexes text[], models text[], days integer, has_documents boolean)
language sql
as $$
    select * from api.begin_turn(p_question, test.id(p_turn), test.id(p_conversation), p_language,
        p_pools)
$$;

-- by whom
select test.act_as('visitor');
select throws_ok('select api.begin_turn(''?'')', '42501', null, 'a visitor asks nothing here');
select test.act_as('service', 'one');
select throws_ok(
    'select api.begin_turn(''?'')', '42501', null, 'nor does the service: a turn has a user');
select test.act_as('eve');
select throws_ok(
    'select api.begin_turn(''?'')', 'PT403', 'not_a_member', 'a stranger is no member');
select test.act_as('superuser');
select is(
    (select count(*) from app.turns) + (select count(*) from private.tenant_days), 0::bigint,
    'which leaves no trace and costs nobody anything');

-- with what
select test.act_as('alice');
select results_eq(
    $$ select * from pg_temp.begin_turn('why?', 'turn 1', 'talk') $$,
    $$ values (test.id('turn 1'), 1, 'begun', test.id('talk'), null::text, null::integer,
        'Brand One', 'en', 'friendly', 'one: I do not know.', '[]'::jsonb, 'shared', '{}'::text[],
        '{gemini-3.5-flash-lite,gemini-3.1-flash-lite,gemini-3.6-flash}'::text[], 90, false) $$,
    'a turn begins with all that an answer needs');
select results_eq(
    'select id, conversation_id, user_id, tenant_id, status, question, finished_at from app.turns',
    $$ values (test.id('turn 1'), test.id('talk'), test.id('alice'), test.id('one'), 'running',
        'why?', null::timestamptz) $$, 'and is written down as running');
create temporary table begun as select * from pg_temp.begin_turn();
select is(
    (select turn_id is not null and turn_id = conversation_id from begun), true,
    'without ids it gets one, and begins a conversation');
select results_eq(
    $$ select state, run, persona, models from pg_temp.begin_turn('why?', 'turn 1') $$,
    $$ values ('running', 1, null::text, null::text[]) $$,
    'the same question under the same id is told that it is being answered');
select throws_ok(
    $$ select pg_temp.begin_turn('why not?', 'turn 1') $$, 'PT409', 'turn_id_used',
    'another question under that id is refused');
select test.act_as('bob');
select throws_ok(
    $$ select pg_temp.begin_turn('why?', 'turn 1') $$, 'PT409', 'turn_id_used',
    'and so is a colleague');
select test.act_as('carol');
select is(
    (select refusal from pg_temp.begin_turn('why?', 'turn 1')), null,
    'another brand does not hear of it');
select is(
    (select brand || ': ' || fallback from pg_temp.begin_turn()), 'Brand Two: two: I do not know.',
    'and answers in its own words');

-- the words of the brand
select test.act_as('superuser');
update app.tenant_limits set turns_per_minute = 100;
select test.act_as('alice');
select is(
    (select persona from pg_temp.begin_turn('Home Flex?', p_language => 'es')), 'amable',
    'in the language that the client prefers');
select is(
    (select persona from pg_temp.begin_turn('¿Cuánto es para los dos?', p_language => 'en')),
    'amable', 'but above all in the language of the question');
select is(
    (select persona from pg_temp.begin_turn('Home Flex?', p_language => 'fr')), 'friendly',
    'else in that of the brand');
select test.act_as('superuser');
update app.tenants set language = 'de';
select test.act_as('alice');
select is(
    (select persona from pg_temp.begin_turn('Home Flex?', p_language => 'fr')), 'friendly',
    'else in the first there is');
select is(
    (select language from pg_temp.begin_turn(p_language => 'fr')), 'en', 'and says which');
select is(
    (select count(*) from pg_temp.begin_turn()), 1::bigint, 'which is one, however many there are');

-- indexes and models
select is(
    (select has_documents from pg_temp.begin_turn()), false, 'a brand without documents is told apart');
select test.act_as('superuser');
select test.add_source('one', 'faq', '{a,b}', '{1,1}');
insert into app.chunk_embeddings_primary
values (test.id('one'), test.id('one/faq/0'), test.at_cosine(1, 768));
select private.close_model('shared', 'gemini-3.5-flash-lite', 'quota_day', null, now());
select test.act_as('alice');
select is(
    (select indexes from pg_temp.begin_turn()), '{primary,local}',
    'the indexes that hold something, best first');
select is(
    (select has_documents from pg_temp.begin_turn()), true, 'and from one with them');
select is(
    (select models from pg_temp.begin_turn()), '{gemini-3.1-flash-lite,gemini-3.6-flash}',
    'the models that are open, first to last'); -- O85
select test.act_as('carol');
select is(
    (select indexes from pg_temp.begin_turn()), '{}',
    'what another brand has indexed is of no use'); -- O49
select test.act_as('superuser');
select private.close_model('shared', 'gemini-embedding-001', 'quota_day', null, now());
select test.act_as('alice');
select is(
    (select indexes from pg_temp.begin_turn()), '{local}',
    'an index whose model is closed is left out; a model of this machine never closes'); -- O49

select test.act_as('superuser');
select is_empty(
    $$ select model from private.call_reservations where model = 'all-MiniLM-L6-v2' $$,
    'and costs no quota');
select test.act_as('alice');
select results_eq(
    $$ select pool, indexes, models from pg_temp.begin_turn(p_pools => '{demo}') $$,
    $$ values (null::text, '{local}'::text[], '{}'::text[]) $$,
    'who has no key for the brand''s pool gets what runs without one');
select test.act_as('superuser');
update app.tenants set quota_pool = 'demo' where slug = 'one';
select test.act_as('alice');
select results_eq(
    $$ select pool, indexes, models[1] from pg_temp.begin_turn(p_pools => '{shared,demo}') $$,
    $$ values ('demo', '{primary,local}'::text[], 'gemini-3.5-flash-lite') $$,
    'a brand with a key of its own has its own quota');

-- the conversation
select test.act_as('superuser');
insert into app.members (tenant_id, user_id, role) values (test.id('two'), test.id('alice'), 'rep');
insert into app.turns
    (tenant_id, id, conversation_id, user_id, status, question, answer, created_at, finished_at)
select test.id(t.brand), gen_random_uuid(), test.id('long talk'), test.id(t.who), t.status,
    concat_ws(' ', t.brand, t.who, i), 'answer ' || i,
    now() - interval '1 hour' + make_interval(mins => t.from_minute + i), now()
from (values
    ('one', 'alice', 'answered', 12, 0), ('one', 'alice', 'no_match', 2, 20),
    ('one', 'bob', 'answered', 2, 20), ('two', 'alice', 'answered', 2, 20)
) t (brand, who, status, number, from_minute), generate_series(1, t.number) i;
select test.act_as('alice');
create temporary table talk as select history
from pg_temp.begin_turn(p_conversation => 'long talk');
select is(
    (select jsonb_array_length(history) from talk), 10,
    'the last ten turns of a conversation come along');
select is(
    (select history -> 0 from talk), '{"question":"one alice 3","answer":"answer 3"}',
    'the oldest of them first');
select is(
    (select history -> 9 from talk), '{"question":"one alice 12","answer":"answer 12"}',
    'the newest last');
select is_empty(
    $$ select h from talk, jsonb_array_elements(history) h
    where h ->> 'question' !~ '^one alice' $$,
    'none of somebody else who knows the id, and none of another brand of the same person');
select test.act_as('carol');
select is(
    (select history from pg_temp.begin_turn(p_conversation => 'long talk')), '[]',
    'nor does somebody in another brand get any');

-- the question
select test.act_as('alice');
select is(
    (select refusal from pg_temp.begin_turn(repeat('ñ', 2000))), null, '2,000 characters are fine');
select is(
    (select refusal from pg_temp.begin_turn(repeat('ñ', 2001))), 'question_too_long',
    '2,001 are not');
select is((select refusal from pg_temp.begin_turn('')), 'question_empty', 'nor is nothing');
select is(
    (select retry_after_seconds from pg_temp.begin_turn('')), null, 'and waiting does not help');
select results_eq(
    $$ select status, length(question), finished_at from app.turns
    where refusal = 'question_too_long' $$,
    $$ values ('refused', 2000, now()) $$, 'a refusal is a row, with what fits of the question');
select test.act_as('superuser');
update app.tenant_limits set question_characters = 5;
select test.act_as('alice');
select is(
    (select refusal from pg_temp.begin_turn('why me?')), 'question_too_long',
    'a brand may allow less');

select * from finish();
rollback;
