-- For access_test.go: rows of both brands in every table, a call of every door, and the statements
-- that everybody tries. Brand two has one source more than brand one, so that counts tell them apart.

select test.add_source(b.brand, b.brand || '-open', array[b.brand || ' lantern costs 5 €'], '{1}'),
    test.add_source(b.brand, b.brand || '-margin', array[b.brand || ' margin is 40 %'], '{0.5}',
        p_visibility => 'private')
from unnest('{one,two}'::text[]) b (brand);
select test.add_source('two', 'two-more', '{more of two}', '{0.2}');
insert into app.chunk_embeddings_primary
select tenant_id, id, test.at_cosine(1, 768) from app.chunks;
insert into app.chunk_embeddings_fallback
select tenant_id, id, test.at_cosine(1, 768) from app.chunks;
insert into app.reindex_runs (tenant_id, id, is_complete)
select id, test.id(slug || '/run'), false from app.tenants;
insert into app.reindex_run_sources (tenant_id, run_id, source_key, status)
select id, test.id(slug || '/run'), slug || '-margin', 'ready' from app.tenants;
insert into app.turns (tenant_id, id, conversation_id, user_id, status, question)
select m.tenant_id, test.id(t.slug || '/' || m.role), test.id(t.slug || '/' || m.role), m.user_id,
    'running', 'why?'
from app.members m join app.tenants t on t.id = m.tenant_id;
insert into app.turn_sources
    (tenant_id, turn_id, place, content_hash, source_type, title, heading_path, similarity)
select tenant_id, id, 0, '\x00', 'faq', '', '', 1 from app.turns;

-- Calls of the doors ------------------------------------------------------------------------------
-- {brand} is one or two. What returns no row had no effect on that brand.

create table test.calls (door text primary key, call text not null);
insert into test.calls values
    ('check_login', 'api.check_login()'),
    ('register_tenant', $$ api.register_tenant(jsonb_build_object('slug', '{brand}', 'name', 'x',
        'language', 'en', 'time_zone', 'UTC', 'personas', '{}'::jsonb)) $$),
    ('add_member', $$ (select api.add_member('eve@people.example', 'rep') as id offset 0) a
        where test.is_member('{brand}', a.id) $$),
    ('add_platform_admin', $$ api.add_platform_admin('eve@people.example') $$),
    ('list_tenants', $$ api.list_tenants() t where t.slug = '{brand}' $$),
    ('plan_reindex', $$ api.plan_reindex(test.id('{brand}/run'), 'faq', '{brand}-open',
        test.hashes('{""}', '{"{brand} lantern costs 5 €"}'), '{""}', '{local}') p
        where p.kept = 1 $$),
    ('preview_source', $$ api.preview_source('faq', '{brand}-open',
        test.hashes('{""}', '{"{brand} lantern costs 5 €"}'), '{""}', '{local}') p
        where p.kept = 1 $$),
    ('preview_listing', $$ api.preview_listing('{x}') p
        where p.chunks = cardinality(test.chunk_ids('{brand}')) $$),
    ('embedding_quota', 'api.embedding_quota()'),
    ('start_reindex', $$ api.start_reindex(false) s where s.tenant = '{brand}' $$),
    ('apply_reindex', $$ api.apply_reindex(test.id('{brand}/run'), 0, 'faq', '{brand}-open',
        '{"title": "x", "language": "en", "visibility": "public"}', test.hashes('{""}', '{new}'),
        '{""}', '{new}') $$),
    ('put_embeddings', $$ api.put_embeddings('faq', '{brand}-open', 'local', 'all-MiniLM-L6-v2',
        '{0}', test.hashes('{""}', '{"{brand} lantern costs 5 €"}'),
        array[test.at_cosine(1)::text]) $$),
    ('index_coverage', $$ api.index_coverage() c
        where c.chunks = cardinality(test.chunk_ids('{brand}')) $$),
    ('renew_reindex', $$ api.renew_reindex(test.id('{brand}/run')) $$),
    ('take_reindex_call', $$ api.take_reindex_call(test.id('{brand}/run'), 'gemini-embedding-001') t
        (is_taken) where t.is_taken $$),
    ('fail_source', $$ api.fail_source(test.id('{brand}/run'), '{brand}-open', 'x') $$),
    ('finish_reindex', $$ api.finish_reindex(test.id('{brand}/run'), '{}') $$),
    ('get_reindex', $$ api.get_reindex(test.id('{brand}/run')) $$),
    ('match_chunks_primary', $$ api.match_chunks_primary(test.at_cosine(1, 768),
        'gemini-embedding-001', 'lantern') m where m.chunk_id = any (test.chunk_ids('{brand}')) $$),
    ('match_chunks_fallback', $$ api.match_chunks_fallback(test.at_cosine(1, 768),
        'gemini-embedding-2', 'lantern') m where m.chunk_id = any (test.chunk_ids('{brand}')) $$),
    ('match_chunks_local', $$ api.match_chunks_local(test.at_cosine(1), 'all-MiniLM-L6-v2',
        'lantern') m where m.chunk_id = any (test.chunk_ids('{brand}')) $$),
    ('begin_turn', $$ api.begin_turn('why?') t where lower(t.brand) = 'brand {brand}' $$),
    ('reserve_call', $$ api.reserve_call(test.id('{brand}/rep'), 1, 'gemini-embedding-001') $$),
    ('finish_turn', $$ api.finish_turn(test.id('{brand}/rep'), 1, 'no_match', null, null, null, null,
        null, '[]', '{}', '{}', '{}') $$),
    ('stored_turn', $$ api.stored_turn(test.id('{brand}/rep')) $$),
    ('stale_chunks', $$ api.stale_chunks() s where s.chunk_id = any (test.chunk_ids('{brand}')) $$),
    ('verify_chunk', $$ api.verify_chunk(test.id('{brand}/{brand}-open/0')) $$);

