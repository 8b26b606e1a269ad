-- What every table must be, read from the catalogue: a new table is covered on its first day.
begin;
select plan(16);

create temporary view tables as
select c.oid, (n.nspname || '.' || c.relname) collate "default" as name, c.relrowsecurity,
    c.relforcerowsecurity,
    exists (select from pg_attribute a
        where a.attrelid = c.oid and a.attname = 'tenant_id'
            and not a.attisdropped) as is_tenant_table
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where n.nspname in ('app', 'private') and c.relkind in ('r', 'p');

select cmp_ok((select count(*) from tables), '>=', 18::bigint, 'the tables are found');
select is_empty(
    'select name from tables where not relrowsecurity or not relforcerowsecurity',
    'row-level security is enabled and forced on every table');
select is_empty(
    $$ select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'api' and c.relkind <> 'i' $$,
    'api holds no table, view or sequence');
select is_empty(
    $$ select c.oid::regclass from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in ('api', 'app', 'private') and (c.relkind = 'm'
        or c.relkind = 'v' and not coalesce(c.reloptions,
        '{}') && '{security_invoker=true,security_invoker=on}') $$,
    'a view runs as its caller, and there is no materialized one');
select is_empty(
    $$ select c.oid::regclass from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in ('api', 'app', 'private') and c.relowner <> 'postgres'::regrole $$,
    'the role of the migrations owns everything, no API role does');

-- Brands stay apart -------------------------------------------------------------------------------

select is_empty(
    $$ select t.name from tables t join pg_attribute a on a.attrelid = t.oid
    where a.attname = 'tenant_id' and not a.attnotnull $$,
    'tenant_id is never NULL');
select is_empty(
    $$ select k.conname, k.conrelid::regclass
    from pg_constraint k
    join tables child on child.oid = k.conrelid and child.is_tenant_table
    join tables parent on parent.oid = k.confrelid and parent.is_tenant_table
    where k.contype = 'f' and not exists (
        select from unnest(k.conkey, k.confkey) c (child_column, parent_column)
        join pg_attribute a on a.attrelid = k.conrelid and a.attnum = c.child_column
        join pg_attribute b on b.attrelid = k.confrelid and b.attnum = c.parent_column
        where a.attname = 'tenant_id' and b.attname = 'tenant_id') $$,
    'a foreign key between two tenant tables carries tenant_id, so no row straddles brands');
select is_empty(
    $$ select i.indexrelid::regclass from pg_index i
    join tables t on t.oid = i.indrelid and t.is_tenant_table
    where i.indisunique and not exists (
        select from pg_attribute a
        where a.attrelid = i.indrelid and a.attnum = any (i.indkey) and a.attname = 'tenant_id') $$,
    'a unique index of a tenant table carries tenant_id: it tells nobody what another brand has');
-- the exceptions to "every row belongs to a brand"; each is a registry or a counter
select set_eq(
    'select name from tables where not is_tenant_table',
    $$ values
        ('app.embedding_indexes'),   -- reference data, the same for all brands
        ('app.models'),              -- reference data, the same for all brands
        ('app.platform_admins'),     -- people above the brands
        ('app.tenants'),             -- the brands themselves: its id is the tenant_id
        ('private.installation'),    -- one counter and one cap for all brands together
        ('private.model_days'),      -- the quota of a provider knows no brand
        ('private.user_minutes') $$, -- the rate limit of a user holds over all brands
    'only these tables have no tenant_id');

-- Keys and indexes --------------------------------------------------------------------------------

select is_empty(
    'select t.name from tables t where not exists (
        select from pg_index i where i.indrelid = t.oid and i.indisprimary)',
    'every table has a primary key');
select is_empty(
    $$ select k.conname, k.conrelid::regclass
    from pg_constraint k join tables t on t.oid = k.conrelid
    where k.contype = 'f' and not exists (
        select from pg_index i
        where i.indrelid = k.conrelid
            -- partial is fine when it leaves out only the rows that refer to nothing
            and (i.indpred is null or pg_get_expr(i.indpred, i.indrelid) ~ '^\(\w+ IS NOT NULL\)$')
            and (i.indkey::smallint[])[0:cardinality(k.conkey) - 1] @> k.conkey) $$,
    'every foreign key is led by an index');
-- O51 O52: an approximate index over all brands loses the rows of a small one
select is_empty(
    $$ select i.indexrelid::regclass, m.amname from pg_index i
    join pg_class c on c.oid = i.indexrelid
    join pg_am m on m.oid = c.relam
    join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in ('app', 'private') and m.amname <> 'btree' $$,
    'every index is a btree: no ivfflat, no hnsw');
select is_empty(
    $$ select a.attrelid::regclass from pg_attribute a join tables t on t.oid = a.attrelid
    where a.atttypid = 'extensions.vector'::regtype and (a.attstorage <> 'p' or not a.attnotnull
        or not exists (select from pg_constraint k
            where k.conrelid = a.attrelid
                and pg_get_constraintdef(k.oid) ~ 'vector_norm\(.*> ')) $$,
    'a vector is stored in line, never NULL and never without a direction');

-- Words -------------------------------------------------------------------------------------------

select is_empty(
    $$ select c.oid::regclass::text from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where n.nspname in ('app', 'private') and c.relkind in ('r', 'p', 'v')
            and obj_description(c.oid, 'pg_class') is null
    union all
    select nspname from pg_namespace
        where nspname in ('api', 'app', 'private') and obj_description(oid, 'pg_namespace') is null
    union all
    select p.oid::regprocedure::text from pg_proc p join pg_namespace n on n.oid = p.pronamespace
        where n.nspname in ('api', 'app', 'private') and obj_description(p.oid, 'pg_proc') is null
    union all
    select g.tgname from pg_trigger g join tables t on t.oid = g.tgrelid
        where not g.tgisinternal and obj_description(g.oid, 'pg_trigger') is null $$,
    'every schema, table, function and trigger says what it is');
select is_empty(
    $$ select a.attrelid::regclass, a.attname from pg_attribute a
    join tables t on t.oid = a.attrelid
    where a.attnum > 0 and not a.attisdropped
        and (a.attname ~ '_at$') <> (a.atttypid = 'timestamptz'::regtype)
        and a.attname not in ('valid_from', 'valid_to', 'closed_until', 'minute') $$,
    'a point in time is a timestamptz named …_at');
select is_empty(
    $$ select a.attrelid::regclass, a.attname from pg_attribute a
    join tables t on t.oid = a.attrelid
    where a.attnum > 0 and not a.attisdropped
        and (a.attname ~ '^is_') <> (a.atttypid = 'boolean'::regtype) $$,
    'a boolean is named is_…');

select * from finish();
rollback;
