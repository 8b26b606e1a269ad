-- What a reindex does to the dates of facts: nothing, unless somebody verified the document again.
begin;
select plan(26);

create function pg_temp.apply(p_contents text[], p_source jsonb) returns text
language sql
as $$
    select concat_ws(' ', r.status, r.added, r.kept, r.removed)
    from test.reindex(test.start_run(), 'prices', p_contents, p_source, null, 'price') r
$$;
-- each passage with its age in days, and whether a row was written
create function pg_temp.ages() returns text
language sql
as $$
    select string_agg(
        c.content || ' ' || coalesce(extract(day from now() - c.verified_at)::text, 'never'), ', '
        order by c.content)
    from app.chunks c
$$;
create function pg_temp.days_ago(p_days integer) returns jsonb
language sql stable
return jsonb_build_object('verified_at', now() - make_interval(days => p_days), 'title', 'Prices');
create function pg_temp.row_versions() returns text[]
language sql
return array(select c.ctid || ' ' || c.content from app.chunks c order by 1);

select test.act_as('bob');

-- O38: a price that was verified 95 days ago, reindexed without a change
select is(
    pg_temp.apply('{"A 9 €","B 8 €"}', pg_temp.days_ago(95)), 'ready 2 0 0',
    'two prices are added');
select is(pg_temp.ages(), 'A 9 € 95, B 8 € 95', 'with the date that the document declares');
create temporary table before as select pg_temp.row_versions() as versions;
select is(
    pg_temp.apply('{"A 9 €","B 8 €"}', pg_temp.days_ago(95)), 'unchanged 0 2 0', 'the same again');
select is(pg_temp.row_versions(), (select versions from before), 'writes no row');
select is((select count(*) from api.stale_chunks()), 2::bigint, 'both are still stale');

-- metadata alone
select is(
    pg_temp.apply('{"A 9 €","B 8 €"}', pg_temp.days_ago(95) ||
        '{"title":"Fees","url":"https://lumen.example","visibility":"public","metadata":{"p":2}}'),
    'ready 0 2 0', 'title, address, visibility and metadata change the source');
select results_eq(
    'select title, url, visibility, metadata from app.sources',
    $$ values ('Fees', 'https://lumen.example', 'public', '{"p":2}'::jsonb) $$,
    'which says so');
select is(pg_temp.row_versions(), (select versions from before), 'and touch no chunk');
select is((select count(*) from api.stale_chunks()), 2::bigint, 'which stay stale');

-- an older date, and no date at all
select is(
    pg_temp.apply('{"A 9 €","B 8 €"}', pg_temp.days_ago(200)), 'ready 0 2 0',
    'an older date is noted');
select is(pg_temp.row_versions(), (select versions from before), 'and makes nothing older');
select is(pg_temp.apply('{"A 9 €","B 8 €"}', '{}'), 'ready 0 2 0', 'so is a date that vanished');
select is(pg_temp.row_versions(), (select versions from before), 'and makes nothing older');

-- a person verifies one, the document comes again with its old date
select api.verify_chunk((select id from app.chunks where content = 'A 9 €'));
select is(pg_temp.ages(), 'A 9 € 0, B 8 € 95', 'one was verified today');
select api.verify_chunk((select id from app.chunks where content = 'B 8 €'));
update app.chunks set verified_at = now() - interval '95 days' where content = 'B 8 €';
select is(
    pg_temp.apply('{"A 9 €","B 8 €","C 7 €"}', pg_temp.days_ago(30)), 'ready 1 2 0',
    'a newer date, but older than that, and one more price');
select is(
    pg_temp.ages(), 'A 9 € 0, B 8 € 30, C 7 € 30',
    'makes fresh what was older, leaves what a person verified later, dates what is new');
select is((select count(*) from api.stale_chunks()), 0::bigint, 'nothing is stale any more');
select is(
    (select verified_by from app.chunks where content = 'A 9 €'), test.id('bob'),
    'what a person verified carries the name');
select is(
    (select verified_by from app.chunks where content = 'B 8 €'), null,
    'what the document dates anew does not carry that of who said so before');

-- a changed price is a new fact: it has the date of the document, not that of the old one
select is(
    pg_temp.apply('{"A 10 €","B 8 €","C 7 €"}', pg_temp.days_ago(30)), 'ready 1 2 1',
    'a price changes');
select is(
    pg_temp.ages(), 'A 10 € 30, B 8 € 30, C 7 € 30', 'and loses what a person said of the old one');
select is(
    pg_temp.apply('{"D 5 €"}', '{}'), 'ready 1 0 3', 'a document without a date');
select is(pg_temp.ages(), 'D 5 € never', 'gives facts that nobody verified');

-- O39: 1,200 prices in one source, none of which is out of sight
select pg_temp.apply(array(select 'P' || n || ' 3 €' from generate_series(1, 1200) n), '{}');
select is(
    pg_temp.apply(array(select 'P' || n || ' 3 €' from generate_series(1200, 1, -1) n), '{}'),
    'ready 0 1200 0', 'of 1,200 passages all are kept');
select pg_temp.apply('{"D 5 €"}', '{}');

-- a date to come
select is(
    pg_temp.apply('{"D 5 €","E 4 €"}', pg_temp.days_ago(-3000)), 'ready 1 1 0',
    'a document that says it was verified in years to come');
select is(
    pg_temp.ages(), 'D 5 € 0, E 4 € 0', 'was verified today: the price grows old as others do');

select * from finish();
rollback;
