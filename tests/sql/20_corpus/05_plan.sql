-- Reconciliation, first half: what would a reindex do? It reads, and sends back places.
begin;
select plan(20);

create temporary table runs (name text, id uuid);
grant select, insert on runs to public;
create function pg_temp.run(p_name text default 'one') returns uuid
language sql
as $$ select id from runs where name = p_name $$;
create function pg_temp.plan(p_contents text[], p_headings text[] default null,
    p_key text default 'faq', p_run uuid default pg_temp.run())
returns table (new_places integer[], changed integer, kept integer, removed integer, missing jsonb)
language sql
as $$
    select p.new_places, p.changed, p.kept, p.removed, p.missing
    from coalesce(p_headings, array_fill(''::text, array[cardinality(p_contents)])) h (headings),
        api.plan_reindex(p_run, 'faq', p_key, test.hashes(h.headings, p_contents), h.headings,
        '{local,primary}') p
$$;

select test.add_source('one', 'faq', '{a,b,c}', '{1,1}');
select test.add_source('two', 'faq', '{x,y}', '{1,1}');
select test.act_as('bob');
insert into runs select 'one', test.start_run();

select results_eq(
    $$ select * from pg_temp.plan('{a,b,c}') $$,
    $$ values ('{}'::integer[], 0, 3, 0, '{"local":[2],"primary":[0,1,2]}'::jsonb) $$,
    'the stored text again is nothing new; each index says which vectors it lacks'); -- O35
select results_eq(
    $$ select * from pg_temp.plan('{b,new,a}') $$,
    $$ values ('{1}'::integer[], 1, 2, 1, '{"local":[1],"primary":[0,1,2]}'::jsonb) $$,
    'a new passage for one that goes, under the same heading, is a change; order does not matter');
select results_eq(
    $$ select * from pg_temp.plan('{a,b,new}', '{"","",Fees}') $$,
    $$ values ('{2}'::integer[], 0, 2, 1, '{"local":[2],"primary":[0,1,2]}'::jsonb) $$,
    'under another heading it is a new one and a gone one');
select results_eq(
    $$ select * from pg_temp.plan('{a,b,c}', '{Fees,"",""}') $$,
    $$ values ('{0}'::integer[], 0, 2, 1, '{"local":[0,2],"primary":[0,1,2]}'::jsonb) $$,
    'the heading belongs to the passage');
select results_eq(
    $$ select new_places, kept, removed from pg_temp.plan('{}') $$,
    $$ values ('{}'::integer[], 0, 3) $$, 'an empty document removes all');
select results_eq(
    $$ select * from pg_temp.plan('{a,b,c}', null, 'other') $$,
    $$ values ('{0,1,2}'::integer[], 0, 0, 0, '{"local":[0,1,2],"primary":[0,1,2]}'::jsonb) $$,
    'a source that is not there yet is new throughout');
select results_eq(
    $$ select * from pg_temp.plan('{x,y}') $$,
    $$ values ('{0,1}'::integer[], 2, 0, 3, '{"local":[0,1],"primary":[0,1]}'::jsonb) $$,
    'what another brand has under the key is not known here');
select results_eq(
    $$ select new_places, kept, removed
    from api.plan_reindex(pg_temp.run(), 'price', 'faq', test.hashes('{""}', '{a}'), '{""}', '{}') $$,
    $$ values ('{0}'::integer[], 0, 0) $$, 'another type under the same key is another source');

-- O37: equal passages are told apart by their number
select results_eq(
    $$ select new_places, kept, removed from pg_temp.plan('{a,a,b,a}') $$,
    $$ values ('{1,3}'::integer[], 2, 1) $$,
    'a passage that comes three times is kept once and new twice');
select test.act_as('superuser');
select test.add_source('one', 'legal', '{t,t,t}');
select test.act_as('bob');
select results_eq(
    $$ select new_places, kept, removed from pg_temp.plan('{t,t,u}', null, 'legal') $$,
    $$ values ('{2}'::integer[], 2, 1) $$, 'of three equal ones two are kept and one goes');

select is(
    (select count(*) from app.chunks) || ' ' || (select count(*) from app.reindex_runs), '6 1',
    'a plan writes nothing');

-- C4: what the plan was made on, and by whom
create function pg_temp.generation(p_run text) returns bigint
language sql
as $$
    select p.generation
    from api.plan_reindex(pg_temp.run(p_run), 'faq', 'made', test.hashes('{""}', '{m}'), '{""}', '{}') p
$$;
create function pg_temp.generation_of(p_run text) returns bigint
language sql
as $$ select r.generation from app.reindex_runs r where r.id = pg_temp.run(p_run) $$;
insert into runs select 'older', test.start_run();
insert into runs select 'maker', test.start_run();
insert into runs select 'later', test.start_run();
select is(pg_temp.generation('later'), 0::bigint, 'nothing is stored: generation 0');
select test.reindex(pg_temp.run('maker'), 'made', '{m}');
select is(
    pg_temp.generation('later'), pg_temp.generation_of('maker'),
    'otherwise that of the run that wrote it');
select test.reindex(pg_temp.run('later'), 'made', '{m}');
select is(
    pg_temp.generation('later'), pg_temp.generation_of('maker'),
    'which a run that changes nothing leaves');
select throws_ok(
    $$ select pg_temp.generation('maker') $$, 'PT409', 'newer_snapshot',
    'but it has the last word: an older run learns it before it embeds');
select throws_ok(
    $$ select pg_temp.generation('nobody') $$, 'PT404', 'not_found', 'a plan needs a run');
select api.finish_reindex(pg_temp.run('later'), null);
select throws_ok(
    $$ select pg_temp.generation('later') $$, 'PT404', 'not_found', 'that is still running');

select test.act_as('alice');
select throws_ok($$ select pg_temp.plan('{a}') $$, 'PT403', 'not_an_admin', 'a rep plans nothing');
select test.act_as('eve');
select throws_ok($$ select pg_temp.plan('{a}') $$, 'PT403', 'not_a_member', 'nor does a stranger');
select test.act_as('service', 'two');
insert into runs select 'two', test.start_run();
select results_eq(
    $$ select kept, removed from pg_temp.plan('{x}', p_run => pg_temp.run('two')) $$, 'values (1, 1)',
    'the service plans for the named brand');

select * from finish();
rollback;
