-- The life of a reindex run: what it counts, what fails, what it retires.
begin;
select plan(30);

create temporary table runs (name text, id uuid);
grant select, insert on runs to public;
create function pg_temp.start(p_name text, p_is_complete boolean default true) returns void
language sql
as $$ insert into runs select p_name, test.start_run(p_is_complete) $$;
create function pg_temp.run(p_name text) returns uuid
language sql
as $$ select id from runs where name = p_name $$;
create function pg_temp.finish(p_name text, p_listing text[]) returns text
language sql
as $$
    select concat_ws(' ', f.status, f.added, f.changed, f.kept, f.removed, f.failed, f.retired)
    from api.finish_reindex(pg_temp.run(p_name), p_listing) f
$$;
create function pg_temp.sources() returns text
language sql
as $$
    select string_agg(
        concat_ws(':', s.source_key, s.status, cardinality(s.chunk_ids)), ' ' order by 1)
    from app.sources s
$$;

select test.act_as('bob');
select pg_temp.start('first');
select test.reindex(pg_temp.run('first'), 'a', '{a1,a2}');
select test.reindex(pg_temp.run('first'), 'b', '{b1}');
select is(
    (select status from api.get_reindex(pg_temp.run('first'))), 'running', 'a run is running');
select is(pg_temp.finish('first', '{a,b}'), 'ready 3 0 0 0 0 0', 'and ready when all sources are');
select is(
    (select tenant || ' ' || (finished_at = now()) || ' ' || sources
    from api.get_reindex(pg_temp.run('first'))),
    'one true [{"key": "a", "reason": null, "status": "ready"}, '
        '{"key": "b", "reason": null, "status": "ready"}]',
    'it keeps what happened to each source');
select throws_ok(
    $$ select pg_temp.finish('first', '{}') $$, 'PT404', 'not_found', 'it ends once');

-- a broken document stops itself only
select pg_temp.start('second');
select test.reindex(pg_temp.run('second'), 'a', '{a1,a2}');
select api.fail_source(pg_temp.run('second'), 'b', 'table without a header');
select is(
    pg_temp.finish('second', '{a,b}'), 'partial 0 0 2 0 1 0',
    'a run with a broken document is partial');
select is(pg_temp.sources(), 'a:ready:2 b:error:1', 'what was indexed of it before stays');
select is(
    (select s.status_reason from app.sources s where s.source_key = 'b'), 'table without a header',
    'with the reason');
select pg_temp.start('third');
select api.fail_source(pg_temp.run('third'), 'new', repeat('x', 600));
select is(
    pg_temp.finish('third', '{a,b,new}'), 'failed 0 0 0 0 1 0',
    'a run in which nothing went well failed');
select is(
    (select length(sources -> 0 ->> 'reason') from api.get_reindex(pg_temp.run('third'))), 500,
    'a long reason is cut');
-- O35: the hash of a document that failed was not kept, so the next run tries again
select pg_temp.start('fourth');
select is(
    (select r.status || r.added from test.reindex(pg_temp.run('fourth'), 'new', '{n1}') r),
    'ready1',
    'the document that never was indexed is new');
select is(
    (select r.status || r.kept from test.reindex(pg_temp.run('fourth'), 'b', '{b1}') r), 'ready1',
    'the one that was broken is ready again');
select is(pg_temp.finish('fourth', '{a,b,new}'), 'ready 1 0 1 0 0 0', 'as the run says');
select is(pg_temp.sources(), 'a:ready:2 b:ready:1 new:ready:1', 'all is well');

-- retiring
select pg_temp.start('some', false);
select is(pg_temp.finish('some', '{a}'), 'ready 0 0 0 0 0 0', 'a run of some sources retires none');
select pg_temp.start('empty');
select is(
    pg_temp.finish('empty', '{}'), 'ready 0 0 0 0 0 0',
    'an empty listing is a broken crawl: it retires none');
select pg_temp.start('null');
select is(pg_temp.finish('null', null), 'ready 0 0 0 0 0 0', 'so is a missing one');
select pg_temp.start('listed');
select api.fail_source(pg_temp.run('listed'), 'b', 'unreadable today');
select is(
    pg_temp.finish('listed', '{b,new}'), 'failed 0 0 0 0 1 1',
    'a complete listing retires what it lacks');
select is(pg_temp.sources(), 'b:error:1 new:ready:1', 'and not what could not be read');
select is_empty(
    $$ select from app.chunks where content ~ '^a' $$, 'the chunks go with their source');

-- by whom, and for whom
select test.act_as('superuser');
select test.add_source('two', 'z', '{z1}');
select test.act_as('bob');
select pg_temp.start('own');
select pg_temp.finish('own', '{new}');
select test.act_as('superuser');
select is(
    (select count(*) from app.sources where tenant_id = test.id('two')), 1::bigint,
    'another brand keeps its sources');
select test.act_as('bob');
select pg_temp.start('open');
select test.act_as('alice');
select throws_ok(
    $$ select pg_temp.finish('open', '{}') $$, 'PT403', 'not_an_admin', 'a rep ends no run');
select throws_ok(
    $$ select api.get_reindex(pg_temp.run('open')) $$, 'PT403', 'not_an_admin',
    'and looks at none');
select throws_ok(
    $$ select api.fail_source(pg_temp.run('open'), 'a', 'r') $$, 'PT403', 'not_an_admin',
    'and lets none fail');
select test.act_as('dave');
select throws_ok(
    $$ select pg_temp.finish('open', '{z}') $$, 'PT404', 'not_found',
    'to another brand it is not there');
select throws_ok(
    $$ select api.get_reindex(pg_temp.run('open')) $$, 'PT404', 'not_found', 'to look at');
select throws_ok(
    $$ select api.fail_source(pg_temp.run('open'), 'z', 'r') $$, 'PT404', 'not_found',
    'or to fail');
select throws_ok(
    $$ select api.fail_source(test.id('no run'), 'z', 'r') $$, 'PT404', 'not_found',
    'just as no run at all');
select test.act_as('bob');
select pg_temp.start('cut');
select api.fail_source(pg_temp.run('cut'), 'gone', 'r');
select is(
    (select r.status || ' ' || r.retired from api.finish_reindex(pg_temp.run('cut'), '{new}', true) r),
    'failed 0', 'a run that was interrupted is no success and retires nothing');
select test.act_as('pat', 'one');
select is(
    pg_temp.finish('open', '{new}'), 'ready 0 0 0 0 0 0', 'a platform admin ends it for the brand');
select test.act_as('superuser');
select is(pg_temp.sources(), 'new:ready:1 z:ready:1', 'and nobody touched the other');

select * from finish();
rollback;
