-- No policy holds the service, which indexes for the operator: in the works the brand that it named
-- is the only wall. Two brands have the same keys; whatever is done for one leaves the other alone.
begin;
select plan(15);

select test.add_source('one', 'a', '{one a}', '{1}', 'price');
select test.add_source('two', 'a', '{"two 9 €","two b"}', '{1,1}', 'price');
select test.add_source('two', 'b', '{two b}', '{1}');
create temporary table runs (name text, id uuid);
create temporary table before (rows text[]);
grant select, insert on runs, before to public;
create function pg_temp.run(p_name text) returns uuid
language sql
as $$ select id from runs where name = p_name $$;
create function pg_temp.rows_of_two() returns text[]
language sql
as $$
    select array_agg(r.row_version order by r.row_version)
    from (
        select concat_ws('/', tableoid, ctid, xmin, cmin, tenant_id) from app.chunks
        union all select concat_ws('/', tableoid, ctid, xmin, cmin, tenant_id) from app.sources
        union all select concat_ws('/', tableoid, ctid, xmin, cmin,
        tenant_id) from app.chunk_embeddings_local
        union all select concat_ws('/', tableoid, ctid, xmin, cmin, tenant_id) from app.reindex_runs
    ) r (row_version)
    where r.row_version ~ test.id('two')::text
$$;
create function pg_temp.apply(p_name text, p_key text, p_contents text[]) returns text
language sql
as $$
    select concat_ws(' ', r.status, r.added, r.kept, r.removed)
    from test.reindex(pg_temp.run(p_name), p_key, p_contents, '{}', null, 'price') r
$$;

select test.act_as('service', 'one');
insert into runs select 'one', test.start_run(true);
select test.act_as('service', 'two');
insert into runs select 'two', test.start_run(true);
select is(
    pg_temp.apply('two', 'a', '{"two 9 €","two b"}'), 'unchanged 0 2 0',
    'a later run of the other brand');
insert into before select pg_temp.rows_of_two();

select test.act_as('service', 'one');
select results_eq(
    $$ select new_places, kept, removed
    from api.plan_reindex(pg_temp.run('one'), 'price', 'a', test.hashes('{""}', '{two b}'), '{""}', '{local}') $$,
    $$ values ('{0}'::integer[], 0, 1) $$, 'a plan compares with the chunks of the brand');
select is(
    pg_temp.apply('one', 'a', '{two b}'), 'ready 1 0 1',
    'the later run of the other brand is no newer snapshot');
select is(
    api.put_embeddings('price', 'a', 'local', 'all-MiniLM-L6-v2', '{0}',
        test.hashes('{""}', '{two b}'), array[test.at_cosine(1)::text]), 1,
    'a vector is written for the chunk of the brand');
select api.fail_source(pg_temp.run('one'), 'b', 'unreadable');
select results_eq(
    $$ select count(*) from api.stale_chunks() $$, array[0::bigint],
    'the stale prices are those of the brand');
select results_eq(
    $$ select chunks, vectors from api.index_coverage() where index_name = 'local' $$,
    $$ values (1::bigint, 1::bigint) $$, 'so is the coverage');
select results_eq(
    $$ select status, added, removed, failed, retired
    from api.finish_reindex(pg_temp.run('one'), '{a}') $$,
    $$ values ('partial', 1::bigint, 1::bigint, 1::bigint, 0) $$,
    'and what a complete run retires');

-- the run of the other brand is not there
select throws_ok(
    $$ select pg_temp.apply('two', 'a', '{x}') $$, 'PT404', 'not_found', 'to write into');
select throws_ok(
    $$ select api.fail_source(pg_temp.run('two'), 'a', 'r') $$, 'PT404', 'not_found', 'to fail');
select throws_ok(
    $$ select api.get_reindex(pg_temp.run('two')) $$, 'PT404', 'not_found', 'to look at');
select throws_ok(
    $$ select api.finish_reindex(pg_temp.run('two'), '{a}') $$, 'PT404', 'not_found', 'or to end');
select throws_ok(
    $$ select api.put_embeddings('faq', 'b', 'local', 'all-MiniLM-L6-v2', '{0}',
        test.hashes('{""}', '{two b}'), array[test.at_cosine(1)::text]) $$,
    'PT400', 'bad_request', 'nor is a source that only the other brand has');
select is(
    pg_temp.rows_of_two(), (select rows from before), 'not one row of the other brand was written');
select results_eq(
    $$ select content from app.chunks where tenant_id = test.id('one') $$, array['two b'],
    'while the brand has its new text');
select test.act_as('service');
select throws_ok(
    $$ select api.start_reindex(true) $$, 'PT403', 'not_a_member',
    'without a name the service indexes nothing');

select * from finish();
rollback;
