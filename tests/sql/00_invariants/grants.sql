-- Who may touch what, beside functions: schemas, tables, columns, logins, and what new objects will
-- grant. Which rows and columns that comes to is tried in access_test.go.
begin;

create temporary view grants as
select n.nspname || '.' || c.relname || coalesce('.' || a.attname, '') as name, c.relkind, a.attname,
    case g.grantee when 0 then 'public' else g.grantee::regrole::text end as who, g.privilege_type
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
-- of the table (NULL) and of each column
join lateral (
    select null::name as attname, coalesce(c.relacl,
        acldefault(case c.relkind when 'S' then 's'::"char" else 'r' end, c.relowner)) as acl
    union all
    select t.attname, t.attacl from pg_attribute t where t.attrelid = c.oid) a on true,
    aclexplode(a.acl) g
where n.nspname in ('api', 'app', 'private') and g.grantee <> c.relowner;

insert into test.invariants values
    ('I7', 'the login of the functions owns, inherits and creates nothing, and no policy lets it by', $$
        select r.rolname from pg_roles r
        where r.rolname = 'porchlight_runtime' and (r.rolsuper or r.rolbypassrls
            or r.rolcreaterole or r.rolcreatedb or r.rolreplication or r.rolinherit
            or not r.rolcanlogin
            or exists (select from pg_class c where c.relowner = r.oid)
            or exists (select from pg_proc p where p.proowner = r.oid)) $$,
        array['alter role porchlight_runtime bypassrls', 'alter role porchlight_runtime inherit',
            'alter role porchlight_runtime createrole',
            'alter table app.turns owner to porchlight_runtime']),
    ('I7', 'it becomes a visitor or somebody who signed in, and nobody else', $$
        select m.roleid::regrole from pg_auth_members m
        where m.member = 'porchlight_runtime'::regrole
            and (m.admin_option or m.roleid::regrole::text not in ('anon', 'authenticated')) $$,
        array['grant service_role to porchlight_runtime', 'grant supabase_auth_admin to porchlight_runtime',
            'grant authenticated to porchlight_runtime with admin option']),
    -- TRUNCATE ignores row-level security
    ('I9', 'no TRUNCATE, REFERENCES or TRIGGER is granted, and no UPDATE of whole rows', $$
        select name, who, privilege_type from grants
        where case when attname is null then privilege_type not in ('SELECT', 'INSERT', 'DELETE')
            else privilege_type not in ('SELECT', 'INSERT', 'UPDATE') end $$,
        array['grant truncate on app.chunks to authenticated',
            'grant references on app.tenants to service_role',
            'grant references (id) on app.tenants to authenticated',
            'grant trigger on app.turns to public', 'grant update on app.sources to service_role']),
    ('I9', 'only a signed-in user and the service hold anything, and only of app', $$
        select name, who from grants where who not in ('authenticated', 'service_role')
            or name !~ '^app\.' or relkind = 'S' $$,
        array['grant select on app.tenants to porchlight_runtime',
            'grant select on private.installation to service_role',
            'grant usage on sequence app.reindex_runs_generation_seq to authenticated']),
    -- has_…_privilege tells what PUBLIC was given too
    ('I10', 'a visitor and the logins themselves hold nothing at all', $$
        select r.name, o.name from unnest('{anon,porchlight_runtime,authenticator}'::text[]) r (name)
        cross join lateral (
            select n.nspname::text from pg_namespace n
            where n.nspname in ('api', 'app', 'private')
                and has_schema_privilege(r.name, n.oid, 'usage, create')
            union all
            select c.oid::regclass::text from pg_class c
            where c.relnamespace::regnamespace::text in ('api', 'app', 'private') and case
                when c.relkind = 'S' then has_sequence_privilege(r.name, c.oid, 'usage, select, update')
                when c.relkind in ('r', 'p', 'v', 'm', 'f') then
                    has_table_privilege(r.name, c.oid, 'delete, truncate, trigger')
                    or has_any_column_privilege(r.name, c.oid, 'select, insert, update, references')
                end
            union all
            select p.oid::regprocedure::text from pg_proc p
            where p.pronamespace::regnamespace::text in ('api', 'app', 'private')
                and has_function_privilege(r.name, p.oid, 'execute')) o (name) $$,
        array['grant usage on schema api to anon', 'grant create on schema app to public',
            'grant select (slug) on app.tenants to anon', 'grant delete on app.turns to public',
            'grant usage on sequence app.reindex_runs_generation_seq to anon',
            'grant execute on function api.list_tenants to public',
            $$ grant execute on function api.list_tenants to anon; -- O64
            revoke execute on function api.list_tenants from public $$]),
    ('I11', 'default privileges grant nothing to anybody, also not what Postgres gives PUBLIC', $$
        select d.defaclrole::regrole::text, g.grantee
        from pg_default_acl d, aclexplode(d.defaclacl) g
        where d.defaclrole = 'postgres'::regrole
            and (d.defaclnamespace = 0 or d.defaclnamespace in (select n.oid from pg_namespace n
                where n.nspname in ('api', 'app', 'private')))
            and g.grantee <> d.defaclrole
        union all
        select 'functions', 0 where not exists (select from pg_default_acl d
            where d.defaclrole = 'postgres'::regrole and d.defaclnamespace = 0
                and d.defaclobjtype = 'f') $$,
        array['alter default privileges for role postgres grant execute on functions to public',
            'alter default privileges for role postgres in schema api
                grant execute on functions to anon',
            'alter default privileges for role postgres in schema app
                grant select on tables to authenticated']),
    ('I', 'nobody may pass a right on', $$
        select a.grantee from pg_proc p, aclexplode(p.proacl) a
        where p.pronamespace::regnamespace::text in ('api', 'app', 'private')
            and a.is_grantable and a.grantee <> p.proowner
        union all
        select a.grantee from pg_class c, aclexplode(c.relacl) a
        where c.relnamespace::regnamespace::text in ('api', 'app', 'private')
            and a.is_grantable and a.grantee <> c.relowner $$,
        array['grant execute on function api.list_tenants to authenticated with grant option',
            'grant select on app.turns to service_role with grant option']);

select plan(3 + test.count_assertions('^I'));
select test.check_invariants('^I');

select set_eq(
    $$ select n.nspname::text, a.grantee::regrole::text || ' ' || a.privilege_type
    from pg_namespace n, aclexplode(n.nspacl) a
    where n.nspname in ('api', 'app', 'private') and a.grantee <> n.nspowner $$,
    $$ values ('api', 'authenticated USAGE'), ('api', 'service_role USAGE'),
        ('app', 'authenticated USAGE'), ('app', 'service_role USAGE'),
        ('private', 'supabase_auth_admin USAGE') $$,
    'exactly these may name what is in the schemas');

-- what comes next
set local role postgres;
create function api.is_new() returns integer language sql return 1;
create table app.new (tenant_id uuid);
reset role;
select is(
    has_function_privilege('anon', 'api.is_new()', 'execute')
        or has_function_privilege('authenticated', 'api.is_new()', 'execute'),
    false, 'a new function may be executed by nobody');
select is(
    has_table_privilege('authenticated', 'app.new', 'select')
        or has_table_privilege('service_role', 'app.new', 'select'),
    false, 'a new table may be read by nobody');

select * from finish();
rollback;
