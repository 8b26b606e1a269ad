-- Runs once, before the tests, as the superuser: people, two brands, and helpers in schema test.
-- alice is a rep and bob the admin of brand one; carol and dave the same of brand two; eve belongs
-- to no brand; pat is an admin of the platform; a visitor has not signed in; the service is the
-- operator.

create schema test;
grant usage on schema test to public;
create table test.hashes (line jsonb); -- testdata/hashes.jsonl, put here by the runner

-- People and brands ------------------------------------------------------------------------------

create function test.id(p_name text) returns uuid
language sql immutable
return pg_catalog.md5(p_name)::uuid;

insert into auth.users (id, email)
select test.id(u.name), u.name || '@people.example'
from unnest('{alice,bob,carol,dave,eve,pat}'::text[]) u (name);

insert into app.tenants (id, slug, name) values
    (test.id('one'), 'one', 'Brand One'),
    (test.id('two'), 'two', 'Brand Two');
-- tests of removal say how much of a brand may go
insert into app.tenant_limits (tenant_id, removal_percent) select t.id, 100 from app.tenants t;
insert into app.personas (tenant_id, language, persona, fallback) values
    (test.id('one'), 'en', 'friendly', 'one: I do not know.'),
    (test.id('one'), 'es', 'amable', 'uno: no lo sé.'),
    (test.id('two'), 'en', 'dry', 'two: I do not know.');
insert into app.members (tenant_id, user_id, role) values
    (test.id('one'), test.id('alice'), 'rep'),
    (test.id('one'), test.id('bob'), 'admin'),
    (test.id('two'), test.id('carol'), 'rep'),
    (test.id('two'), test.id('dave'), 'admin');
insert into app.platform_admins (user_id) values (test.id('pat'));

-- Acting: the same three settings that the functions make for each transaction --------------------

create function test.claims_of(p_name text) returns jsonb
language sql immutable
return jsonb_build_object('sub', test.id(p_name), 'role', 'authenticated', 'app_metadata',
    case
        when p_name in ('alice', 'bob') then jsonb_build_object('tenant_id', test.id('one'))
        when p_name in ('carol', 'dave') then jsonb_build_object('tenant_id', test.id('two'))
        else '{}' end);

create function test.become(p_role text, p_claims text, p_tenant text) returns void
language sql
begin atomic
    select set_config('role', p_role, true), set_config('request.jwt.claims', p_claims, true),
        set_config('porchlight.tenant', p_tenant, true);
end;

create function test.act_as(p_name text, p_tenant text default '') returns void
language sql
begin atomic
    select case p_name
        when 'superuser' then test.become('none', '', '')
        when 'visitor' then test.become('anon', '{"role":"anon"}', p_tenant)
        when 'service' then test.become('service_role', '{"role":"service_role"}', p_tenant)
        else test.become('authenticated', test.claims_of(p_name)::text, p_tenant) end;
end;

create function test.act_with_claim(p_name text, p_tenant_id text) returns void
language sql
begin atomic
    select test.become('authenticated',
        jsonb_set(test.claims_of(p_name), '{app_metadata,tenant_id}', to_jsonb(p_tenant_id))::text,
        '');
end;

create function test.outcome(p_sql text) returns text
language plpgsql
as $$
declare
    v_rows bigint;
begin
    -- the number of rows or the SQLSTATE; the effect is undone
    execute p_sql;
    get diagnostics v_rows = row_count;
    raise exception using errcode = 'TS000', message = v_rows::text;
exception
    when sqlstate 'TS000' then return sqlerrm;
    when others then return sqlstate;
end
$$;

-- Invariants --------------------------------------------------------------------------------------
-- An invariant is a row of test.invariants: a query that finds what breaks it, and plants that do. See
-- testdata/data_invariants.sql.

create function test.found_after(p_plant text, p_finds text) returns bigint
language plpgsql
as $$
begin
    -- the plant is pulled out again
    execute p_plant;
    raise exception using errcode = 'TS000', message = test.count_of(p_finds)::text;
exception
    when sqlstate 'TS000' then return sqlerrm;
end
$$;

create function test.count_assertions(p_ids text) returns integer
language plpgsql
as $$
begin
    return (select sum(1 + cardinality(i.plants)) from test.invariants i where i.id ~ p_ids);
end
$$;

create function test.check_invariants(p_ids text) returns setof text
language plpgsql
as $$
declare
    v_invariant record;
    v_plant text;
