-- Of two runs the one that started later wins, in whatever order they arrive.
begin;
select plan(27);

create temporary table runs (name text, id uuid);
grant select, insert on runs to public;
create function pg_temp.start(p_name text, p_is_complete boolean default false) returns void
language sql
as $$ insert into runs select p_name, test.start_run(p_is_complete) $$;
create function pg_temp.apply(
    p_name text, p_key text, p_contents text[], p_type text default 'faq')
returns text
language sql
as $$
    select concat_ws(' ', r.status, r.added, r.kept, r.removed)
    from test.reindex(
        (select id from runs where name = p_name), p_key, p_contents, '{}', null, p_type) r
$$;
create function pg_temp.finish(p_name text, p_listing text[]) returns text
language sql
as $$
    select concat_ws(' ', f.status, f.retired)
    from api.finish_reindex((select id from runs where name = p_name), p_listing) f
$$;
create function pg_temp.sources() returns text
language sql
as $$ select string_agg(concat_ws(':', s.source_type, s.source_key), ' ' order by 1)
    from app.sources s $$;

select test.act_as('bob');

-- a slow run with an older snapshot
select pg_temp.start('slow', true), pg_temp.start('fast', true);
select is(pg_temp.apply('fast', 'a', '{new}'), 'ready 1 0 0', 'the later run arrives first');
select throws_ok(
    $$ select pg_temp.apply('slow', 'a', '{old}') $$, 'PT409', 'newer_snapshot',
    'the older one is refused');
select results_eq('select content from app.chunks', '{new}'::text[], 'the newer text stays');
select is(pg_temp.apply('slow', 'b', '{old}'), 'ready 1 0 0', 'another source is not concerned');
select is(pg_temp.apply('fast', 'c', '{new}'), 'ready 1 0 0', 'the later run knows a source more');
select is(
    pg_temp.finish('slow', '{a,b}'), 'ready 0',
    'the older run does not retire a source that a later one has indexed');
select is(pg_temp.sources(), 'faq:a faq:b faq:c', 'all are there');
select is(
    pg_temp.finish('fast', '{a,c}'), 'ready 1', 'the later run retires what it no longer lists');
select is(pg_temp.sources(), 'faq:a faq:c', 'which is the newest state');

-- a later run that failed on the source stands in nobody's way
select pg_temp.start('before'), pg_temp.start('broken');
select api.fail_source((select id from runs where name = 'broken'), 'a', 'cannot be read');
select is(
    pg_temp.apply('before', 'a', '{fixed}'), 'ready 1 0 1', 'a failed later run is not newer');
select throws_ok(
    $$ select pg_temp.apply('fast', 'd', '{late}') $$, 'PT404', 'not_found',
    'a finished run takes no more');

-- a source that changes its type
select pg_temp.start('typed', true);
select is(
    pg_temp.apply('typed', 'a', '{fixed}', 'price'), 'ready 1 0 0',
    'a source under its new type is a new one');
select is(pg_temp.apply('typed', 'c', '{new}'), 'unchanged 0 1 0', 'the rest is as it was');
select is(pg_temp.finish('typed', '{a,c}'), 'ready 1', 'the complete run retires the old one');
select is(pg_temp.sources(), 'faq:c price:a', 'so that the key names one source again');

-- a source that a later run found gone stays gone
select pg_temp.start('sleeper', true), pg_temp.start('cleaner', true);
select is(pg_temp.apply('cleaner', 'a', '{fixed}', 'price'), 'unchanged 0 1 0', 'the later run');
select is(pg_temp.finish('cleaner', '{a}'), 'ready 1', 'retires a source');
select throws_ok(
    $$ select pg_temp.apply('sleeper', 'c', '{new}') $$, 'PT409', 'newer_snapshot',
    'which an older one does not bring back');
select throws_ok(
    $$ select pg_temp.apply('sleeper', 'never', '{x}') $$, 'PT409', 'newer_snapshot',
    'nor does it add one that the later listing did not name');
select is(pg_temp.sources(), 'price:a', 'so that the newest listing holds');
select pg_temp.start('one of many', false), pg_temp.start('empty', true);
select pg_temp.finish('empty', '{}');
select is(
    pg_temp.apply('one of many', 'd', '{d}'), 'ready 1 0 0',
    'a later run without a listing says nothing about what is gone');
select pg_temp.start('careful', true), pg_temp.start('unlucky', true);
select api.fail_source((select id from runs where name = 'unlucky'), 'd', 'unreadable today');
select pg_temp.apply('careful', 'a', '{fixed}', 'price');
select is(
    pg_temp.finish('careful', '{a}'), 'ready 0',
    'an older run does not retire what a later one met, though it could not read it');

-- the swap compares: what was planned on another state is planned again
create function pg_temp.swap(p_name text, p_generation bigint, p_contents text[]) returns text
language sql
as $$
    select concat_ws(' ', r.status, r.added, r.kept, r.removed)
    from api.apply_reindex((select id from runs where name = p_name), p_generation, 'faq', 'd',
        '{"title":"d","language":"en","visibility":"tenant"}',
        test.hashes(array_fill(''::text, array[cardinality(p_contents)]), p_contents),
        array_fill(''::text, array[cardinality(p_contents)]), p_contents) r
$$;
create function pg_temp.generation() returns bigint
language sql
as $$ select s.generation from app.sources s where s.source_key = 'd' $$;
select pg_temp.start('older'), pg_temp.start('newer');
create temporary table planned as select pg_temp.generation() as generation;
select is(pg_temp.apply('older', 'd', '{d,e}'), 'ready 1 1 0', 'another run comes between');
select throws_ok(
    $$ select pg_temp.swap('newer', (select generation from planned), '{d,f}') $$,
    'PT409', 'reindex_running', 'so the plan is worth nothing');
select throws_ok(
    $$ select pg_temp.swap('newer', null, '{d,f}') $$, 'PT409', 'reindex_running', 'nor is none');
select is(
    pg_temp.swap('newer', pg_temp.generation(), '{d,f}'), 'ready 1 1 1', 'a new plan is');
delete from app.sources where source_key = 'd';
select throws_ok(
    $$ select pg_temp.swap('newer', (select generation from planned), '{d,f}') $$,
    'PT409', 'reindex_running', 'C3: a source that was deleted since the plan is another state too');

select * from finish();
rollback;
