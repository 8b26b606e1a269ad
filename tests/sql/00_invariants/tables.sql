-- What every table must be, read from the catalogue: a new table is covered on its first day.
begin;

create temporary view tables as
select c.oid, (n.nspname || '.' || c.relname) collate "default" as name, c.relrowsecurity,
    c.relforcerowsecurity,
    exists (select from pg_attribute a
        where a.attrelid = c.oid and a.attname = 'tenant_id'
            and not a.attisdropped) as is_tenant_table
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where n.nspname in ('app', 'private') and c.relkind in ('r', 'p');

insert into test.invariants values
    ('I1', 'row-level security is enabled and forced on every table', $$
        select name from tables where not relrowsecurity or not relforcerowsecurity $$,
        array['alter table app.chunks disable row level security',
            -- O67: the owner of the table would see everything
            'alter table app.turns no force row level security',
            'create table private.planted (id integer)']),
    ('I2', 'tenant_id is never NULL', $$
        select t.name from tables t join pg_attribute a on a.attrelid = t.oid
        where a.attname = 'tenant_id' and not a.attnotnull $$,
        array['create table app.planted (tenant_id uuid)']),
    ('I3', 'a foreign key between two tenant tables carries tenant_id, so no row straddles brands', $$
        select k.conname, k.conrelid::regclass
        from pg_constraint k
        join tables child on child.oid = k.conrelid and child.is_tenant_table
        join tables parent on parent.oid = k.confrelid and parent.is_tenant_table
        where k.contype = 'f' and not exists (
            select from unnest(k.conkey, k.confkey) c (child_column, parent_column)
            join pg_attribute a on a.attrelid = k.conrelid and a.attnum = c.child_column
            join pg_attribute b on b.attrelid = k.confrelid and b.attnum = c.parent_column
            where a.attname = 'tenant_id' and b.attname = 'tenant_id') $$,
        array[$$ alter table app.sources add unique (id);
            alter table app.turn_sources add foreign key (source_id) references app.sources (id) $$]),
    ('I4', 'a unique index of a tenant table carries tenant_id: it tells nobody what others have', $$
        select i.indexrelid::regclass from pg_index i
        join tables t on t.oid = i.indrelid and t.is_tenant_table
        where i.indisunique and not exists (
            select from pg_attribute a
            where a.attrelid = i.indrelid and a.attnum = any (i.indkey)
                and a.attname = 'tenant_id') $$,
        array['create unique index on app.chunks (content_hash)',
            'create table app.planted (id uuid primary key, tenant_id uuid not null)']),
    ('I6', 'a view runs as its caller, and there is no materialized one', $$
        select c.oid::regclass from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where n.nspname in ('api', 'app', 'private') and (c.relkind = 'm'
            or c.relkind = 'v' and not coalesce(c.reloptions, '{}')
                && '{security_invoker=true,security_invoker=on}') $$,
        array['create view app.planted as select * from app.chunks',
            'create view app.planted with (security_invoker = off) as select * from app.chunks',
            'create materialized view app.planted as select * from app.chunks']),
    ('I', 'api holds no table, view or sequence', $$
        select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = 'api' and c.relkind not in ('i', 'c') $$, -- c: the row of a function, without rows
        array['create table api.planted ()', 'create sequence api.planted',
            'create view api.planted with (security_invoker = on) as select * from app.chunks']),
    ('I', 'the role of the migrations owns everything, no API role does', $$
        select c.oid::regclass from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where n.nspname in ('api', 'app', 'private') and c.relowner <> 'postgres'::regrole $$,
        array['alter table app.turns owner to authenticated']),
    ('I', 'every table has a primary key', $$
        select t.name from tables t where not exists (
            select from pg_index i where i.indrelid = t.oid and i.indisprimary) $$,
        array['create table app.planted (id integer unique)']),
    ('I', 'every foreign key is led by an index', $$
        select k.conname, k.conrelid::regclass
        from pg_constraint k join tables t on t.oid = k.conrelid
        where k.contype = 'f' and not exists (
            select from pg_index i
            where i.indrelid = k.conrelid
                -- partial is fine when it leaves out only the rows that refer to nothing
                and (i.indpred is null
                    or pg_get_expr(i.indpred, i.indrelid) ~ '^\(\w+ IS NOT NULL\)$')
                and (i.indkey::smallint[])[0:cardinality(k.conkey) - 1] @> k.conkey) $$,
        array['drop index app.turns_user', 'create table app.planted (
            a integer, tenant_id uuid references app.tenants, primary key (a, tenant_id))']),
    -- O51 O52: an approximate index over all brands loses the rows of a small one
    ('I', 'every index is a btree: no ivfflat, no hnsw', $$
        select i.indexrelid::regclass, m.amname from pg_index i
        join pg_class c on c.oid = i.indexrelid
        join pg_am m on m.oid = c.relam
        join pg_namespace n on n.oid = c.relnamespace
        where n.nspname in ('app', 'private') and m.amname <> 'btree' $$,
        array[$$ create index on app.chunk_embeddings_local
            using hnsw (embedding extensions.vector_cosine_ops) $$]),
    ('I', 'a vector is stored in line, never NULL and never without a direction', $$
        select a.attrelid::regclass from pg_attribute a join tables t on t.oid = a.attrelid
        where a.atttypid = 'extensions.vector'::regtype and (a.attstorage <> 'p'
            or not a.attnotnull or not exists (select from pg_constraint k
                where k.conrelid = a.attrelid
                    and pg_get_constraintdef(k.oid) ~ 'vector_norm\(.*> ')) $$,
        array['alter table app.chunk_embeddings_local alter embedding set storage external',
            'alter table app.chunk_embeddings_local alter embedding drop not null',
            $$ alter table app.chunk_embeddings_local
                drop constraint chunk_embeddings_local_embedding_check $$]),
    -- O73: a key that is not in the database cannot be read from it
    ('I', 'no column holds a key, a password or another secret', $$
        select a.attrelid::regclass, a.attname from pg_attribute a
        join tables t on t.oid = a.attrelid
        where a.attname ~ '(secret|passw|api_?key|access_key|private_key|credential|_token$)' $$,
        array['create table private.planted (provider text, api_key text)']),
    ('I', 'every schema, table, type, function and trigger says what it is', $$
        select c.oid::regclass::text from pg_class c join pg_namespace n on n.oid = c.relnamespace
            where n.nspname in ('app', 'private') and c.relkind in ('r', 'p', 'v')
                and obj_description(c.oid, 'pg_class') is null
        union all
        select t.oid::regtype::text from pg_type t join pg_class c on c.oid = t.typrelid
            where c.relnamespace in ('api'::regnamespace, 'app'::regnamespace, 'private'::regnamespace)
                and c.relkind = 'c' and obj_description(t.oid, 'pg_type') is null
        union all
        select nspname from pg_namespace
            where nspname in ('api', 'app', 'private')
                and obj_description(oid, 'pg_namespace') is null
        union all
        select p.oid::regprocedure::text from pg_proc p join pg_namespace n on n.oid = p.pronamespace
            where n.nspname in ('api', 'app', 'private')
                and obj_description(p.oid, 'pg_proc') is null
        union all
        select g.tgname from pg_trigger g join tables t on t.oid = g.tgrelid
            where not g.tgisinternal and obj_description(g.oid, 'pg_trigger') is null $$,
        array['comment on table app.turns is null', 'comment on schema app is null',
            'comment on function api.stale_chunks is null', 'comment on type api.match is null',
            'comment on trigger chunks_drop_terms on app.chunks is null']),
    ('I', 'a point in time is a timestamptz named …_at', $$
        select a.attrelid::regclass, a.attname from pg_attribute a
        join tables t on t.oid = a.attrelid
        where a.attnum > 0 and not a.attisdropped
            and (a.attname ~ '_at$') <> (a.atttypid = 'timestamptz'::regtype)
            and a.attname not in ('valid_from', 'valid_to', 'closed_until', 'minute') $$,
        array['create table app.planted (made timestamptz)',
            'create table app.planted (made_at timestamp)']),
    ('I', 'a boolean is named is_…', $$
        select a.attrelid::regclass, a.attname from pg_attribute a
        join tables t on t.oid = a.attrelid
        where a.attnum > 0 and not a.attisdropped
            and (a.attname ~ '^is_') <> (a.atttypid = 'boolean'::regtype) $$,
        array['create table app.planted (open boolean)',
            'create table app.planted (is_open integer)']);

select plan(2 + test.count_assertions('^I'));
select cmp_ok((select count(*) from tables), '>=', 18::bigint, 'the tables are found');
select test.check_invariants('^I');

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

select * from finish();
rollback;
