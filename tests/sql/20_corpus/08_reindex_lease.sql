-- A run lives as long as its process says so; and whatever is said twice about a source is no fault.
begin;
select plan(34);

create temporary table runs (name text, id uuid);
grant select, insert on runs to public;
create function pg_temp.start(p_name text, p_is_complete boolean default false) returns void
language sql
as $$ insert into runs select p_name, test.start_run(p_is_complete) $$;
create function pg_temp.run(p_name text) returns uuid
language sql
as $$ select id from runs where name = p_name $$;
create function pg_temp.silent(p_name text) returns void
language sql
as $$
    -- as if it had said nothing for a minute and a second
    update app.reindex_runs set lease_ends_at = lease_ends_at - interval '61 seconds'
    where id = pg_temp.run(p_name)
$$;
create function pg_temp.state(p_name text) returns text
language sql
as $$
    select concat_ws(' ', r.status, r.reason, r.failed, r.superseded)
    from api.get_reindex(pg_temp.run(p_name)) r
$$;
create function pg_temp.noted(p_name text) returns text
language sql
as $$
    select string_agg(concat_ws(':', d.source_key, d.status, d.reason, d.added), ' '
        order by d.source_key)
    from app.reindex_run_sources d where d.run_id = pg_temp.run(p_name)
$$;
create function pg_temp.source(p_key text) returns text
language sql
as $$
    select concat_ws(':', s.status, s.status_reason) from app.sources s where s.source_key = p_key
$$;

-- O105: the lease
select test.act_as('bob');
select pg_temp.start('one'), pg_temp.start('other');
select is(
    (select lease_ends_at from app.reindex_runs where id = pg_temp.run('one')),
    now() + interval '1 minute', 'a run is taken for alive for a minute');
select pg_temp.silent('one');
select api.renew_reindex(pg_temp.run('one'));
select is(pg_temp.state('one'), 'running 0 0', 'and for another when it says that it is');
select test.reindex(pg_temp.run('one'), 'a', '{a1}');
select pg_temp.silent('one');
select is(
    pg_temp.state('one'), 'failed abandoned 0 0',
    'whoever looks at a run that has fallen silent finds it failed, and why');
select is(
    (select finished_at from app.reindex_runs where id = pg_temp.run('one')), now(), 'since when');
select is(pg_temp.noted('one'), 'a:ready:1', 'what it had done is done');
select is(pg_temp.state('other'), 'running 0 0', 'another run is not concerned');
select pg_temp.silent('other');
select pg_temp.start('next');
select is(
    (select status || ' ' || reason from app.reindex_runs where id = pg_temp.run('other')),
    'failed abandoned', 'the next run finds those that nobody looked at');

-- O107: a process that wakes up too late
select throws_ok(
    $$ select api.renew_reindex(pg_temp.run('one')) $$, 'PT404', 'not_found',
    'a run that was given up stays so');
select throws_ok(
    $$ select test.reindex(pg_temp.run('one'), 'a', '{late}') $$, 'PT404', 'not_found',
    'and writes nothing more');
select throws_ok(
    $$ select api.fail_source(pg_temp.run('one'), 'a', 'late') $$, 'PT404', 'not_found',
    'nor lets a source fail');
select throws_ok(
    $$ select api.finish_reindex(pg_temp.run('one'), '{a}') $$, 'PT404', 'not_found', 'nor ends');
select is(pg_temp.source('a'), 'ready', 'the source is as it was');
select test.act_as('alice');
select throws_ok(
    $$ select api.renew_reindex(pg_temp.run('next')) $$, 'PT403', 'not_an_admin',
    'a rep keeps no run alive');
select test.act_as('dave');
select throws_ok(
    $$ select api.renew_reindex(pg_temp.run('next')) $$, 'PT404', 'not_found',
    'nor does another brand');
