-- What every function must be.
begin;
select test.load_plpgsql_check();
select plan(12);

create temporary view functions as
select p.oid, n.nspname as schema, (n.nspname || '.' || p.proname) collate "default" as name,
    p.prosecdef, p.proconfig,
    p.provolatile, p.proargnames, p.proargmodes, p.prosrc, p.prosqlbody, l.lanname as language
from pg_proc p
join pg_namespace n on n.oid = p.pronamespace
join pg_language l on l.oid = p.prolang
where n.nspname in ('api', 'app', 'private');

select cmp_ok((select count(*) from functions), '>=', 70::bigint, 'the functions are found');
select is_empty(
    'select name from functions where schema = ''app''', 'app holds no function');
select is_empty(
    $$ select name from functions where prosecdef and schema <> 'private' $$,
    'no function outside private runs as its owner');
select set_eq(
    'select name from functions where prosecdef',
    'select name from private.definers()',
    'the functions that run as their owner are those of the register, each with a reason');
select is_empty(
    $$ select name from functions
    where proconfig is null or not proconfig @> array['search_path=""'] $$,
    'every function pins an empty search_path');
select is_empty(
    $$ select name from functions where language not in ('sql', 'plpgsql') $$,
    'functions are written in sql or plpgsql');
-- api.f() with its body bound at creation calls private.f() without USAGE on private, so that
-- nobody can call private.f() with a time or a brand of their choice
select is_empty(
    $$ select name from functions
    where schema = 'api' and (language <> 'sql' or prosqlbody is null) $$,
    'a door is bound when it is made (begin atomic)');
select is_empty(
    $$ select f.name, a.name from functions f, unnest(f.proargnames) a (name)
    where f.schema = 'api' and a.name ~ '^p_(tenant(_id|_slug)?|user_id|now|time|cap)$' $$,
    'no door takes a brand, a user, a time or a cap');
select is_empty(
    $$ select f.name, a.name from functions f, unnest(f.proargnames, f.proargmodes) a (name, mode)
    where coalesce(a.mode, 'i') in ('i', 'b') and a.name !~ '^p_'
        -- its parameter is named by the contract of Supabase Auth
        and f.name <> 'private.custom_access_token_hook' $$,
    'parameters are named p_…, so that none can be taken for a column');
-- O70: a statement is never put together from text
select is_empty(
    $$ select name from functions where prosrc ~* '\mexecute\M' $$, 'no function runs dynamic SQL');
-- O53: an operator of an extension is named with its schema wherever names are bound at run time
select is_empty(
    $$ select name from functions
    where language = 'plpgsql' and regexp_replace(prosrc, 'operator\(extensions\.<[=#+~%-]>\)', '',
    'gi') ~ '<[=#+~%-]>' $$,
    'vector operators are written operator(extensions.…)');

create function pg_temp.findings() returns setof text
language plpgsql
as $$
begin
    if exists (select from pg_extension where extname = 'plpgsql_check') then
        return query execute 'select f.name || '': '' || c from functions f
            join pg_proc p on p.oid = f.oid,
            plpgsql_check_function(f.oid, extra_warnings => false, performance_warnings => false,
                relid => case when p.prorettype = ''trigger''::regtype
                    then ''app.chunks''::regclass else 0 end,
                newtable => case when p.prorettype = ''trigger''::regtype then ''new_chunks'' end) c
            where f.language = ''plpgsql''';
    end if;
end
$$;
select is_empty('select pg_temp.findings()', 'plpgsql_check, where there is one, finds nothing');

select * from finish();
rollback;
