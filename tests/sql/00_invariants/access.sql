-- Everybody tries everything on every table: select, insert, update, delete of rows of brand one.
-- A new table fails here until somebody has written down who may do what with it.
begin;
select plan(3);

-- a row of brand one in every table
select test.add_source('one', 'open', '{lantern}', '{1}');
insert into app.chunk_embeddings_primary
select tenant_id, id, test.at_cosine(1, 768) from app.chunks;
insert into app.chunk_embeddings_fallback
select tenant_id, id, test.at_cosine(1, 768) from app.chunks;
insert into app.reindex_runs (tenant_id, id, is_complete)
values (test.id('one'), test.id('run'), false);
insert into app.reindex_run_sources (tenant_id, run_id, source_key, status)
values (test.id('one'), test.id('run'), 'open', 'ready');
insert into app.turns (tenant_id, id, conversation_id, user_id, status, question)
values (test.id('one'), test.id('turn'), test.id('turn'), test.id('alice'), 'running', 'why?');
insert into app.turn_sources
    (tenant_id, turn_id, place, content_hash, source_type, title, heading_path, similarity)
values (test.id('one'), test.id('turn'), 0, '\x00', 'faq', '', '', 1);
insert into private.user_minutes values (test.id('alice'), now(), 1);
insert into private.tenant_days values (test.id('one'), current_date, 1);
insert into private.model_days (pool, model, day)
select 'shared', name, current_date from app.models limit 1;
insert into private.turn_reservations
    (tenant_id, turn_id, run, user_id, minute, day, global_day, lease_ends_at)
values (test.id('one'), test.id('turn'), 1, test.id('alice'), now(), current_date, current_date, now());
insert into private.call_reservations (tenant_id, turn_id, run, number, pool, model, day)
select test.id('one'), test.id('turn'), 1, 0, pool, model, day from private.model_days;

insert into private.reindex_calls (tenant_id, run_id, model, pool, day, calls)
select test.id('one'), test.id('run'), model, pool, day, 1 from private.model_days;

create temporary table targets as
select c.oid, c.oid::regclass::text collate "default" as name,
    case when c.oid = 'app.tenants'::regclass then format('where id = %L', test.id('one'))
        when exists (select from pg_attribute a
            where a.attrelid = c.oid and a.attname = 'tenant_id')
        then format('where tenant_id = %L', test.id('one')) else '' end as rows_of_one
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where n.nspname in ('app', 'private') and c.relkind in ('r', 'p', 'v');
grant select on targets to public;
select is_empty(
    $$ select name from targets
    where test.outcome(format('select from %s %s', name, rows_of_one)) = '0' $$,
    'there is something to steal in every table');

create function pg_temp.try(p_sql text) returns text
language sql
as $$
    -- - forbidden, 0 sees no row, n sees some, > passed the policies and met a constraint
    select case when o = '42501' then '-' when o = '0' then '0' when length(o) < 5 then 'n'
        when o ~ '^23' then '>' else o end
    from test.outcome(p_sql) o
$$;
create function pg_temp.try_all(p_who text, p_tenant text default '')
returns table (name text, cells text)
language plpgsql
as $$
begin
    perform test.act_as(p_who, p_tenant);
    return query
    select t.name, pg_temp.try(format('select from %s %s', t.name, t.rows_of_one))
        || pg_temp.try(format(case when t.rows_of_one ~ 'tenant_id'
            then 'insert into %s (tenant_id) values (%L)'
            else 'insert into %s default values' end, t.name, test.id('one')))
        || pg_temp.try(format('update %1$s set %3$I = %3$I %2$s', t.name, t.rows_of_one, coalesce(
            (select min(a.attname) from pg_attribute a where a.attrelid = t.oid and a.attnum > 0
                and has_column_privilege(a.attrelid, a.attnum, 'update')),
            (select a.attname from pg_attribute a where a.attrelid = t.oid and a.attnum = 1))))
        || pg_temp.try(format('delete from %s %s', t.name, t.rows_of_one))
    from targets t;
