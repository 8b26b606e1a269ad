-- What every function must be.
begin;
select test.load_plpgsql_check();

create temporary view functions as
select p.oid, n.nspname as schema, (n.nspname || '.' || p.proname) collate "default" as name,
    p.prosecdef, p.proconfig,
    p.provolatile, p.proargnames, p.proargmodes, p.prosrc, p.prosqlbody, l.lanname as language
from pg_proc p
join pg_namespace n on n.oid = p.pronamespace
join pg_language l on l.oid = p.prolang
where n.nspname in ('api', 'app', 'private');

create function pg_temp.findings() returns setof text
language plpgsql
as $$
begin
    if exists (select from pg_extension where extname = 'plpgsql_check') then
        -- performance_warnings would be about casts of single values
        return query execute 'select f.name || '': '' || c from functions f
            -- a trigger function with each table that it stands on
            left join pg_trigger g on g.tgfoid = f.oid,
            plpgsql_check_function(f.oid, security_warnings => true, compatibility_warnings => true,
                relid => coalesce(g.tgrelid, 0), newtable => g.tgnewtable, oldtable => g.tgoldtable) c
            where f.language = ''plpgsql''';
    end if;
end
$$;

insert into test.invariants values
    ('I5', 'no function outside private runs as its owner', $$
        select name from functions where prosecdef and schema <> 'private' $$,
        array[$$ create function api.planted() returns integer language sql security definer
            set search_path = '' return 1 $$]),
    ('I5', 'every function pins an empty search_path', $$
        select name from functions
        where proconfig is null or not proconfig @> array['search_path=""'] $$,
        array['alter function private.tenant_id() reset all',
            'alter function private.is_admin() set search_path = public']),
    ('I5', 'a visitor, PUBLIC or a login may execute none that runs as its owner', $$
        select f.name, r.name from functions f, unnest(
            '{anon,porchlight_runtime,authenticator}'::text[]) r (name)
        where f.prosecdef and has_function_privilege(r.name, f.oid, 'execute') $$,
        array['grant execute on function private.add_member to public',
            -- O64: to revoke from PUBLIC is not enough where anon was granted it by name
            $$ grant execute on function private.add_member to anon;
            revoke execute on function private.add_member from public $$]),
    ('I', 'app holds no function', $$ select name from functions where schema = 'app' $$,
        array['create function app.planted() returns integer language sql return 1']),
    ('I', 'functions are written in sql or plpgsql', $$
        select name from functions where language not in ('sql', 'plpgsql') $$,
        array[$$ create function private.planted(integer) returns integer
            language internal as 'int4up' $$]),
    -- api.f() with its body bound at creation calls private.f() without USAGE on private, so that
    -- nobody can call private.f() with a time or a brand of their choice
    ('I', 'a door is bound when it is made (begin atomic)', $$
        select name from functions
        where schema = 'api' and (language <> 'sql' or prosqlbody is null) $$,
        array[$$ create function api.planted() returns integer language sql as 'select 1' $$]),
    -- O65: the brand is claimed by the token or named for the transaction, and checked
    ('I', 'no door takes a brand, a user, a time or a cap', $$
        select f.name, a.name from functions f, unnest(f.proargnames) a (name)
        where f.schema = 'api' and a.name ~ '^p_(tenant(_id|_slug)?|user_id|now|time|cap)$' $$,
        array['create function api.planted(p_tenant_id uuid) returns integer language sql return 1',
            'create function api.planted(p_now timestamptz) returns integer language sql return 1']),
    ('I', 'parameters are named p_…, so that none can be taken for a column', $$
        select f.name, a.name from functions f, unnest(f.proargnames, f.proargmodes) a (name, mode)
        where coalesce(a.mode, 'i') in ('i', 'b') and a.name !~ '^p_'
            -- its parameter is named by the contract of Supabase Auth
            and f.name <> 'private.custom_access_token_hook' $$,
        array['create function private.planted(tenant_id uuid) returns integer language sql return 1']),
    ('I', 'no function has two faces (PostgREST and grants by name need one)', $$
        select name from functions group by name having count(*) > 1 $$,
        array['create function api.verify_chunk() returns integer language sql return 1']),
    -- O70: a statement is never put together from text
    ('I', 'no function runs dynamic SQL', $$
        select name from functions where prosrc ~* '\mexecute\M' $$,
        array[$f$ create function private.planted(p_order text) returns void language plpgsql
            as 'begin execute ''select '' || p_order; end' $f$]),
    -- O53: an operator of an extension is named with its schema wherever names are bound at run time
    ('I', 'vector operators are written operator(extensions.…)', $$
        select name from functions
        where language = 'plpgsql' and regexp_replace(prosrc,
            'operator\(extensions\.<[=#+~%-]>\)', '', 'gi') ~ '<[=#+~%-]>' $$,
        array[$f$ create function private.planted(p_a extensions.vector) returns void
            language plpgsql as 'begin perform p_a <=> p_a; end' $f$]);
-- where there is one: on Postgres 17
insert into test.invariants
select 'I', 'plpgsql_check finds nothing', 'select pg_temp.findings()', array[
    $f$ create function private.planted() returns uuid language plpgsql
        as 'begin return (select t.nothing from app.tenants t); end' $f$,
    $f$ create function private.planted() returns integer language plpgsql
        as 'begin perform 1; end' $f$]
from pg_extension where extname = 'plpgsql_check';

select plan(2 + test.count_assertions('^I'));
select cmp_ok((select count(*) from functions), '>=', 70::bigint, 'the functions are found');
select set_eq(
    'select name from functions where prosecdef',
    'select name from private.definers()',
    'the functions that run as their owner are those of the register, each with a reason');
select test.check_invariants('^I');

select * from finish();
rollback;
