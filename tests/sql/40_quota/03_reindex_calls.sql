-- Calls of embedding models by a reindex: from the quota that questions use too.
begin;
select plan(8);

create temporary table runs (name text, id uuid);
grant all on runs to public;
create function pg_temp.take(p_name text, p_model text default 'gemini-embedding-001') returns boolean
language sql
as $$ select api.take_reindex_call((select id from runs where name = p_name), p_model) $$;

select test.act_as('bob');
insert into runs select 'one', test.start_run();
select is(pg_temp.take('one') and pg_temp.take('one'), true, 'a running reindex takes calls');
select is(pg_temp.take('one', 'all-MiniLM-L6-v2'), false, 'of models that have a quota');
select test.act_as('superuser');
select results_eq(
    'select model, pool, calls from private.reindex_calls',
    $$ values ('gemini-embedding-001', 'shared', 2) $$, 'which are written down');
update app.models set calls_per_day = 3 where name = 'gemini-embedding-001';
select test.act_as('bob');
select is(
    pg_temp.take('one') and not pg_temp.take('one'), true, 'and never more than there are');

-- whose
select test.act_as('dave');
select is(pg_temp.take('one', 'gemini-embedding-2'), false, 'the run of another brand takes nothing');
select test.act_as('alice');
select throws_ok(
    $$ select pg_temp.take('one', 'gemini-embedding-2') $$, 'PT403', 'not_an_admin', 'nor does a rep');
select test.act_as('superuser');
select is(
    (select sum(calls) from private.model_days), 3::bigint, 'which costs nobody anything');
set session authorization authenticator;
select test.act_as('bob');
select throws_ok(
    $$ select pg_temp.take('one', 'gemini-embedding-2') $$, 'PT403', 'functions_only',
    'nor an admin over PostgREST, who would take what is never called');
reset session authorization;

select * from finish();
rollback;