begin
    for v_invariant in select * from test.invariants i where i.id ~ p_ids loop
        return next is_empty(v_invariant.finds, concat_ws(': ', v_invariant.id, v_invariant.says));
        foreach v_plant in array v_invariant.plants loop
            return next cmp_ok(test.found_after(v_plant, v_invariant.finds), '>', 0::bigint,
                concat_ws(' ', v_invariant.id, 'finds', btrim(regexp_replace(v_plant, '\s+', ' ', 'g'))));
        end loop;
    end loop;
end
$$;

-- Vectors ----------------------------------------------------------------------------------------

create function test.at_cosine(p_cosine float8, p_dimensions integer default 384)
returns extensions.vector
language sql immutable
-- whose cosine to test.at_cosine(1) is p_cosine
return (
    array[p_cosine, sqrt(1 - p_cosine * p_cosine)] || array_fill(0::float8, array[p_dimensions - 2])
)::extensions.vector;

create function test.random_vector(p_seed text, p_dimensions integer default 384)
returns extensions.vector
language sql immutable
begin atomic
    select array_agg(hashtext(concat(p_seed, '/', i))::float8 / 2147483648 order by i)
        ::extensions.vector
    from generate_series(1, p_dimensions) i;
end;

-- Documents --------------------------------------------------------------------------------------

create function test.add_source(
    p_brand text, p_key text, p_contents text[], p_cosines float8[] default '{}',
    p_type text default 'faq', p_visibility text default 'tenant', p_language text default 'en',
    p_verified_at timestamptz default null)
returns void
language sql
begin atomic
    -- as the superuser; ids: test.id('brand/key') and test.id('brand/key/place')
    insert into app.sources (tenant_id, id, source_type, source_key, title, language, visibility,
        verified_at, chunk_ids)
    select test.id(p_brand), test.id(p_brand || '/' || p_key), p_type, p_key, p_key, p_language,
        p_visibility, p_verified_at,
        array_agg(test.id(concat_ws('/', p_brand, p_key, c.place)) order by c.place)
    from generate_series(0, cardinality(p_contents) - 1) c (place);
    insert into app.chunks (tenant_id, id, source_id, content, language, occurrence, verified_at)
    select test.id(p_brand), test.id(concat_ws('/', p_brand, p_key, c.place - 1)),
        test.id(p_brand || '/' || p_key), c.content, p_language,
        row_number() over (partition by c.content order by c.place) - 1, p_verified_at
    from unnest(p_contents) with ordinality c (content, place);
    insert into app.chunk_embeddings_local (tenant_id, chunk_id, embedding)
    select test.id(p_brand), test.id(concat_ws('/', p_brand, p_key, c.place - 1)),
        test.at_cosine(c.cosine)
    from unnest(p_cosines) with ordinality c (cosine, place);
end;

create function test.hashes(p_headings text[], p_contents text[]) returns bytea[]
language sql immutable
begin atomic
    select coalesce(
        array_agg(sha256(convert_to(concat(c.heading, e'\n', c.content), 'UTF8')) order by c.place),
        '{}')
    from unnest(p_headings, p_contents) with ordinality c (heading, content, place);
end;

create function test.start_run(p_is_complete boolean default false) returns uuid
language sql
as $$ select r.run_id from api.start_reindex(p_is_complete) r $$;

create function test.reindex(
    p_run_id uuid, p_key text, p_contents text[], p_source jsonb default '{}',
    p_headings text[] default null, p_type text default 'faq')
returns table (status text, added integer, changed integer, kept integer, removed integer)
language plpgsql
as $$
declare
    v_headings text[] := coalesce(p_headings, array_fill(''::text, array[cardinality(p_contents)]));
    v_hashes bytea[] := test.hashes(v_headings, p_contents);
    v_plan record;
begin
    -- as the functions do it: plan, then send the text of what is new
    select p.generation, p.new_places into v_plan
    from api.plan_reindex(p_run_id, p_type, p_key, v_hashes, v_headings, '{}') p;
    return query select * from api.apply_reindex(p_run_id, v_plan.generation, p_type, p_key,
        jsonb_build_object('title', p_key, 'language', 'en', 'visibility', 'tenant') || p_source,
        v_hashes, v_headings, array(
            select case when place - 1 = any (v_plan.new_places) then content end
            from unnest(p_contents) with ordinality c (content, place) order by place));
end
$$;

-- The server -------------------------------------------------------------------------------------

do $$
begin
    -- where there is plpgsql_check (the CI of Postgres 17), it has to be loaded before plpgsql is
    if exists (select from pg_available_extensions where name = 'plpgsql_check') then
        create extension plpgsql_check with schema extensions;
        create function test.load_plpgsql_check() returns void
        language sql as 'load ''plpgsql_check''';
    else
        create function test.load_plpgsql_check() returns void language sql as 'select';
    end if;
end
$$;
