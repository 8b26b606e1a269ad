-- Reindex runs: rows that only an admin sees, and that add up.
begin;
select plan(12);

select test.act_as('bob');
create temporary table runs as select test.start_run(true) as one;
grant select, insert on runs to public;
select results_eq(
    'select status, is_complete, requested_by, finished_at from app.reindex_runs',
    $$ values ('running', true, test.id('bob'), null::timestamptz) $$,
    'an admin starts a run, by name');
insert into runs select test.start_run();
select is(
    (select count(distinct generation) from app.reindex_runs), 2::bigint,
    'each run has its own generation');
select cmp_ok(
    (select generation from app.reindex_runs where is_complete), '<',
    (select generation from app.reindex_runs where not is_complete),
    'a later run has a greater one');
select is(
    test.outcome($$ update app.reindex_runs set generation = 99 $$), '428C9',
    'which nobody chooses');
select is(
    test.outcome($$ update app.reindex_runs set status = 'ready' $$), '23514',
    'a run that ended says when it ended');
select is(
    test.outcome($$ insert into app.reindex_runs (tenant_id, is_complete)
        values (test.id('two'), true) $$),
    '42501', 'nobody starts a run of another brand');

select test.act_as('alice');
select throws_ok('select api.start_reindex(true)', 'PT403', 'not_an_admin', 'a rep starts no run');
select is_empty('select from app.reindex_runs', 'and sees none');
select test.act_as('dave');
select is_empty('select from app.reindex_runs', 'nor does another brand');
select throws_ok(
    $$ select api.get_reindex((select min(one::text)::uuid from runs)) $$, 'PT404', 'not_found',
    'a run of another brand is not there');
select throws_ok(
    $$ select api.get_reindex(test.id('nothing')) $$, 'PT404', 'not_found',
    'just as one that nobody started');
select is(
    test.outcome(format('insert into app.reindex_run_sources (tenant_id, run_id, source_key, status)
        values (%L, %L, ''x'', ''ready'')', test.id('two'), (select min(one::text) from runs))),
    '23503', 'and cannot be written into');

select * from finish();
rollback;
