-- Who may touch what, beside functions: schemas, tables, columns, and what new objects will grant.
begin;
select plan(12);

create temporary view grants as
select (n.nspname || '.' || c.relname) collate "default" as name, c.relkind,
    case a.grantee when 0 then 'public' else a.grantee::regrole::text end as who, a.privilege_type
from pg_class c
join pg_namespace n on n.oid = c.relnamespace,
    aclexplode(coalesce(c.relacl,
    acldefault(case c.relkind when 'S' then 's'::"char" else 'r' end, c.relowner))) a
where n.nspname in ('api', 'app', 'private') and a.grantee <> c.relowner;

select set_eq(
    $$ select n.nspname::text, a.grantee::regrole::text || ' ' || a.privilege_type
    from pg_namespace n, aclexplode(n.nspacl) a
    where n.nspname in ('api', 'app', 'private') and a.grantee <> n.nspowner $$,
    $$ values ('api', 'authenticated USAGE'), ('api', 'service_role USAGE'),
        ('app', 'authenticated USAGE'), ('app', 'service_role USAGE'),
        ('private', 'supabase_auth_admin USAGE') $$,
    'exactly these may name what is in the schemas');
select set_eq(
    $$ select distinct who from grants $$, $$ values ('authenticated'), ('service_role') $$,
    'only these roles hold anything: a visitor and PUBLIC hold nothing');
select set_eq(
    $$ select distinct privilege_type from grants $$,
    $$ values ('SELECT'), ('INSERT'), ('DELETE') $$,
    'no TRUNCATE (it ignores row-level security), REFERENCES or TRIGGER, no UPDATE of whole rows');
select is_empty(
    $$ select name from grants where name like 'private.%' or relkind = 'S' $$,
    'nothing in private and no sequence is granted');
select set_eq(
    $$ select distinct name, privilege_type from grants where privilege_type <> 'SELECT' $$,
    $$ values
        ('app.sources', 'DELETE'), ('app.chunks', 'DELETE'),
        ('app.chunk_embeddings_primary', 'INSERT'), ('app.chunk_embeddings_fallback', 'INSERT'),
        ('app.chunk_embeddings_local', 'INSERT'), ('app.reindex_run_sources', 'INSERT') $$,
    'whole rows are written in these tables only');
select set_eq(
    $$ select a.attrelid::regclass::text, string_agg(distinct a.attname, ' ')
    from pg_attribute a join pg_class c on c.oid = a.attrelid,
        aclexplode(a.attacl) g
    where c.relnamespace = 'app'::regnamespace and g.privilege_type = 'UPDATE'
    group by 1 $$,
    $$ values
        ('app.sources', 'chunk_ids generation language metadata status status_reason title updated_at url '
            'valid_from valid_to verified_at visibility'),
        ('app.chunks', 'language verified_at verified_by'),
        ('app.reindex_run_sources', 'added changed kept reason removed source_type status'),
        ('app.reindex_runs', 'finished_at is_listed lease_ends_at reason retired status') $$,
    'these columns may be changed: never a tenant_id, an id or a text');
select set_eq(
    $$ select a.attrelid::regclass::text, string_agg(distinct a.attname, ' ')
    from pg_attribute a join pg_class c on c.oid = a.attrelid,
        aclexplode(a.attacl) g
    where c.relnamespace = 'app'::regnamespace and g.privilege_type = 'INSERT'
    group by 1 $$,
    $$ values
        ('app.sources', 'generation language metadata source_key source_type tenant_id title url '
            'valid_from valid_to verified_at visibility'),
        ('app.chunks',
            'content heading_path id language occurrence source_id tenant_id verified_at'),
        ('app.reindex_runs', 'is_complete requested_by tenant_id') $$,
    'these columns may be given for a new row: never a generation, a hash or a time of writing');
select is_empty(
    $$ select c.oid::regclass, p.privilege
    from pg_class c join pg_namespace n on n.oid = c.relnamespace,
        unnest('{select,insert,update,references}'::text[]) p (privilege)
    where n.nspname in ('api', 'app', 'private') and c.relkind in ('r', 'p', 'v')
        and has_any_column_privilege('anon', c.oid, p.privilege) $$,
    'a visitor has no column of anything');

-- What comes next ---------------------------------------------------------------------------------

select is_empty(
    $$ select d.defaclrole::regrole, g.grantee, d.defaclobjtype
    from pg_default_acl d, aclexplode(d.defaclacl) g
    where d.defaclrole = 'postgres'::regrole
        and (d.defaclnamespace = 0 or d.defaclnamespace in (select n.oid from pg_namespace n
            where n.nspname in ('api', 'app', 'private')))
        and g.grantee <> d.defaclrole $$,
    'default privileges grant nothing to anybody');
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

-- I7 of the invariants: the login of the functions
select results_eq(
    $$ select r.rolsuper, r.rolbypassrls, r.rolcreaterole, r.rolcreatedb, r.rolinherit,
        r.rolcanlogin,
        exists (select from pg_class c where c.relowner = r.oid),
        array(select m.roleid::regrole::text from pg_auth_members m
            where m.member = r.oid order by 1)
    from pg_roles r where r.rolname = 'porchlight_runtime' $$,
    $$ values (false, false, false, false, false, true, false, '{anon,authenticated}'::text[]) $$,
    'the login of the functions owns and inherits nothing, and becomes anon or authenticated only');

select * from finish();
rollback;