end
$$;

create function pg_temp.grid()
returns table (name text, strangers text, reps text, admins text, service text)
language plpgsql
as $$
begin
    return query
    select v.name,
        concat_ws(' ', v.cells, e.cells, p.cells, c.cells, d.cells), a.cells,
        concat_ws(' ', b.cells, q.cells), s.cells
    from pg_temp.try_all('visitor') v
    join pg_temp.try_all('eve') e using (name)
    join pg_temp.try_all('pat') p using (name)
    join pg_temp.try_all('carol') c using (name)
    join pg_temp.try_all('dave') d using (name)
    join pg_temp.try_all('alice') a using (name)
    join pg_temp.try_all('bob') b using (name)
    join pg_temp.try_all('pat', 'one') q using (name)
    join pg_temp.try_all('service') s using (name);
    perform test.act_as('superuser');
end
$$;
create temporary table grid as select * from pg_temp.grid();

select set_eq(
    $$ select name, strangers, reps, admins, service from grid where name not like 'private.%' $$,
    -- a cell: select insert update delete, of
    -- visitor, eve, pat, carol and dave | alice | bob, and pat acting for brand one | the service
    $$ values
        ('app.chunk_embeddings_fallback',  '---- 0--- 0--- 0--- 0---', 'n---', 'n>-- n>--', 'n>--'),
        ('app.chunk_embeddings_local',     '---- 0--- 0--- 0--- 0---', 'n---', 'n>-- n>--', 'n>--'),
        ('app.chunk_embeddings_primary',   '---- 0--- 0--- 0--- 0---', 'n---', 'n>-- n>--', 'n>--'),
        ('app.chunk_terms',                '---- 0--- 0--- 0--- 0---', 'n---', 'n--- n---', 'n---'),
        ('app.chunks',                     '---- 0-00 0-00 0-00 0-00', 'n-00', 'n>nn n>nn', 'n>nn'),
        ('app.embedding_indexes',          '---- 0--- 0--- n--- n---', 'n---', 'n--- n---', 'n---'),
        ('app.members',                    '---- 0--- 0--- 0--- 0---', 'n---', 'n--- n---', 'n---'),
        ('app.models',                     '---- 0--- 0--- n--- n---', 'n---', 'n--- n---', 'n---'),
        ('app.personas',                   '---- 0--- 0--- 0--- 0---', 'n---', 'n--- n---', 'n---'),
        ('app.platform_admins',            '---- 0--- n--- 0--- 0---', '0---', '0--- n---', 'n---'),
        ('app.reindex_run_sources',        '---- 0-0- 0-0- 0-0- 0-0-', '0-0-', 'n>n- n>n-', 'n>n-'),
        ('app.reindex_runs',               '---- 0-0- 0-0- 0-0- 0-0-', '0-0-', 'n>n- n>n-', 'n>n-'),
        ('app.sources',                    '---- 0-00 0-00 0-00 0-00', 'n-00', 'n>nn n>nn', 'n>nn'),
        ('app.tenant_limits',              '---- 0--- 0--- 0--- 0---', 'n---', 'n--- n---', 'n---'),
        ('app.tenants',                    '---- 0--- 0--- 0--- 0---', 'n---', 'n--- n---', 'n---'),
        ('app.turn_sources',               '---- 0--- 0--- 0--- 0---', 'n---', 'n--- n---', 'n---'),
        ('app.turns',                      '---- 0--- 0--- 0--- 0---', 'n---', 'n--- n---',
        'n---') $$,
    'each may do exactly this');
select is_empty(
    $$ select name, g.* from grid g where name like 'private.%'
        and translate(concat(strangers, reps, admins, service), '- ', '') <> '' $$,
    'nobody touches a table of private');

select * from finish();
rollback;
