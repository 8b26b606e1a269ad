-- A run that would remove much of a brand stops, and asks. An empty crawl empties no brand.
begin;
select plan(24);

create temporary table runs (name text, id uuid);
grant select, insert on runs to public;
create function pg_temp.start(p_name text, p_allowed integer default null) returns void
language sql
as $$ insert into runs select p_name, r.run_id from api.start_reindex(true, p_allowed) r $$;
create function pg_temp.run(p_name text) returns uuid
language sql
as $$ select id from runs where name = p_name $$;
create function pg_temp.numbered(p_key text, p_from integer, p_to integer) returns text[]
language sql
as $$ select array_agg(p_key || n) from generate_series(p_from, p_to) n $$;
create function pg_temp.finish(p_name text, p_listing text[]) returns text
language sql
as $$
    select concat_ws(' ', f.status, f.reason, f.retired, f.refused_removal)
    from api.finish_reindex(pg_temp.run(p_name), p_listing) f
$$;
create function pg_temp.refused(p_name text, p_key text, p_contents text[]) returns integer
language sql
as $$
    select p.refused_removal
    from (select array_fill(''::text, array[cardinality(p_contents)])) h (headings),
        api.plan_reindex(pg_temp.run(p_name), 'faq', p_key, test.hashes(h.headings, p_contents),
            h.headings, '{}') p
$$;
create function pg_temp.chunks() returns bigint
language sql
as $$ select count(*) from app.chunks $$;

update app.tenant_limits set removal_percent = 20;
select test.act_as('bob');
select pg_temp.start('first');
select test.reindex(pg_temp.run('first'), k.key, pg_temp.numbered(k.key, 1, 10))
from unnest('{a,b,c,d,e}'::text[]) k (key);
select is(pg_temp.finish('first', '{a,b,c,d,e}'), 'ready 0', 'a brand of fifty passages');
select is(
    (select removal_limit from app.reindex_runs where id = pg_temp.run('first')), 0,
    'that had none to lose before');

-- what is gone from the library
select pg_temp.start('two gone');
select is(
    pg_temp.finish('two gone', '{a,b,c}'), 'failed removal_refused 0 20',
    'two of five sources are more than a fifth: the run asks');
select is(pg_temp.chunks(), 50::bigint, 'and removes nothing');
select is(
    (select is_listed from app.reindex_runs where id = pg_temp.run('two gone')), false,
    'its listing counts for no other run');
select pg_temp.start('allowed too few', 19);
select is(
    pg_temp.finish('allowed too few', '{a,b,c}'), 'failed removal_refused 0 20',
    'who allows 19 does not allow 20');
select pg_temp.start('none', 0);
select is(
    pg_temp.finish('none', '{a,b,c,d}'), 'failed removal_refused 0 10',
    'who allows none allows less than the brand');
select pg_temp.start('one gone');
select is(pg_temp.finish('one gone', '{a,b,c,d}'), 'ready 1', 'a fifth may go');
select pg_temp.start('allowed', 20);
select is(pg_temp.finish('allowed', '{a,b}'), 'ready 2', 'and as many as a person allows');
select is(pg_temp.chunks(), 20::bigint, 'then they are gone');

-- what is gone from a source
select pg_temp.start('shrinks');
select is(pg_temp.refused('shrinks', 'a', pg_temp.numbered('a', 1, 6)), null, 'four of twenty may go');
select is(
    pg_temp.refused('shrinks', 'a', pg_temp.numbered('a', 1, 5)), 5,
    'of five the plan says so, before anything is embedded');
select throws_ok(
    $$ select test.reindex(pg_temp.run('shrinks'), 'a', pg_temp.numbered('a', 1, 5)) $$, 'PT409',
    'removal_refused', 'and they stay whatever the caller makes of that');
select is(pg_temp.refused('shrinks', 'a', pg_temp.numbered('new', 1, 10)), null,
    'what is replaced is not lost');
select test.reindex(pg_temp.run('shrinks'), 'a', pg_temp.numbered('a', 1, 7));
select is(
    pg_temp.refused('shrinks', 'b', pg_temp.numbered('b', 1, 8)), 5,
    'a source adds to what the run has removed of others');
select is(
    pg_temp.refused('shrinks', 'a', pg_temp.numbered('a', 1, 6)), null,
    'and not to what it has removed of the same');
select is(
    pg_temp.finish('shrinks', '{a}'), 'partial removal_refused 0 13',
    'nor may what is gone from the library, with that');
select is(pg_temp.chunks(), 17::bigint, 'what was removed before stays removed');
select pg_temp.start('told');
select is(
    (select concat_ws(' ', f.status, f.reason, f.refused_removal)
    from api.finish_reindex(pg_temp.run('told'), null, true, 7) f), 'failed removal_refused 7',
    'a run that stopped at its plan says so');

-- another type under the same key
select pg_temp.start('typed');
select test.reindex(pg_temp.run('typed'), 'a', pg_temp.numbered('a', 1, 7), p_type => 'article');
select is(
    pg_temp.finish('typed', '{a,b}'), 'ready 1',
    'a source that is of another type now is not lost');

-- an empty crawl, whatever is allowed; another brand
select pg_temp.start('empty', 1000);
select is(pg_temp.finish('empty', '{}'), 'ready 0', 'an empty crawl removes nothing, allowed or not');
select is(pg_temp.chunks(), 17::bigint, 'so everything is there');
select throws_ok(
    $$ select api.start_reindex(true, -1) $$, '23514', null, 'no number below none can be allowed');
select test.act_as('dave');
select test.reindex(test.start_run(), 'a', '{one,two}');
select throws_ok(
    $$ select test.reindex(test.start_run(), 'a', '{one}') $$, 'PT409', 'removal_refused',
    'half of two passages are more than a fifth of them');

select * from finish();
rollback;