select pg_temp.start('of two');
select test.act_as('bob');
select pg_temp.silent('next');
select test.act_as('dave');
select pg_temp.start('of two again');
select test.act_as('superuser');
select is(
    (select status from app.reindex_runs where id = pg_temp.run('next')), 'running',
    'which does not judge a run of this one');
select test.act_as('dave');
select api.begin_turn('why?', test.id('asked'));
select test.act_as('superuser');
select is(
    (select status || ' ' || reason from app.reindex_runs where id = pg_temp.run('next')),
    'failed abandoned', 'but the next question of anybody does: the brand may be suspended by now');

-- a source that fails twice in a run, or after it was indexed in it
select test.act_as('bob');
select pg_temp.start('twice');
select api.fail_source(pg_temp.run('twice'), 'a', 'first');
select lives_ok(
    $$ select api.fail_source(pg_temp.run('twice'), 'a', 'second') $$,
    'a source may fail twice in a run');
select is(pg_temp.noted('twice'), 'a:error:second:0', 'the last reason counts');
select is(pg_temp.source('a'), 'error:second', 'also for the source');
create temporary table before as select s.ctid as at from app.sources s where source_key = 'a';
select api.fail_source(pg_temp.run('twice'), 'a', 'second');
select is(
    (select s.ctid from app.sources s where source_key = 'a'), (select at from before),
    'which is not written for the same reason again');
select is(
    (select r.status || r.added from test.reindex(pg_temp.run('twice'), 'a', '{a1,a2}') r), 'ready1',
    'it may be indexed after all');
select is(pg_temp.noted('twice'), 'a:ready:1', 'and then has not failed');
select is(pg_temp.source('a'), 'ready', 'nor is the source broken');
select api.fail_source(pg_temp.run('twice'), 'a', 'the answer was lost on the way');
select is(
    pg_temp.noted('twice'), 'a:ready:1',
    'what was indexed is indexed, though the process did not learn it');
select is(pg_temp.source('a'), 'ready', 'so the source is well');
select is(
    (select r.status || r.kept from test.reindex(pg_temp.run('twice'), 'a', '{a1,a2}') r),
    'unchanged2', 'and the same again is no fault');
select is(pg_temp.noted('twice'), 'a:unchanged:0', 'the run holds the last word');

-- C4: an older run that fails where a newer one has succeeded
select pg_temp.start('old'), pg_temp.start('new');
select test.reindex(pg_temp.run('new'), 'a', '{a1,a2,a3}');
select api.fail_source(pg_temp.run('old'), 'a', 'newer_snapshot');
select is(
    pg_temp.noted('old'), 'a:superseded:newer_snapshot:0', 'an older run leaves the source to it');
select is(pg_temp.source('a'), 'ready', 'which is not broken by that');
select is(
    (select r.status || r.superseded || r.failed from api.finish_reindex(pg_temp.run('old'), null) r),
    'ready10', 'to be superseded is no failure');
select pg_temp.start('broken');
select test.reindex(pg_temp.run('broken'), 'b', '{b1}');
select api.fail_source(pg_temp.run('broken'), 'a', 'unreadable');
select api.fail_source(pg_temp.run('new'), 'a', 'no matter');
select is(pg_temp.noted('new'), 'a:ready:1', 'a newer failure takes nothing from an older success');
select is(pg_temp.source('a'), 'error:unreadable', 'the source says that its newest version failed');

-- O40 O41: locks end with their transaction
select test.act_as('superuser');
select is_empty(
    $$ select p.oid::regprocedure from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where n.nspname in ('api', 'app', 'private')
        and p.prosrc || coalesce(pg_get_function_sqlbody(p.oid), '')
            ~ 'advisory(_unlock\w*|_lock\w*)' $$,
    'no lock outlives its transaction');
select cmp_ok(
    (select count(*) from pg_proc p where p.pronamespace = 'private'::regnamespace
        and p.prosrc ~ 'pg_advisory_xact_lock'), '>=', 2::bigint, 'there are such that do not');

select * from finish();
rollback;