-- as their owner, so that they tell what the caller may not see
create function test.is_member(p_brand text, p_user_id uuid) returns boolean
language sql security definer
as $$
    select exists (select from app.members
        where tenant_id = test.id(p_brand) and user_id = p_user_id)
$$;
create function test.chunk_ids(p_brand text) returns uuid[]
language sql security definer
as $$ select array(select id from app.chunks where tenant_id = test.id(p_brand)) $$;

-- Attempts ----------------------------------------------------------------------------------------

create function test.count_rows(p_from text) returns bigint
language plpgsql
as $$
declare
    v_rows bigint;
begin
    execute 'select count(*) from ' || p_from into v_rows;
    return v_rows;
end
$$;

create function test.attempts()
-- place: the column, if it is one column's; brand: one, two, blind (no condition at all, so that no
-- policy for reading takes part), or empty where rows belong to no brand; total: the rows there are
returns table (object text, command text, place text, brand text, statement text, total bigint)
language sql
as $$
    with relations as materialized (
        select r.*, test.count_rows(r.name || ' where ' || r.condition) as total from (
        select c.oid, n.nspname || '.' || c.relname as name, r.brand, r.other,
            case when c.oid = 'app.tenants'::regclass then format('id = %L', test.id(r.brand))
                when r.brand <> '' then format('tenant_id = %L', test.id(r.brand))
                else 'true' end as condition
        from pg_class c
        join pg_namespace n on n.oid = c.relnamespace
        join (values ('one', 'two'), ('two', 'one'), ('', '')) r (brand, other)
            on (r.brand <> '') = (c.oid = 'app.tenants'::regclass or exists (
                select from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id'))
        where n.nspname in ('api', 'app', 'private') and c.relkind in ('r', 'p', 'v', 'm', 'f')) r
    ), columns as (
        select r.*, a.attname as column, a.attgenerated <> '' or a.attidentity <> '' as is_made
        from relations r join pg_attribute a on a.attrelid = r.oid
        where a.attnum > 0 and not a.attisdropped
    ), tries as (
        select c.name, 'select' as command, c.column, c.brand, c.total,
            format('select %I from %s where %s', c.column, c.name, c.condition) as statement
        from columns c
        union all
        select c.name, 'insert', c.column, c.brand, c.total,
            case when c.condition ~ '^tenant_id' and c.column <> 'tenant_id'
                then format('insert into %s (tenant_id, %I) values (%L, default)',
                    c.name, c.column, test.id(c.brand))
                when c.condition ~ '^tenant_id'
                then format('insert into %s (tenant_id) values (%L)', c.name, test.id(c.brand))
                else format('insert into %s (%I) values (default)', c.name, c.column) end
        from columns c
        union all
        select c.name, 'update', c.column, c.brand, c.total,
            format('update %s set %I = %s where %s returning true', c.name, c.column,
                case when c.is_made then 'default' else quote_ident(c.column) end, c.condition)
        from columns c
        union all
        select c.name, 'update', c.column, 'blind', c.total,
            format('update %s set %I = default', c.name, c.column)
        from columns c where c.brand in ('', 'one')
        union all
        select c.name, 'move', '', c.brand, c.total,
            format('update %s set tenant_id = %L where %s returning true', c.name,
                test.id(c.other), c.condition)
        from columns c where c.column = 'tenant_id'
        union all
        select r.name, 'delete', '', r.brand, r.total,
            format('delete from %s where %s returning true', r.name, r.condition)
        from relations r
        union all
        select r.name, 'delete', '', 'blind', r.total, format('delete from %s', r.name)
        from relations r where r.brand in ('', 'one')
    )
    select t.name, t.command, t.column, t.brand, t.statement, t.total
    from tries t
    union all
    select n.nspname || '.' || p.proname, 'execute', '', b.brand,
        'select from ' || case when n.nspname = 'private'
            then format('private.%I(%s)', p.proname, (
                select string_agg('null::' || format_type(a.type, null), ', ' order by a.place)
                from unnest(p.proargtypes) with ordinality a (type, place)))
            -- a door without a call fails by its name
            else coalesce(replace(c.call, '{brand}', b.brand),
                format('testdata_access_sql_has_no_call_of_%s', p.proname)) end, 0
    from pg_proc p
    join pg_namespace n on n.oid = p.pronamespace
    left join test.calls c on n.nspname = 'api' and c.door = p.proname
    join (values ('one'), ('two'), ('')) b (brand)
        on (b.brand <> '') = (coalesce(c.call, '') like '%{brand}%')
    where n.nspname in ('api', 'app', 'private') and p.prokind in ('f', 'p')
$$;

create function test.attempt(p_statement text) returns text
language plpgsql
as $$
declare
    v_rows bigint;
begin
    -- the effect is undone
    execute p_statement;
    get diagnostics v_rows = row_count;
    raise exception using errcode = 'TS000', message = v_rows::text;
exception
    when sqlstate 'TS000' then return sqlerrm;
    when insufficient_privilege then
        return case when sqlerrm ~ 'row-level security' then 'check' else '-' end;
    when undefined_table then raise; -- a door without a call
    when others then
        -- 23: past the grants and the policies, and stopped by a constraint
        return case when sqlstate like '23%' then 'ok' else sqlstate end;
end
$$;
