-- What a reindex would do, told before it does it.
begin;
select plan(15);

create function pg_temp.preview(p_key text, p_contents text[]) returns text
language sql
as $$
    select concat_ws(' ', p.new_places, p.changed, p.kept, p.removed, p.missing)
    from (select array_fill(''::text, array[cardinality(p_contents)])) h (headings),
        api.preview_source('faq', p_key, test.hashes(h.headings, p_contents), h.headings, '{local}') p
$$;
create function pg_temp.listing(p_listing text[]) returns text
language sql
as $$
    select concat_ws(' ', p.pool, p.chunks, p.retired, p.lost, coalesce(p.removal_limit::text, 'all'))
    from api.preview_listing(p_listing) p
$$;

-- by whom
select test.act_as('alice');
select throws_ok($$ select pg_temp.preview('a', '{a1}') $$, 'PT403', 'not_an_admin', 'no rep');
select throws_ok($$ select pg_temp.listing('{a}') $$, 'PT403', 'not_an_admin', 'none at all');
select throws_ok($$ select api.embedding_quota() $$, 'PT403', 'not_an_admin', 'nor the quota');

select test.act_as('bob');
select test.reindex(test.start_run(), 'a', '{a1,a2,a3}');
select test.reindex(test.start_run(), 'b', '{b1,b2}');
create temporary table before as select count(*) as runs from app.reindex_runs;
select is(
    pg_temp.preview('a', '{a1,a4}'), '{1} 1 1 2 {"local": [0, 1]}',
    'what is new, changed, kept, removed and without a vector');
select is(pg_temp.preview('c', '{c1}'), '{0} 0 0 0 {"local": [0]}', 'of a source that is new: all of it');
select is(pg_temp.listing('{a,b}'), 'shared 5 0 0 all', 'everything is there');
select is(pg_temp.listing('{b}'), 'shared 5 1 3 all', 'what a listing lacks, and the chunks with it');
select is(pg_temp.listing('{}'), 'shared 5 0 0 all', 'an empty listing lacks nothing');
select is((select count(*) from app.reindex_runs), (select runs from before), 'there was no run');
select is((select count(*) from app.chunks), 5::bigint, 'and nothing is gone');
select test.act_as('superuser');
update app.tenant_limits set removal_percent = 40;
update app.tenants set quota_pool = 'demo' where id = test.id('one');
select test.act_as('bob');
select is(pg_temp.listing('{b}'), 'demo 5 1 3 2', 'how many may go, and whose key is used');
select test.act_as('dave');
select is(pg_temp.listing('{b}'), 'shared 0 0 0 0', 'another brand hears of its own alone');

-- the quota
select is(
    (select string_agg(concat_ws(' ', q.model, q.calls_left, q.calls_per_day), ', ')
    from api.embedding_quota() q),
    'gemini-embedding-001 1000 1000, gemini-embedding-2 1000 1000', 'a new day');
select test.act_as('superuser');
select private.take_call('demo', 'gemini-embedding-001', now());
select private.close_model('demo', 'gemini-embedding-2', 'quota_day', null, now());
select test.act_as('bob');
select is(
    (select string_agg(concat_ws(' ', q.model, q.calls_left), ', ') from api.embedding_quota() q),
    'gemini-embedding-001 999, gemini-embedding-2 0', 'a call was made, a model is closed');
select test.act_as('dave');
select is(
    (select min(q.calls_left) from api.embedding_quota() q), 1000,
    'which does not concern a brand of another key');

select * from finish();
rollback;
