-- Generated from sql/ by scripts/baseline.sh. Edit there, then run make baseline.
do $baseline$ begin execute $statements$

-- ==== sql/00_foundation/01_schemas.sql ====

-- Schemas, the runtime login and default privileges.
-- Decides: api holds doors (functions only, exposed), app holds tables, private holds works that no
-- API role can name. Extensions come first: default privileges that revoke execute must not reach
-- the functions of pgvector, or "authenticated" could no longer compare vectors.

create schema if not exists extensions;
create extension if not exists vector with schema extensions;

create schema api;
comment on schema api is 'Doors: the only functions that clients may call. No tables.';
create schema app;
comment on schema app is 'Tables and their policies. Not exposed over HTTP.';
create schema private;
comment on schema private is
    'Works: counters, definers and helpers that take p_now. API roles have no USAGE.';

-- The login of the Go functions: owns nothing, inherits nothing, becomes authenticated by SET ROLE.
-- It has no password until an operator gives it one.
do $$
begin
    if not exists (select from pg_catalog.pg_roles where rolname = 'porchlight_runtime') then
        create role porchlight_runtime login noinherit;
    end if;
end
$$;
grant anon, authenticated to porchlight_runtime;

alter default privileges revoke execute on functions from public;

revoke all on schema api, app, private from public;
grant usage on schema api, app to authenticated, service_role;
grant usage on schema private to supabase_auth_admin;

-- ==== sql/00_foundation/02_text.sql ====

-- How text is hashed, recognised as a price, and cut into search terms.
-- Called by generated columns, a trigger and the match functions. All immutable or stable, no
-- tables.

create function private.chunk_hash(p_heading_path text, p_content text) returns bytea
language sql immutable parallel safe strict
set search_path = ''
begin atomic
    -- convert_to is only stable because it knows other encodings; this database is UTF-8
    select pg_catalog.sha256(pg_catalog.convert_to(p_heading_path || e'\n' || p_content, 'UTF8'));
end;
comment on function private.chunk_hash is
    'SHA-256 of heading path, line feed and content in UTF-8. Go computes the same (corpus.Chunk.Hash).';
grant execute on function private.chunk_hash to authenticated, service_role;

create function private.states_price(p_content text) returns boolean
language sql immutable parallel safe strict
set search_path = ''
begin atomic
    -- an amount beside a currency (12,50 € / EUR 12 / 49,– € / 24.9 ct/kWh), or under a column of
    -- one
    select p_content ~* ('([€$£¥\u20a0-\u20cf]|\m(eur|euros?|usd|gbp|chf|dkk|sek|nok|pln|zł|czk|huf))'
            '\s*[-+]?\d')
        or p_content ~* ('\d([.,]\s?[-–]+)?\s*([€$£¥\u20a0-\u20cf元円원]|欧元|يورو|'
            '(eur|euros?|usd|gbp|chf|ct|cents?|pence|kr|dkk|sek|nok|pln|zł|kč|czk|ft|huf)\M)')
        or p_content ~* '([€$£¥]|\m(eur|usd|gbp|chf|ct|sek|nok|dkk|pln)\M)[^:;\n]{0,20}:\s*[-+]?\d'
        -- 45,- and twenty euros
        or p_content ~ '\d[.,][-–](\s|$|[.;])'
        or p_content ~* ('(one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|teen|ty'
            '|hundred|thousand|ein|eins|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf'
            '|zig|ßig|hundert|tausend|un|uno|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez'
            '|once|doce|ce|te|nta|cien|cientos|mil)\s+'
            '(euros?|dollars?|pounds?|pence|cents?|francs?|franken|cents?|céntimos?|dólares?)\M');
end;
comment on function private.states_price is
    'Whether the text states an amount of money. What it accepts has to be verified by a person.';
grant execute on function private.states_price to authenticated, service_role;

create function private.text_search_config(p_language text) returns regconfig
language sql immutable parallel safe strict
set search_path = ''
begin atomic
    select case p_language
        when 'da' then 'pg_catalog.danish'
        when 'de' then 'pg_catalog.german'
        when 'en' then 'pg_catalog.english'
        when 'es' then 'pg_catalog.spanish'
        when 'fi' then 'pg_catalog.finnish'
        when 'fr' then 'pg_catalog.french'
        when 'it' then 'pg_catalog.italian'
        when 'nl' then 'pg_catalog.dutch'
        when 'no' then 'pg_catalog.norwegian'
        when 'pt' then 'pg_catalog.portuguese'
        when 'ru' then 'pg_catalog.russian'
        when 'sv' then 'pg_catalog.swedish'
        else 'pg_catalog.simple' end::regconfig;
end;
comment on function private.text_search_config is
    'The stemmer of an ISO 639-1 language that every Postgres from 15 has; simple for the others.';
grant execute on function private.text_search_config to authenticated, service_role;

create function private.terms(p_text text, p_language text)
returns table (lexeme text, frequency integer, word integer)
language sql immutable parallel safe strict
set search_path = ''
begin atomic
    -- Chinese, Japanese and Korean run without spaces: each pair of neighbours is a lexeme there.
    -- word is the place of the term in the text: equal for all languages, so variants can be
    -- joined.
    select v.lexeme, cardinality(v.positions), v.positions[1]::integer
    from unnest(to_tsvector(
        private.text_search_config(p_language),
        regexp_replace(p_text, '[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+', ' ', 'g'))) v
    union all
    select b.pair, count(*)::integer, 20000 + min(b.place)::integer
    from (
        select substr(r.run[1], i, 2) as pair, r.at * 100 + i as place
        from regexp_matches(p_text, '([\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+)', 'g')
            with ordinality r (run, at),
            generate_series(1, greatest(length(r.run[1]) - 1, 1)) i
    ) b
    group by b.pair;
end;
comment on function private.terms is
    'Search terms of a text in a language: stemmed lexemes (pairs of characters for CJK) with counts.';
grant execute on function private.terms to authenticated, service_role;

-- ==== sql/00_foundation/03_claims.sql ====

-- Who is asking, as the verified token says. Tenancy itself is decided in 10_tenants, from tables.
-- A setting that was set in an earlier transaction of the connection reads as '', never as NULL.

create function private.claims() returns jsonb
language sql stable parallel safe
set search_path = ''
begin atomic
    select coalesce(nullif(current_setting('request.jwt.claims', true), ''), '{}')::jsonb;
end;
comment on function private.claims is
    'The verified claims of this transaction; {} when there are none.';
grant execute on function private.claims to authenticated, service_role;

create function private.user_id() returns uuid
language sql stable parallel safe
set search_path = ''
begin atomic
    select nullif(private.claims() ->> 'sub', '')::uuid;
end;
comment on function private.user_id is 'The signed-in user; NULL for the service.';
grant execute on function private.user_id to authenticated, service_role;

create function private.is_service() returns boolean
language sql stable parallel safe
set search_path = ''
begin atomic
    -- the role that was really set, not a claim: the runtime login cannot become service_role
    select current_setting('role', true) = 'service_role';
end;
comment on function private.is_service is
    'Whether the transaction runs as service_role: the operator.';
grant execute on function private.is_service to authenticated, service_role;

create function private.refuse(p_status integer, p_code text) returns void
language plpgsql
set search_path = ''
as $$
begin
    -- PostgREST and the Go functions turn PTnnn into HTTP status nnn; the message is the code
    raise exception using errcode = 'PT' || p_status, message = p_code;
end
$$;
comment on function private.refuse is 'Ends the call with an HTTP status and a stable code.';

create function private.require_functions() returns void
language plpgsql stable
set search_path = ''
as $$
begin
    -- PostgREST logs in as authenticator: there a user would report on the own turn
    if session_user = 'authenticator' then
        raise exception using errcode = 'PT403', message = 'functions_only';
    end if;
end
$$;
comment on function private.require_functions is
    'Ends a call that did not come from the Go functions with 403.';
grant execute on function private.require_functions to authenticated, service_role;

create function private.definers() returns table (name text, reason text)
language sql immutable
set search_path = ''
begin atomic
    select d.name, d.reason from (values
        ('private.tenant_id', 'reads members before any policy can, or policies would recurse'),
        ('private.is_admin', 'as tenant_id'),
        ('private.required_tenant_id', 'tells a suspended brand from a stranger'),
        ('private.required_admin_tenant_id', 'as required_tenant_id'),
        ('private.custom_access_token_hook', 'Supabase Auth calls it and may not read members itself'),
        ('private.register_tenant', 'the tenant does not exist yet, so no policy can speak for it'),
        ('private.add_member', 'finds the user by e-mail in auth.users'),
        ('private.add_platform_admin', 'finds the user by e-mail in auth.users'),
        ('private.write_chunk_terms', 'trigger: nobody may write search terms by hand'),
        ('private.drop_chunk_terms', 'as write_chunk_terms'),
        ('private.list_tenants', 'counts across brands, for the operator and platform admins'),
        ('private.begin_turn', 'takes from counters that no caller may touch'),
        ('private.reserve_call', 'as begin_turn'),
        ('private.take_reindex_call', 'as begin_turn'),
        ('private.embedding_quota', 'reads counters that no caller may'),
        ('private.finish_turn', 'settles the ledger and closes models')
    ) d (name, reason);
end;
comment on function private.definers is
    'The register of SECURITY DEFINER functions. A test compares it with the catalogue.';

create function api.check_login() returns table (login text, is_unsafe boolean, doors text[])
language sql stable
set search_path = ''
begin atomic
    select r.rolname::text,
        r.rolsuper or r.rolbypassrls or r.rolcreaterole
        -- it can become somebody whom no policy holds, or who owns the tables
        or exists (
            select from pg_catalog.pg_roles o
            where o.oid <> r.oid and o.rolname not in ('anon', 'authenticated')
                and pg_catalog.pg_has_role(r.oid, o.oid, 'MEMBER')
                and not pg_catalog.pg_has_role('authenticated', o.oid, 'MEMBER'))
        -- it owns something here, and could take the policies away
        or exists (
            select from pg_catalog.pg_shdepend d
            where d.refclassid = 'pg_catalog.pg_authid'::regclass and d.refobjid = r.oid
                and d.deptype = 'o' and d.dbid in (
                    0, (select b.oid from pg_catalog.pg_database b where b.datname = current_database()))),
        array(
            select f.proname::text
            from pg_catalog.pg_proc f join pg_catalog.pg_namespace n on n.oid = f.pronamespace
            where n.nspname = 'api' order by 1)
    from pg_catalog.pg_roles r where r.rolname = session_user;
end;
comment on function api.check_login is
    'Who is connected, whether it can do more than authenticated, and which doors there are. The
functions refuse to serve as a login that can, or without a door that they need.';
grant execute on function api.check_login to authenticated;

-- ==== sql/10_tenants/01_tenants.sql ====

-- The tenant registry: brands, their words and their limits.
-- Decides which brands exist and what each may spend. Written by api.register_tenant only.

create table app.tenants (
    id uuid primary key default gen_random_uuid(),
    slug text not null unique check (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$' and length(slug) <= 63),
    name text not null check (length(name) between 1 and 200),
    status text not null default 'active' check (status in ('active', 'suspended')),
    language text not null default 'en' check (language ~ '^[a-z]{2}$'),
    time_zone text not null default 'UTC' check (timezone(time_zone, timestamp '2000-01-01') is not null),
    quota_pool text not null default 'shared' check (quota_pool ~ '^[a-z0-9_]{1,30}$'),
    created_at timestamptz not null default now()
);
comment on table app.tenants is 'A brand. Everything else carries its id.';
comment on column app.tenants.slug is 'The name of the brand in commands and requests.';
comment on column app.tenants.time_zone is 'Whose midnight starts a new day of the brand''s cap.';
comment on column app.tenants.quota_pool is
    'Whose key of the model provider it uses. A demo has one of its own, so it cannot use up the others'' quota.';
alter table app.tenants enable row level security;
alter table app.tenants force row level security;

create table app.personas (
    tenant_id uuid not null references app.tenants on delete cascade,
    language text not null check (language ~ '^[a-z]{2}$'),
    persona text not null check (length(persona) <= 4000),
    fallback text not null check (length(fallback) between 1 and 1000),
    primary key (tenant_id, language)
);
comment on table app.personas is
    'How a brand speaks, per language: tone, and the text when nothing matches.';
alter table app.personas enable row level security;
alter table app.personas force row level security;

create table app.tenant_limits (
    tenant_id uuid primary key references app.tenants on delete cascade,
    turns_per_day integer not null default 500 check (turns_per_day between 1 and 1000000),
    turns_per_minute integer not null default 10 check (turns_per_minute between 1 and 1000),
    verified_within_days integer not null default 90 check (verified_within_days between 1 and 3650),
    removal_percent integer not null default 20 check (removal_percent between 0 and 100),
    question_characters integer not null default 2000 check (question_characters between 1 and 8000)
);
comment on table app.tenant_limits is
    'What a brand may spend, and how old a verified price may be.';
comment on column app.tenant_limits.turns_per_day is
    'All users of the brand together, in its time zone.';
comment on column app.tenant_limits.turns_per_minute is 'Each user.';
comment on column app.tenant_limits.verified_within_days is 'A price verified longer ago is stale.';
comment on column app.tenant_limits.removal_percent is
    'The share of its chunks that a reindex may remove without being told to.';
alter table app.tenant_limits enable row level security;
alter table app.tenant_limits force row level security;

create table app.members (
    tenant_id uuid not null references app.tenants on delete cascade,
    user_id uuid not null references auth.users on delete cascade,
    role text not null check (role in ('rep', 'admin')),
    created_at timestamptz not null default now(),
    primary key (tenant_id, user_id)
);
comment on table app.members is
    'Who belongs to a brand. Read on every request: removal works at once.';
create index members_user_id on app.members (user_id);
alter table app.members enable row level security;
alter table app.members force row level security;

create table app.platform_admins (
    user_id uuid primary key references auth.users on delete cascade,
    created_at timestamptz not null default now()
);
comment on table app.platform_admins is 'Who may register brands and act for any of them.';
alter table app.platform_admins enable row level security;
alter table app.platform_admins force row level security;

-- ==== sql/10_tenants/02_identity.sql ====

-- The tenant of a request: from the verified claim, or named by a platform admin or the service,
-- and
-- always checked against the tables. Every policy and every door gets it from here.
-- Cost: one row of members by primary key; policies call it once per statement (InitPlan).

create function private.tenant_id() returns uuid
language plpgsql stable security definer parallel safe
set search_path = ''
as $$
-- every policy asks: plpgsql keeps its plans, while Postgres before 18 plans a SQL function anew for
-- each statement that calls it. So it reads the claims here too, and not by private.claims()
declare
    v_claims jsonb := nullif(current_setting('request.jwt.claims', true), '')::jsonb;
    v_user_id uuid := nullif(v_claims ->> 'sub', '')::uuid;
    v_claimed text := v_claims -> 'app_metadata' ->> 'tenant_id';
    v_named text := nullif(current_setting('porchlight.tenant', true), '');
    v_tenant_id uuid;
begin
    if v_named is null then
        -- compared as text: a claim that is no uuid is nobody's brand
        select m.tenant_id into v_tenant_id
        from app.members m
        where m.user_id = v_user_id and m.tenant_id::text = v_claimed
            and (select t.status from app.tenants t where t.id = m.tenant_id) = 'active';
    else
        select t.id into v_tenant_id
        from app.tenants t
        where t.slug = v_named and t.status = 'active'
            and (private.is_service()
                or exists (select from app.platform_admins a where a.user_id = v_user_id)
                or exists (
                    select from app.members m where m.tenant_id = t.id and m.user_id = v_user_id));
    end if;
    return v_tenant_id;
end
$$;
comment on function private.tenant_id is
    'The brand of this request, or NULL: then no policy lets a row pass.';
grant execute on function private.tenant_id to authenticated, service_role;

create function private.is_admin() returns boolean
language sql stable security definer parallel safe
set search_path = ''
begin atomic
    select private.is_service()
        or exists (
            select from app.members m
            where m.tenant_id = (select private.tenant_id()) and m.user_id = (select private.user_id())
                and m.role = 'admin')
        or exists (select from app.platform_admins a where a.user_id = (select private.user_id()));
end;
comment on function private.is_admin is 'Whether the caller may manage the brand of this request.';
grant execute on function private.is_admin to authenticated, service_role;

create function private.required_tenant_id() returns uuid
language plpgsql stable security definer
set search_path = ''
as $$
declare
    v_tenant_id uuid := private.tenant_id();
begin
    if v_tenant_id is not null then
        return v_tenant_id;
    end if;
    -- only a member learns that the brand is suspended; a stranger learns nothing
    if exists (
        select from app.tenants t
        join app.members m on m.tenant_id = t.id and m.user_id = private.user_id()
        where t.status = 'suspended'
            and (t.id::text = private.claims() -> 'app_metadata' ->> 'tenant_id'
                or t.slug = current_setting('porchlight.tenant', true))
    ) then
        perform private.refuse(403, 'tenant_suspended');
    end if;
    raise exception using errcode = 'PT403', message = 'not_a_member';
end
$$;
comment on function private.required_tenant_id is
    'The brand of this request; otherwise the call ends with 403.';
grant execute on function private.required_tenant_id to authenticated, service_role;

create function private.required_admin_tenant_id() returns uuid
language plpgsql stable security definer
set search_path = ''
as $$
declare
    v_tenant_id uuid := private.required_tenant_id();
begin
    if not private.is_admin() then
        perform private.refuse(403, 'not_an_admin');
    end if;
    return v_tenant_id;
end
$$;
comment on function private.required_admin_tenant_id is
    'As required_tenant_id, for admins of the brand only.';
grant execute on function private.required_admin_tenant_id to authenticated, service_role;

-- ==== sql/10_tenants/03_policies.sql ====

-- Who sees the registry: members see their own brand, admins its members. Nobody writes by hand.

create policy tenants_select_member on app.tenants for select to authenticated
    using (id = (select private.tenant_id()));
create policy personas_select_member on app.personas for select to authenticated
    using (tenant_id = (select private.tenant_id()));
create policy tenant_limits_select_member on app.tenant_limits for select to authenticated
    using (tenant_id = (select private.tenant_id()));
create policy members_select_self_or_admin on app.members for select to authenticated
    using (
        tenant_id = (select private.tenant_id())
        and (user_id = (select private.user_id()) or (select private.is_admin()))
    );
create policy platform_admins_select_self on app.platform_admins for select to authenticated
    using (user_id = (select private.user_id()));

grant select (id, slug, name, status, language, time_zone, quota_pool) on app.tenants to authenticated;
grant select (tenant_id, language, persona, fallback) on app.personas to authenticated;
grant select (tenant_id, turns_per_day, turns_per_minute, verified_within_days, question_characters,
    removal_percent)
    on app.tenant_limits to authenticated;
grant select (tenant_id, user_id, role) on app.members to authenticated;
grant select (user_id) on app.platform_admins to authenticated;
grant select on app.tenants, app.personas, app.tenant_limits, app.members, app.platform_admins
    to service_role;

-- ==== sql/10_tenants/04_registry.sql ====

-- Registering brands and people. Called by the operator (service_role) or a platform admin; members
-- are also added by an admin of the brand.

create function private.require_platform_admin() returns void
language plpgsql stable
set search_path = ''
as $$
begin
    if not private.is_service()
        and not exists (select from app.platform_admins a where a.user_id = private.user_id()) then
        perform private.refuse(403, 'not_an_admin');
    end if;
end
$$;
comment on function private.require_platform_admin is 'Ends the call with 403 for anybody else.';

create function private.register_tenant(p_brand jsonb) returns uuid
language plpgsql security definer
set search_path = ''
as $$
declare
    v_tenant_id uuid;
    v_limits jsonb := coalesce(p_brand -> 'limits', '{}');
begin
    perform private.require_platform_admin();
    insert into app.tenants as t (slug, name, language, time_zone, quota_pool)
    values (p_brand ->> 'slug', p_brand ->> 'name', coalesce(p_brand ->> 'language', 'en'),
        coalesce(p_brand ->> 'time_zone', 'UTC'), coalesce(p_brand ->> 'quota_pool', 'shared'))
    on conflict (slug) do update
        set name = excluded.name, language = excluded.language, time_zone = excluded.time_zone,
            quota_pool = excluded.quota_pool
    returning t.id into v_tenant_id;

    insert into app.personas as p (tenant_id, language, persona, fallback)
    select v_tenant_id, d.key, d.value ->> 'persona', d.value ->> 'fallback'
    from jsonb_each(p_brand -> 'personas') d
    on conflict (tenant_id, language) do update
        set persona = excluded.persona, fallback = excluded.fallback;

    insert into app.tenant_limits as l
        (tenant_id, turns_per_day, turns_per_minute, verified_within_days, removal_percent,
        question_characters)
    values (
        v_tenant_id,
        coalesce((v_limits ->> 'turns_per_day')::integer, 500),
        coalesce((v_limits ->> 'turns_per_minute')::integer, 10),
        coalesce((v_limits ->> 'verified_within_days')::integer, 90),
        coalesce((v_limits ->> 'removal_percent')::integer, 20),
        coalesce((v_limits ->> 'question_characters')::integer, 2000))
    on conflict (tenant_id) do update
        set turns_per_day = excluded.turns_per_day, turns_per_minute = excluded.turns_per_minute,
            verified_within_days = excluded.verified_within_days,
            removal_percent = excluded.removal_percent,
            question_characters = excluded.question_characters;
    return v_tenant_id;
end
$$;
comment on function private.register_tenant is 'Creates a brand or updates its words and limits.';
grant execute on function private.register_tenant to authenticated, service_role;

create function api.register_tenant(p_brand jsonb) returns uuid
language sql
set search_path = ''
begin atomic
    select private.register_tenant(p_brand);
end;
comment on function api.register_tenant is
    'Creates or updates a brand from {slug, name, language, time_zone, quota_pool, personas, limits}; its id.';
grant execute on function api.register_tenant to authenticated, service_role;

create function private.add_member(p_tenant_id uuid, p_email text, p_role text) returns uuid
language plpgsql security definer
set search_path = ''
as $$
declare
    v_user_id uuid;
begin
    select u.id into v_user_id from auth.users u where lower(u.email) = lower(p_email);
    if v_user_id is null then
        perform private.refuse(404, 'not_found');
    end if;
    insert into app.members as m (tenant_id, user_id, role)
    values (p_tenant_id, v_user_id, p_role)
    on conflict (tenant_id, user_id) do update set role = excluded.role;
    return v_user_id;
end
$$;
comment on function private.add_member is 'Adds a known user to a brand, or changes the role.';
grant execute on function private.add_member to authenticated, service_role;

create function api.add_member(p_email text, p_role text) returns uuid
language sql
set search_path = ''
begin atomic
    select private.add_member(private.required_admin_tenant_id(), p_email, p_role);
end;
comment on function api.add_member is
    'Adds a signed-up user to the brand of this request as rep or admin.';
grant execute on function api.add_member to authenticated, service_role;

create function private.add_platform_admin(p_email text) returns uuid
language plpgsql security definer
set search_path = ''
as $$
declare
    v_user_id uuid;
begin
    perform private.require_platform_admin();
    select u.id into v_user_id from auth.users u where lower(u.email) = lower(p_email);
    if v_user_id is null then
        perform private.refuse(404, 'not_found');
    end if;
    insert into app.platform_admins (user_id) values (v_user_id) on conflict do nothing;
    return v_user_id;
end
$$;
comment on function private.add_platform_admin is 'Makes a known user an admin of the platform.';
grant execute on function private.add_platform_admin to authenticated, service_role;

create function api.add_platform_admin(p_email text) returns uuid
language sql
set search_path = ''
begin atomic
    select private.add_platform_admin(p_email);
end;
comment on function api.add_platform_admin is 'Makes a signed-up user an admin of the platform.';
grant execute on function api.add_platform_admin to authenticated, service_role;

-- ==== sql/10_tenants/05_token_hook.sql ====

-- The custom access token hook: Supabase Auth (hosted or local) calls it for each token it makes.

create function private.custom_access_token_hook(event jsonb) returns jsonb
language plpgsql stable security definer
set search_path = ''
as $$
declare
    -- the parameter is named by Supabase's contract, so it has no p_
    v_user_id uuid := (event ->> 'user_id')::uuid;
    v_metadata jsonb := coalesce(nullif(event -> 'claims' -> 'app_metadata', 'null'), '{}');
    v_member record;
begin
    -- a brand that the user chose earlier stays, if the user still belongs to it
    select m.tenant_id, m.role, t.slug into v_member
    from app.members m
    join app.tenants t on t.id = m.tenant_id
    where m.user_id = v_user_id and t.status = 'active'
    order by m.tenant_id::text = v_metadata ->> 'tenant_id' desc nulls last, m.created_at, m.tenant_id
    limit 1;

    v_metadata := v_metadata - '{tenant_id,tenant,tenant_role,platform_admin}'::text[];
    if v_member.tenant_id is not null then
        v_metadata := v_metadata || jsonb_build_object(
            'tenant_id', v_member.tenant_id, 'tenant', v_member.slug, 'tenant_role', v_member.role);
    end if;
    if exists (select from app.platform_admins a where a.user_id = v_user_id) then
        v_metadata := v_metadata || '{"platform_admin": true}';
    end if;
    return jsonb_set(event, '{claims,app_metadata}', v_metadata);
end
$$;
comment on function private.custom_access_token_hook is
    'Puts tenant_id, tenant (slug) and tenant_role into app_metadata. A hint for clients and the '
    'choice among several brands; every request checks membership again.';
grant execute on function private.custom_access_token_hook to supabase_auth_admin;

-- ==== sql/20_corpus/01_sources.sql ====

-- Typed sources and their chunks.
-- Decides what a brand's documents are, and who may read them. A child carries tenant_id and a
-- composite foreign key, so a row can't straddle brands.

create table app.sources (
    tenant_id uuid not null references app.tenants on delete cascade,
    id uuid not null default gen_random_uuid(),
    source_type text not null
        check (source_type in ('price', 'objection', 'script', 'policy', 'faq', 'article')),
    source_key text not null check (length(source_key) between 1 and 500),
    title text not null check (length(title) between 1 and 500),
    url text check (length(url) <= 2000),
    language text not null check (language ~ '^[a-z]{2}$'),
    visibility text not null check (visibility in ('public', 'tenant', 'private')),
    verified_at timestamptz,
    valid_from timestamptz,
    valid_to timestamptz,
    metadata jsonb not null default '{}' check (jsonb_typeof(metadata) = 'object'),
    chunk_ids uuid[] not null default '{}',
    generation bigint not null default 0 check (generation >= 0),
    status text not null default 'ready' check (status in ('ready', 'error')),
    status_reason text check (length(status_reason) <= 500),
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    primary key (tenant_id, id),
    unique (tenant_id, source_type, source_key),
    check (valid_to is null or valid_from is null or valid_to > valid_from)
);
comment on table app.sources is
    'A document of a brand. (source_type, source_key) is its stable identity.';
comment on column app.sources.visibility is
    'public: visitors too; tenant: members; private: admins.';
comment on column app.sources.verified_at is 'The date that the document itself declares.';
comment on column app.sources.valid_to is
    'Exclusive. Outside [valid_from, valid_to) it is not retrieved.';
comment on column app.sources.chunk_ids is
    'Its chunks in reading order. Kept here, so that a chunk that only moves is not touched.';
comment on column app.sources.generation is
    'Of the reindex run that wrote it last; a run that changed nothing leaves it.';
alter table app.sources enable row level security;
alter table app.sources force row level security;

create policy sources_select_member on app.sources for select to authenticated
    using (
        tenant_id = (select private.tenant_id())
        and (visibility <> 'private' or (select private.is_admin()))
    );
create policy sources_insert_admin on app.sources for insert to authenticated
    with check (tenant_id = (select private.tenant_id()) and (select private.is_admin()));
create policy sources_update_admin on app.sources for update to authenticated
    using (tenant_id = (select private.tenant_id()) and (select private.is_admin()))
    with check (tenant_id = (select private.tenant_id()) and (select private.is_admin()));
create policy sources_delete_admin on app.sources for delete to authenticated
    using (tenant_id = (select private.tenant_id()) and (select private.is_admin()));
grant select, delete on app.sources to authenticated, service_role;
grant insert (tenant_id, source_type, source_key, title, url, language, visibility, verified_at,
    valid_from, valid_to, metadata, generation) on app.sources to authenticated, service_role;
grant update (title, url, language, visibility, verified_at, valid_from, valid_to, metadata,
    chunk_ids, generation, status, status_reason, updated_at) on app.sources to authenticated, service_role;

create table app.chunks (
    tenant_id uuid not null,
    id uuid not null default gen_random_uuid(),
    source_id uuid not null,
    heading_path text not null default ''
        check (length(heading_path) <= 1000 and position(e'\n' in heading_path) = 0),
    content text not null check (length(content) between 1 and 20000),
    content_hash bytea not null
        generated always as (private.chunk_hash(heading_path, content)) stored,
    occurrence integer not null default 0 check (occurrence >= 0),
    language text not null check (language ~ '^[a-z]{2}$'),
    is_pricing boolean not null generated always as (private.states_price(content)) stored,
    verified_at timestamptz,
    verified_by uuid references auth.users on delete set null,
    created_at timestamptz not null default now(),
    primary key (tenant_id, id),
    unique (tenant_id, source_id, content_hash, occurrence),
    foreign key (tenant_id, source_id) references app.sources on delete cascade
);
comment on table app.chunks is
    'A passage of a source. A changed passage is a new row: never updated text.';
comment on column app.chunks.occurrence is 'Counts equal passages of one source: 0, 1, …';
comment on column app.chunks.verified_at is
    'When a person last said that this is true; NULL: never.';
create index chunks_stale on app.chunks (tenant_id, verified_at nulls first) where is_pricing;
create index chunks_verified_by on app.chunks (verified_by) where verified_by is not null;
alter table app.chunks enable row level security;
alter table app.chunks force row level security;

create policy chunks_select_member on app.chunks for select to authenticated
    using (
        tenant_id = (select private.tenant_id())
        -- seen where its source is seen: the policy of sources applies inside
        and exists (
            select from app.sources s
            where s.tenant_id = chunks.tenant_id and s.id = chunks.source_id)
    );
create policy chunks_insert_admin on app.chunks for insert to authenticated
    with check (tenant_id = (select private.tenant_id()) and (select private.is_admin()));
create policy chunks_update_admin on app.chunks for update to authenticated
    using (tenant_id = (select private.tenant_id()) and (select private.is_admin()))
    with check (tenant_id = (select private.tenant_id()) and (select private.is_admin()));
create policy chunks_delete_admin on app.chunks for delete to authenticated
    using (tenant_id = (select private.tenant_id()) and (select private.is_admin()));
grant select, delete on app.chunks to authenticated, service_role;
grant insert (tenant_id, id, source_id, heading_path, content, occurrence, language, verified_at)
    on app.chunks to authenticated, service_role;
grant update (language, verified_at, verified_by) on app.chunks to authenticated, service_role;

-- ==== sql/20_corpus/02_indexes.sql ====

-- The embedding indexes: one registered model each, one narrow table each, one door each
-- (30_retrieval). A vector of another model is refused, never searched.
-- Storage is plain: a vector that is moved out of line (TOAST) costs four times as much per search.
-- No ANN index: an exact scan of one brand holds 20 ms to about 13,000 chunks, and one ANN index
-- over
-- all brands loses most rows of a small one.

create table app.embedding_indexes (
    name text primary key check (name in ('primary', 'fallback', 'local')),
    model text not null unique,
    dimensions integer not null,
    document_task text not null,
    query_task text not null,
    dense_weight double precision not null check (dense_weight between 0 and 10),
    lexical_weight double precision not null check (lexical_weight between 0 and 10),
    threshold double precision not null,
    min_similarity double precision not null check (min_similarity between -1 and 1)
);
comment on table app.embedding_indexes is
    'The registered indexes. Reference data, the same for all brands.';
comment on column app.embedding_indexes.model is 'The one model whose vectors the index holds.';
comment on column app.embedding_indexes.document_task is
    'How the model is told that a text is a document.';
comment on column app.embedding_indexes.dense_weight is
    'Weight of the standard score of the cosine, unless the model judges the question itself.';
comment on column app.embedding_indexes.lexical_weight is
    'Weight of the standard score of BM25; 0 switches the lexical half off.';
comment on column app.embedding_indexes.threshold is
    'A chunk whose evidence score is below it does not answer (see private.rank_chunks).';
comment on column app.embedding_indexes.min_similarity is
    'The same for a search without words, by cosine alone.';
alter table app.embedding_indexes enable row level security;
alter table app.embedding_indexes force row level security;
create policy embedding_indexes_select_all on app.embedding_indexes for select to authenticated
    using ((select private.tenant_id()) is not null);
grant select on app.embedding_indexes to authenticated, service_role;

insert into app.embedding_indexes
    (name, model, dimensions, document_task, query_task,
    dense_weight, lexical_weight, threshold, min_similarity)
values
    ('primary', 'gemini-embedding-001', 768, 'RETRIEVAL_DOCUMENT', 'RETRIEVAL_QUERY', 2, 1, 0.2, 0.55),
    ('fallback', 'gemini-embedding-2', 768, 'RETRIEVAL_DOCUMENT', 'RETRIEVAL_QUERY', 2, 1, 0.2, 0.55),
    ('local', 'all-MiniLM-L6-v2', 384, 'none', 'none', 2, 1, 0, 0.4);

create table app.chunk_embeddings_primary (
    tenant_id uuid not null,
    chunk_id uuid not null,
    embedding extensions.vector(768) not null check (extensions.vector_norm(embedding) > 0),
    primary key (tenant_id, chunk_id),
    foreign key (tenant_id, chunk_id) references app.chunks on delete cascade
);
comment on table app.chunk_embeddings_primary is
    'Vectors of the primary index: 768 numbers, unit length.';
alter table app.chunk_embeddings_primary alter column embedding set storage plain;
alter table app.chunk_embeddings_primary enable row level security;
alter table app.chunk_embeddings_primary force row level security;

create table app.chunk_embeddings_fallback (
    tenant_id uuid not null,
    chunk_id uuid not null,
    embedding extensions.vector(768) not null check (extensions.vector_norm(embedding) > 0),
    primary key (tenant_id, chunk_id),
    foreign key (tenant_id, chunk_id) references app.chunks on delete cascade
);
comment on table app.chunk_embeddings_fallback is
    'Vectors of the fallback index: 768 numbers, unit length.';
alter table app.chunk_embeddings_fallback alter column embedding set storage plain;
alter table app.chunk_embeddings_fallback enable row level security;
alter table app.chunk_embeddings_fallback force row level security;

create table app.chunk_embeddings_local (
    tenant_id uuid not null,
    chunk_id uuid not null,
    embedding extensions.vector(384) not null check (extensions.vector_norm(embedding) > 0),
    primary key (tenant_id, chunk_id),
    foreign key (tenant_id, chunk_id) references app.chunks on delete cascade
);
comment on table app.chunk_embeddings_local is
    'Vectors of the local index: 384 numbers, unit length.';
alter table app.chunk_embeddings_local alter column embedding set storage plain;
alter table app.chunk_embeddings_local enable row level security;
alter table app.chunk_embeddings_local force row level security;

create policy chunk_embeddings_primary_select_member on app.chunk_embeddings_primary
    for select to authenticated using (tenant_id = (select private.tenant_id()));
create policy chunk_embeddings_primary_insert_admin on app.chunk_embeddings_primary
    for insert to authenticated
    with check (tenant_id = (select private.tenant_id()) and (select private.is_admin()));
create policy chunk_embeddings_fallback_select_member on app.chunk_embeddings_fallback
    for select to authenticated using (tenant_id = (select private.tenant_id()));
create policy chunk_embeddings_fallback_insert_admin on app.chunk_embeddings_fallback
    for insert to authenticated
    with check (tenant_id = (select private.tenant_id()) and (select private.is_admin()));
create policy chunk_embeddings_local_select_member on app.chunk_embeddings_local
    for select to authenticated using (tenant_id = (select private.tenant_id()));
create policy chunk_embeddings_local_insert_admin on app.chunk_embeddings_local
    for insert to authenticated
    with check (tenant_id = (select private.tenant_id()) and (select private.is_admin()));
grant select, insert on app.chunk_embeddings_primary, app.chunk_embeddings_fallback,
    app.chunk_embeddings_local to authenticated, service_role;

-- ==== sql/20_corpus/03_terms.sql ====

-- Search terms of the chunks: the lexical half of retrieval.
-- A plain postings table with a btree, since row-level security keeps Postgres from using GIN (its
-- operators are not leakproof) while equality of uuid and text is. The frequency lies in the key's
-- index: six words among 10,000 chunks cost 98 pages there, 7,615 in the table, which the key's order
-- scatters. The index is 13 % larger for it. About 4.7 kB a chunk.

create table app.chunk_terms (
    tenant_id uuid not null,
    lexeme text not null,
    chunk_id uuid not null,
    frequency integer not null check (frequency > 0),
    primary key (tenant_id, lexeme, chunk_id) include (frequency),
    foreign key (tenant_id, chunk_id) references app.chunks on delete cascade
);
comment on table app.chunk_terms is
    'Which lexeme stands how often in which chunk. Written by a trigger.';
create index chunk_terms_chunk on app.chunk_terms (tenant_id, chunk_id);
alter table app.chunk_terms enable row level security;
alter table app.chunk_terms force row level security;
create policy chunk_terms_select_member on app.chunk_terms for select to authenticated
    using (tenant_id = (select private.tenant_id()));
grant select on app.chunk_terms to authenticated, service_role;

create function private.write_chunk_terms() returns trigger
language plpgsql security definer
set search_path = ''
as $$
begin
    insert into app.chunk_terms (tenant_id, lexeme, chunk_id, frequency)
    select n.tenant_id, t.lexeme, n.id, sum(t.frequency)
    from (
        select c.tenant_id, c.id, c.heading_path, c.content, c.language
        from new_chunks c
        -- after an update only a chunk whose language changed has none
        where not exists (
            select from app.chunk_terms o where o.tenant_id = c.tenant_id and o.chunk_id = c.id)
    ) n, private.terms(n.heading_path || e'\n' || n.content, n.language) t
    where length(t.lexeme) <= 200
    group by n.tenant_id, t.lexeme, n.id;
    return null;
end
$$;
comment on function private.write_chunk_terms is 'Files the terms of each chunk that has none.';

create function private.drop_chunk_terms() returns trigger
language plpgsql security definer
set search_path = ''
as $$
begin
    delete from app.chunk_terms t where t.tenant_id = new.tenant_id and t.chunk_id = new.id;
    return null;
end
$$;
comment on function private.drop_chunk_terms is
    'Forgets the terms that another language made of a chunk.';

create trigger chunks_drop_terms after update of language on app.chunks
    for each row when (old.language <> new.language) execute function private.drop_chunk_terms();
comment on trigger chunks_drop_terms on app.chunks is
    'Forgets the terms of a chunk whose language changes.';
create trigger chunks_write_terms after insert on app.chunks
    referencing new table as new_chunks
    for each statement execute function private.write_chunk_terms();
comment on trigger chunks_write_terms on app.chunks is 'Files the terms of each new chunk.';
create trigger chunks_write_terms_again after update on app.chunks
    referencing new table as new_chunks
    for each statement execute function private.write_chunk_terms();
comment on trigger chunks_write_terms_again on app.chunks is
    'Files the terms of a chunk whose language changed.';

-- ==== sql/20_corpus/04_runs.sql ====

-- Reindex runs: what was asked, what happened to each source, and which run has the last word.
-- Runs of one brand may overlap. A source is written by one at a time: the others wait for it, for as
-- long as one transaction takes. The newest generation wins in whatever order they arrive.

create table app.reindex_runs (
    tenant_id uuid not null references app.tenants on delete cascade,
    id uuid not null default gen_random_uuid(),
    generation bigint generated always as identity,
    status text not null default 'running' check (status in ('running', 'ready', 'partial', 'failed')),
    is_complete boolean not null,
    requested_by uuid references auth.users on delete set null,
    reason text check (length(reason) <= 500),
    is_listed boolean not null default false,
    retired integer not null default 0 check (retired >= 0),
    removal_limit integer check (removal_limit >= 0),
    refused_removal integer check (refused_removal > 0),
    lease_ends_at timestamptz not null default now() + interval '1 minute',
    started_at timestamptz not null default now(),
    finished_at timestamptz,
    primary key (tenant_id, id),
    check ((status = 'running') = (finished_at is null))
);
comment on table app.reindex_runs is 'A reindex of some or all sources of a brand.';
comment on column app.reindex_runs.is_complete is
    'All sources were listed; only then may some be retired.';
comment on column app.reindex_runs.generation is 'Rises with each run: the newest snapshot wins.';
comment on column app.reindex_runs.reason is 'Why it ended before its time.';
comment on column app.reindex_runs.is_listed is
    'It ended with a listing of all sources: what it does not name was not there any more.';
comment on column app.reindex_runs.lease_ends_at is
    'Its process renews this while it lives; a running one that is past it has lost its process.';
comment on column app.reindex_runs.retired is
    'Sources removed because the complete listing lacked them.';
comment on column app.reindex_runs.removal_limit is
    'How many chunks it may remove: as a person allowed, or the share that the brand allows of those '
    'that there were; NULL: as many as there are.';
comment on column app.reindex_runs.refused_removal is
    'How many chunks it would have removed, at least, when that was more than allowed: it stopped.';
create unique index reindex_runs_generation on app.reindex_runs (tenant_id, generation);
create index reindex_runs_lease on app.reindex_runs (lease_ends_at) where status = 'running';
create index reindex_runs_requested_by on app.reindex_runs (requested_by);
alter table app.reindex_runs enable row level security;
alter table app.reindex_runs force row level security;

create table app.reindex_run_sources (
    tenant_id uuid not null,
    run_id uuid not null,
    source_key text not null check (length(source_key) between 1 and 500),
    source_type text,
    status text not null check (status in ('ready', 'unchanged', 'superseded', 'error')),
    reason text check (length(reason) <= 500),
    added integer not null default 0 check (added >= 0),
    changed integer not null default 0 check (changed >= 0),
    kept integer not null default 0 check (kept >= 0),
    removed integer not null default 0 check (removed >= 0),
    primary key (tenant_id, run_id, source_key),
    foreign key (tenant_id, run_id) references app.reindex_runs on delete cascade
);
comment on table app.reindex_run_sources is 'What a run did to a source, counted in chunks.';
comment on column app.reindex_run_sources.source_type is
    'NULL when the document was not indexed.';
comment on column app.reindex_run_sources.status is
    'superseded: a newer run had the last word on it, so that this one left it alone.';
comment on column app.reindex_run_sources.changed is 'New chunks under a heading that lost one.';
comment on column app.reindex_run_sources.reason is 'Why it failed. Never content of the document.';
create index reindex_run_sources_key on app.reindex_run_sources (tenant_id, source_key);
alter table app.reindex_run_sources enable row level security;
alter table app.reindex_run_sources force row level security;

create policy reindex_runs_select_admin on app.reindex_runs for select to authenticated
    using (tenant_id = (select private.tenant_id()) and (select private.is_admin()));
create policy reindex_runs_insert_admin on app.reindex_runs for insert to authenticated
    with check (tenant_id = (select private.tenant_id()) and (select private.is_admin()));
create policy reindex_runs_update_admin on app.reindex_runs for update to authenticated
    using (tenant_id = (select private.tenant_id()) and (select private.is_admin()))
    with check (tenant_id = (select private.tenant_id()) and (select private.is_admin()));
create policy reindex_run_sources_select_admin on app.reindex_run_sources for select to authenticated
    using (tenant_id = (select private.tenant_id()) and (select private.is_admin()));
create policy reindex_run_sources_insert_admin on app.reindex_run_sources for insert to authenticated
    with check (tenant_id = (select private.tenant_id()) and (select private.is_admin()));
create policy reindex_run_sources_update_admin on app.reindex_run_sources for update to authenticated
    using (tenant_id = (select private.tenant_id()) and (select private.is_admin()))
    with check (tenant_id = (select private.tenant_id()) and (select private.is_admin()));
grant select on app.reindex_runs, app.reindex_run_sources to authenticated, service_role;
grant insert (tenant_id, is_complete, requested_by, removal_limit)
    on app.reindex_runs to authenticated, service_role;
grant update (status, reason, is_listed, retired, refused_removal, lease_ends_at, finished_at)
    on app.reindex_runs to authenticated, service_role;
grant insert on app.reindex_run_sources to authenticated, service_role;
grant update (source_type, status, reason, added, changed, kept, removed) on app.reindex_run_sources
    to authenticated, service_role;

create function private.lock_source(p_tenant_id uuid, p_key text) returns void
language plpgsql
set search_path = ''
as $$
begin
    -- always the brand before the source, and of a brand one source in a transaction: no circle
    perform pg_advisory_xact_lock_shared(hashtextextended('reindex/' || p_tenant_id, 0));
    perform pg_advisory_xact_lock(hashtextextended('reindex/' || p_tenant_id || '/' || p_key, 0));
end
$$;
comment on function private.lock_source is
    'Waits until no other run writes the source or retires sources of the brand.';
grant execute on function private.lock_source to authenticated, service_role;

create function private.lock_sources(p_tenant_id uuid) returns void
language plpgsql
set search_path = ''
as $$
begin
    perform pg_advisory_xact_lock(hashtextextended('reindex/' || p_tenant_id, 0));
end
$$;
comment on function private.lock_sources is 'Waits until no other run writes any source of the brand.';
grant execute on function private.lock_sources to authenticated, service_role;

create function private.is_superseded(p_tenant_id uuid, p_run_id uuid, p_key text)
returns boolean
language sql stable
set search_path = ''
begin atomic
    select exists (
        select from app.reindex_runs r
        left join app.reindex_run_sources d
            on d.tenant_id = r.tenant_id and d.run_id = r.id and d.source_key = p_key
        where r.tenant_id = p_tenant_id and r.generation > m.generation
            and (d.status in ('ready', 'unchanged') or d.run_id is null and r.is_listed))
    from app.reindex_runs m
    where m.tenant_id = p_tenant_id and m.id = p_run_id and m.status = 'running';
end;
comment on function private.is_superseded is
    'Whether a newer run has indexed the source, or has found that it is gone. NULL: no such run runs.';
grant execute on function private.is_superseded to authenticated, service_role;

create function private.require_newest(p_is_superseded boolean) returns void
language plpgsql immutable
set search_path = ''
as $$
begin
    if p_is_superseded is null then
        raise exception using errcode = 'PT404', message = 'not_found';
    elsif p_is_superseded then
        raise exception using errcode = 'PT409', message = 'newer_snapshot';
    end if;
end
$$;
comment on function private.require_newest is
    'Ends the call with 404 without a running run, and with 409 when a newer one has settled the source.';
grant execute on function private.require_newest to authenticated, service_role;

create function private.removal(
    p_tenant_id uuid, p_run_id uuid, p_key text, out so_far integer, out left_over integer)
language sql stable
set search_path = ''
begin atomic
    -- what is replaced is not lost: a source that lost ten chunks and won ten has lost none
    select t.so_far::integer, r.removal_limit - t.so_far::integer
    from app.reindex_runs r
    cross join lateral (
        select coalesce(sum(greatest(d.removed - d.added, 0)), 0)
        from app.reindex_run_sources d
        where d.tenant_id = r.tenant_id and d.run_id = r.id and d.source_key <> p_key
    ) t (so_far)
    where r.tenant_id = p_tenant_id and r.id = p_run_id;
end;
comment on function private.removal is
    'How many chunks a run has removed, of other sources than p_key, and how many more it may; NULL: '
    'as many as there are.';
grant execute on function private.removal to authenticated, service_role;

-- ==== sql/20_corpus/05_plan.sql ====

-- Reconciliation, first half: what would a reindex of one source do? Reads only.
-- The caller sends the hashes of the chunks in order; only what is new has to be embedded and sent.
-- An unchanged source of 10,000 chunks costs one index scan.

create function private.diff_source(p_tenant_id uuid, p_type text, p_key text, p_hashes bytea[])
returns table (place integer, occurrence integer, chunk_id uuid)
language sql stable
set search_path = ''
begin atomic
    -- the n-th equal passage of the new version is the n-th equal passage of the stored one
    select h.place::integer, h.occurrence::integer, c.id
    from (
        select u.hash, u.place, row_number() over (partition by u.hash order by u.place) - 1 as occurrence
        from unnest(p_hashes) with ordinality u (hash, place)
    ) h
    left join app.sources s
        on s.tenant_id = p_tenant_id and s.source_type = p_type and s.source_key = p_key
    left join app.chunks c
        on c.tenant_id = s.tenant_id and c.source_id = s.id
        and c.content_hash = h.hash and c.occurrence = h.occurrence
    order by h.place;
end;
comment on function private.diff_source is
    'For each chunk of the new version, in order: the stored chunk that it equals, or NULL.';
grant execute on function private.diff_source to authenticated, service_role;

create function private.index_chunk_ids(p_tenant_id uuid, p_index text)
returns setof uuid
language sql stable
set search_path = ''
begin atomic
    select e.chunk_id from app.chunk_embeddings_primary e
    where p_index = 'primary' and e.tenant_id = p_tenant_id
    union all
    select e.chunk_id from app.chunk_embeddings_fallback e
    where p_index = 'fallback' and e.tenant_id = p_tenant_id
    union all
    select e.chunk_id from app.chunk_embeddings_local e
    where p_index = 'local' and e.tenant_id = p_tenant_id;
end;
comment on function private.index_chunk_ids is
    'The chunks of a brand that have a vector in the index.';
grant execute on function private.index_chunk_ids to authenticated, service_role;

create function private.plan_reindex(
    p_tenant_id uuid, p_type text, p_key text, p_hashes bytea[], p_headings text[], p_indexes text[])
returns table (generation bigint,
    new_places integer[], changed integer, kept integer, removed integer, missing jsonb)
language sql stable
set search_path = ''
begin atomic
    with diff as (
        select d.place, d.chunk_id from private.diff_source(p_tenant_id, p_type, p_key, p_hashes) d
    ), stored as (
        select c.id, c.heading_path
        from app.sources s
        join app.chunks c on c.tenant_id = s.tenant_id and c.source_id = s.id
        where s.tenant_id = p_tenant_id and s.source_type = p_type and s.source_key = p_key
    ), gone as (
        select s.heading_path from stored s
        where not exists (select from diff d where d.chunk_id = s.id)
    )
    select
        coalesce((select s.generation from app.sources s
            where s.tenant_id = p_tenant_id and s.source_type = p_type and s.source_key = p_key), 0),
        coalesce((select array_agg(d.place - 1 order by d.place) from diff d where d.chunk_id is null), '{}'),
        (select count(*) from diff d
            where d.chunk_id is null and p_headings[d.place] in (select g.heading_path from gone g))::integer,
        (select count(*) from diff d where d.chunk_id is not null)::integer,
        (select count(*) from gone)::integer,
        coalesce((
            select jsonb_object_agg(i.name, coalesce((
                select jsonb_agg(d.place - 1 order by d.place)
                from diff d
                where d.chunk_id is null
                    or d.chunk_id not in (select private.index_chunk_ids(p_tenant_id, i.name))
                ), '[]'))
            from unnest(p_indexes) i (name)), '{}');
end;
comment on function private.plan_reindex is 'See api.plan_reindex.';
grant execute on function private.plan_reindex to authenticated, service_role;

create function api.plan_reindex(
    p_run_id uuid, p_type text, p_key text, p_hashes bytea[], p_headings text[], p_indexes text[])
returns table (generation bigint,
    new_places integer[], changed integer, kept integer, removed integer, missing jsonb,
    refused_removal integer)
language sql stable
set search_path = ''
begin atomic
    -- an older run learns here that it need not embed
    select private.require_newest(
        private.is_superseded(private.required_admin_tenant_id(), p_run_id, p_key));
    select p.generation, p.new_places, p.changed, p.kept, p.removed, p.missing,
        case when p.removed > cardinality(p.new_places)
                and p.removed - cardinality(p.new_places) > m.left_over
            then m.so_far + p.removed - cardinality(p.new_places) end
    from private.tenant_id() t (id)
    cross join private.plan_reindex(t.id, p_type, p_key, p_hashes, p_headings, p_indexes) p
    cross join private.removal(t.id, p_run_id, p_key) m;
end;
comment on function api.plan_reindex is
    'What a reindex of the source would do. generation: of what is stored, 0 for nothing; '
    'new_places: places (from 0) whose text has to be sent; '
    'changed: new chunks under a heading that loses one; missing: per index, the places without a vector; '
    'refused_removal: how many chunks the run would have removed, where that is more than it may.';
grant execute on function api.plan_reindex to authenticated, service_role;

-- ==== sql/20_corpus/06_apply.sql ====

-- Reconciliation, second half: one source, one transaction, vectors included.
-- Kept chunks are not touched at all, so their verified_at keeps its meaning. Written is only what was
-- planned on the stored state: a source that changed since the plan has to be planned again.

create function private.claim_source(
    p_tenant_id uuid, p_type text, p_key text, p_generation bigint)
returns void
language plpgsql
set search_path = ''
as $$
declare
    v_generation bigint;
begin
    select s.generation into v_generation from app.sources s
    where s.tenant_id = p_tenant_id and s.source_type = p_type and s.source_key = p_key
    for no key update;
    if coalesce(v_generation, 0) is distinct from p_generation then
        raise exception using errcode = 'PT409', message = 'reindex_running';
    end if;
end
$$;
comment on function private.claim_source is
    'Takes the row of the source; ends the call with 409 when it is no longer what the plan saw.';
grant execute on function private.claim_source to authenticated, service_role;

create function private.write_source(
    p_tenant_id uuid, p_generation bigint, p_type text, p_key text, p_source jsonb, p_now timestamptz)
returns boolean
language plpgsql
set search_path = ''
as $$
declare
    v_new record;
begin
    select p_source ->> 'title' as title, p_source ->> 'url' as url, p_source ->> 'language' as language,
        p_source ->> 'visibility' as visibility, (p_source ->> 'verified_at')::timestamptz as verified_at,
        (p_source ->> 'valid_from')::timestamptz as valid_from,
        (p_source ->> 'valid_to')::timestamptz as valid_to,
        coalesce(p_source -> 'metadata', '{}') as metadata
    into v_new;
    insert into app.sources as s (tenant_id, source_type, source_key, title, url, language, visibility,
        verified_at, valid_from, valid_to, metadata, generation)
    values (p_tenant_id, p_type, p_key, v_new.title, v_new.url, v_new.language, v_new.visibility,
        v_new.verified_at, v_new.valid_from, v_new.valid_to, v_new.metadata, p_generation)
    on conflict (tenant_id, source_type, source_key) do update
        set title = v_new.title, url = v_new.url, language = v_new.language,
            visibility = v_new.visibility, verified_at = v_new.verified_at,
            valid_from = v_new.valid_from, valid_to = v_new.valid_to, metadata = v_new.metadata,
            generation = p_generation, updated_at = p_now
        where (s.title, s.url, s.language, s.visibility, s.verified_at, s.valid_from, s.valid_to, s.metadata)
            is distinct from (v_new.title, v_new.url, v_new.language, v_new.visibility,
                v_new.verified_at, v_new.valid_from, v_new.valid_to, v_new.metadata);
    return found;
end
$$;
comment on function private.write_source is
    'Inserts the source or updates what differs; whether it wrote.';
grant execute on function private.write_source to authenticated, service_role;

create function private.write_chunks(
    p_tenant_id uuid, p_run_id uuid, p_generation bigint, p_type text, p_key text, p_hashes bytea[],
    p_headings text[], p_contents text[], p_chunk_ids uuid[], p_occurrences integer[],
    p_wrote boolean, p_removal_left integer, p_now timestamptz)
returns table (status text, added integer, changed integer, kept integer, removed integer)
language plpgsql
set search_path = ''
as $$
declare
    v_source app.sources;
    v_ids uuid[];
    v_gone text[];
begin
    select s.* into strict v_source from app.sources s
    where s.tenant_id = p_tenant_id and s.source_type = p_type and s.source_key = p_key;
    -- a date to come would keep a price fresh until then: nobody has verified it later than now
    if v_source.verified_at > p_now then
        v_source.verified_at := p_now;
    end if;
    select coalesce(array_agg(coalesce(c.id, gen_random_uuid()) order by c.place), '{}') into v_ids
    from unnest(p_chunk_ids) with ordinality c (id, place);

    with deleted as (
        delete from app.chunks c
        where c.tenant_id = p_tenant_id and c.source_id = v_source.id and c.id <> all (v_ids)
        returning c.heading_path
    )
    select coalesce(array_agg(d.heading_path), '{}') into v_gone from deleted d;

    -- a chunk that was there when the plan was made, and is not any more, came without its text
    if exists (select from unnest(p_chunk_ids, p_contents) c (id, content)
        where c.id is null and c.content is null) then
        raise exception using errcode = 'PT409', message = 'reindex_running';
    end if;
    insert into app.chunks (tenant_id, id, source_id, heading_path, content, occurrence, language,
        verified_at)
    select p_tenant_id, v_ids[c.place], v_source.id, p_headings[c.place], p_contents[c.place],
        p_occurrences[c.place], v_source.language, v_source.verified_at
    from unnest(p_chunk_ids) with ordinality c (id, place)
    where c.id is null;
    get diagnostics added = row_count;
    if exists (
        select from unnest(v_ids, p_hashes, p_chunk_ids) n (id, hash, old_id)
        join app.chunks c on c.tenant_id = p_tenant_id and c.id = n.id
        where n.old_id is null and c.content_hash <> n.hash
    ) then
        raise exception using errcode = 'PT400', message = 'bad_request',
            detail = 'a hash differs from its text';
    end if;

    update app.chunks c set language = v_source.language
    where p_wrote and c.tenant_id = p_tenant_id and c.source_id = v_source.id
        and c.language <> v_source.language;
    -- a document that was verified again makes its older facts fresh; an older date changes nothing
    if p_wrote then
        update app.chunks c set verified_at = v_source.verified_at, verified_by = null
        where c.tenant_id = p_tenant_id and c.source_id = v_source.id
            and (c.verified_at < v_source.verified_at
                or c.verified_at is null and v_source.verified_at is not null);
    end if;
    if v_source.chunk_ids <> v_ids or v_source.status <> 'ready' then
        update app.sources s
        set chunk_ids = v_ids, generation = p_generation, status = 'ready', status_reason = null,
            updated_at = p_now
        where s.tenant_id = p_tenant_id and s.id = v_source.id;
        p_wrote := true;
    end if;

    status := case when p_wrote then 'ready' else 'unchanged' end;
    kept := cardinality(v_ids) - added;
    removed := cardinality(v_gone);
    if removed > added and removed - added > p_removal_left then
        raise exception using errcode = 'PT409', message = 'removal_refused';
    end if;
    select count(*) into changed
    from unnest(p_chunk_ids) with ordinality c (id, place)
    where c.id is null and p_headings[c.place] = any (v_gone);
    insert into app.reindex_run_sources
        (tenant_id, run_id, source_key, source_type, status, added, changed, kept, removed)
    values (p_tenant_id, p_run_id, p_key, p_type, write_chunks.status, write_chunks.added,
        write_chunks.changed, write_chunks.kept, write_chunks.removed)
    on conflict (tenant_id, run_id, source_key) do update
        set source_type = excluded.source_type, status = excluded.status, reason = null,
            added = excluded.added, changed = excluded.changed, kept = excluded.kept,
            removed = excluded.removed;
    return next;
end
$$;
comment on function private.write_chunks is
    'Inserts new chunks, deletes gone ones, leaves the others alone.';
grant execute on function private.write_chunks to authenticated, service_role;

create function api.apply_reindex(
    p_run_id uuid, p_generation bigint, p_type text, p_key text, p_source jsonb, p_hashes bytea[],
    p_headings text[], p_contents text[])
returns table (status text, added integer, changed integer, kept integer, removed integer)
language sql
set search_path = ''
begin atomic
    -- each statement sees what was committed before it: what is checked is what the lock guards
    select private.lock_source(private.required_admin_tenant_id(), p_key);
    select private.require_newest(private.is_superseded(private.tenant_id(), p_run_id, p_key));
    select private.claim_source(private.tenant_id(), p_type, p_key, p_generation);
    select w.status, w.added, w.changed, w.kept, w.removed
    from (
        select r.generation,
            private.write_source(r.tenant_id, r.generation, p_type, p_key, p_source, now()) as wrote
        from app.reindex_runs r where r.tenant_id = private.tenant_id() and r.id = p_run_id
    ) s, (
        select array_agg(d.chunk_id order by d.place) as chunk_ids,
            array_agg(d.occurrence order by d.place) as occurrences
        from private.diff_source(private.tenant_id(), p_type, p_key, p_hashes) d
    ) d,
    private.removal(private.tenant_id(), p_run_id, p_key) m,
    private.write_chunks(private.tenant_id(), p_run_id, s.generation, p_type, p_key, p_hashes,
        p_headings, p_contents, d.chunk_ids, d.occurrences, s.wrote, m.left_over, now()) w;
end;
comment on function api.apply_reindex is
    'Makes the stored source equal to the new version. p_generation is what the plan said, p_contents '
    'NULL at the places that are kept. 409 newer_snapshot: a newer run has settled the source; '
    '409 reindex_running: another run wrote it since the plan, so plan again; '
    '409 removal_refused: the run would remove more than it may.';
grant execute on function api.apply_reindex to authenticated, service_role;

-- ==== sql/20_corpus/07_embeddings.sql ====

-- Writing vectors into an index, and how far each index is filled. A vector belongs to the text that it
-- was made from: no door changes a text, and the owner of the database can't either.

create function private.keep_chunk_text() returns trigger
language plpgsql
set search_path = ''
as $$
begin
    raise exception using errcode = 'PT400', message = 'bad_request',
        detail = 'the text of a chunk never changes, since its vectors and search terms would not',
        hint = 'Change the document and reindex it.';
end
$$;
comment on function private.keep_chunk_text is 'Refuses another text for a chunk.';
create trigger chunks_keep_text before update of heading_path, content on app.chunks
    for each row when (
        (old.heading_path, old.content) is distinct from (new.heading_path, new.content))
    execute function private.keep_chunk_text();
comment on trigger chunks_keep_text on app.chunks is 'A changed passage is a new row.';

create function private.put_embeddings(
    p_tenant_id uuid, p_type text, p_key text, p_index text, p_model text, p_places integer[],
    p_hashes bytea[], p_embeddings text[])
returns integer
language plpgsql
set search_path = ''
as $$
declare
    v_chunk_ids uuid[];
    v_written integer;
begin
    if not exists (select from app.embedding_indexes i where i.name = p_index and i.model = p_model) then
        raise exception using errcode = 'PT422', message = 'model_mismatch';
    end if;
    select array_agg(s.chunk_ids[p.place + 1] order by p.at) into v_chunk_ids
    from app.sources s, unnest(p_places) with ordinality p (place, at)
    where s.tenant_id = p_tenant_id and s.source_type = p_type and s.source_key = p_key;
    if coalesce(cardinality(v_chunk_ids), 0) <> cardinality(p_embeddings)
        or array_position(v_chunk_ids, null) > 0 then
        raise exception using errcode = 'PT400', message = 'bad_request', detail = 'a vector has no chunk';
    end if;
    -- a vector is of a text, not of a place: what stands there now may be another passage
    if cardinality(p_hashes) is distinct from cardinality(p_embeddings) or exists (
        select from unnest(v_chunk_ids, p_hashes) n (chunk_id, hash)
        join app.chunks c on c.tenant_id = p_tenant_id and c.id = n.chunk_id
        where c.content_hash is distinct from n.hash
    ) then
        raise exception using errcode = 'PT409', message = 'reindex_running';
    end if;
    case p_index
        when 'primary' then
            insert into app.chunk_embeddings_primary (tenant_id, chunk_id, embedding)
            select p_tenant_id, e.chunk_id, e.embedding::extensions.vector(768)
            from unnest(v_chunk_ids, p_embeddings) e (chunk_id, embedding) on conflict do nothing;
        when 'fallback' then
            insert into app.chunk_embeddings_fallback (tenant_id, chunk_id, embedding)
            select p_tenant_id, e.chunk_id, e.embedding::extensions.vector(768)
            from unnest(v_chunk_ids, p_embeddings) e (chunk_id, embedding) on conflict do nothing;
        when 'local' then
            insert into app.chunk_embeddings_local (tenant_id, chunk_id, embedding)
            select p_tenant_id, e.chunk_id, e.embedding::extensions.vector(384)
            from unnest(v_chunk_ids, p_embeddings) e (chunk_id, embedding) on conflict do nothing;
    end case;
    get diagnostics v_written = row_count;
    return v_written;
end
$$;
comment on function private.put_embeddings is 'See api.put_embeddings.';
grant execute on function private.put_embeddings to authenticated, service_role;

create function api.put_embeddings(
    p_type text, p_key text, p_index text, p_model text, p_places integer[], p_hashes bytea[],
    p_embeddings text[])
returns integer
language sql
set search_path = ''
begin atomic
    select private.put_embeddings(private.required_admin_tenant_id(), p_type, p_key, p_index, p_model,
        p_places, p_hashes, p_embeddings);
end;
comment on function api.put_embeddings is
    'Writes vectors (text form of pgvector) for the chunks at the places (from 0) of a source, made of '
    'texts with those hashes. A model that is not the registered one of the index is refused, and a '
    'vector of another text than the one that stands there.';
grant execute on function api.put_embeddings to authenticated, service_role;

create function private.index_coverage(p_tenant_id uuid)
returns table (index_name text, model text, chunks bigint, vectors bigint)
language sql stable
set search_path = ''
begin atomic
    select i.name, i.model,
        (select count(*) from app.chunks c where c.tenant_id = p_tenant_id),
        (select count(*) from private.index_chunk_ids(p_tenant_id, i.name))
    from app.embedding_indexes i
    order by array_position('{primary,fallback,local}'::text[], i.name);
end;
comment on function private.index_coverage is 'See api.index_coverage.';
grant execute on function private.index_coverage to authenticated, service_role;

create function api.index_coverage()
returns table (index_name text, model text, chunks bigint, vectors bigint)
language sql stable
set search_path = ''
begin atomic
    select c.index_name, c.model, c.chunks, c.vectors
    from private.index_coverage(private.required_admin_tenant_id()) c;
end;
comment on function api.index_coverage is 'How many chunks of the brand each index can find.';
grant execute on function api.index_coverage to authenticated, service_role;

-- ==== sql/20_corpus/08_reindex.sql ====

-- The life of a reindex run: its start, its signs of life, a source that failed. Its end: 09_finish.

create function private.abandon_reindexes(p_tenant_id uuid, p_run_id uuid, p_now timestamptz)
returns void
language sql
set search_path = ''
begin atomic
    update app.reindex_runs r
    set status = 'failed', reason = 'abandoned', finished_at = p_now
    where (r.tenant_id, r.id) in (
        select o.tenant_id, o.id from app.reindex_runs o
        where (p_tenant_id is null or o.tenant_id = p_tenant_id)
            and (p_run_id is null or o.id = p_run_id)
            and o.status = 'running' and o.lease_ends_at < p_now
        for no key update skip locked);
end;
comment on function private.abandon_reindexes is
    'Ends the runs whose process has died: of a brand, one of them, or with NULL those of all brands. '
    'Each new turn does the last, since a brand that was suspended starts no run that would.';
grant execute on function private.abandon_reindexes to authenticated, service_role;

create function private.removal_limit(p_tenant_id uuid) returns integer
language sql stable
set search_path = ''
begin atomic
    select case when l.removal_percent < 100 then l.removal_percent * (
        select count(*) from app.chunks c where c.tenant_id = p_tenant_id) / 100 end
    from app.tenant_limits l where l.tenant_id = p_tenant_id;
end;
comment on function private.removal_limit is
    'How many chunks a run may remove without being told to; NULL: as many as there are.';
grant execute on function private.removal_limit to authenticated, service_role;

create function private.start_reindex(
    p_tenant_id uuid, p_user_id uuid, p_is_complete boolean, p_removal_limit integer)
returns table (run_id uuid, tenant text, pool text)
language plpgsql
set search_path = ''
as $$
begin
    insert into app.reindex_runs (tenant_id, requested_by, is_complete, removal_limit)
    values (p_tenant_id, p_user_id, p_is_complete, p_removal_limit)
    returning id into start_reindex.run_id;
    return query
    select start_reindex.run_id, t.slug, t.quota_pool from app.tenants t where t.id = p_tenant_id;
exception when foreign_key_violation then
    -- the brand or the person went between the question who they are and this row
    raise exception using errcode = 'PT403', message = 'not_a_member';
end
$$;
comment on function private.start_reindex is 'See api.start_reindex.';
grant execute on function private.start_reindex to authenticated, service_role;

create function api.start_reindex(p_is_complete boolean, p_allowed_removal integer default null)
returns table (run_id uuid, tenant text, pool text)
language sql
set search_path = ''
begin atomic
    select private.abandon_reindexes(private.required_admin_tenant_id(), null, now());
    select s.run_id, s.tenant, s.pool
    from private.tenant_id() t (id)
    cross join private.start_reindex(t.id, private.user_id(), p_is_complete,
        coalesce(p_allowed_removal, private.removal_limit(t.id))) s;
end;
comment on function api.start_reindex is
    'Opens a run: its id, the slug of the brand and its quota pool. p_is_complete: all sources will be '
    'listed, so vanished ones are retired. p_allowed_removal: how many chunks it may remove; NULL: the '
    'share of them that the brand''s limits allow.';
grant execute on function api.start_reindex to authenticated, service_role;

create function private.renew_reindex(p_tenant_id uuid, p_run_id uuid) returns void
language plpgsql
set search_path = ''
as $$
begin
    update app.reindex_runs r set lease_ends_at = default
    where r.tenant_id = p_tenant_id and r.id = p_run_id and r.status = 'running';
    if not found then
        raise exception using errcode = 'PT404', message = 'not_found';
    end if;
end
$$;
comment on function private.renew_reindex is 'See api.renew_reindex.';
grant execute on function private.renew_reindex to authenticated, service_role;

create function api.renew_reindex(p_run_id uuid) returns void
language sql
set search_path = ''
begin atomic
    select private.renew_reindex(private.required_admin_tenant_id(), p_run_id);
end;
comment on function api.renew_reindex is
    'Says that the process of a run is alive. A run that says nothing for a minute has failed.';
grant execute on function api.renew_reindex to authenticated, service_role;

create function private.fail_source(
    p_tenant_id uuid, p_run_id uuid, p_key text, p_reason text, p_is_superseded boolean)
returns void
language plpgsql
set search_path = ''
as $$
declare
    v_reason text := left(p_reason, 500);
begin
    if p_is_superseded is null then
        raise exception using errcode = 'PT404', message = 'not_found';
    end if;
    -- the last reason counts, but what this run has indexed stays indexed: the answer to its
    -- transaction may have been lost on the way
    insert into app.reindex_run_sources as d (tenant_id, run_id, source_key, status, reason)
    values (p_tenant_id, p_run_id, p_key, case when p_is_superseded then 'superseded' else 'error' end,
        v_reason)
    on conflict (tenant_id, run_id, source_key) do update
        set status = excluded.status, reason = excluded.reason
        where d.status in ('superseded', 'error');
    -- what was indexed before stays; the source only says that its newest version failed
    if found and not p_is_superseded then
        update app.sources s set status = 'error', status_reason = v_reason
        where s.tenant_id = p_tenant_id and s.source_key = p_key
            and (s.status, s.status_reason) is distinct from ('error', v_reason);
    end if;
end
$$;
comment on function private.fail_source is 'See api.fail_source.';
grant execute on function private.fail_source to authenticated, service_role;

create function api.fail_source(p_run_id uuid, p_key text, p_reason text) returns void
language sql
set search_path = ''
begin atomic
    select private.lock_source(private.required_admin_tenant_id(), p_key);
    select private.fail_source(private.tenant_id(), p_run_id, p_key, p_reason,
        private.is_superseded(private.tenant_id(), p_run_id, p_key));
end;
comment on function api.fail_source is
    'Notes that a run did not index a source and why. Its old chunks stay. Where a newer run has '
    'settled the source it is superseded, otherwise it failed.';
grant execute on function api.fail_source to authenticated, service_role;

-- ==== sql/20_corpus/09_finish.sql ====

-- The end of a reindex run, what it retires, and looking at it.

create type api.reindex as (
    run_id uuid,
    tenant text,
    status text,
    added bigint,
    changed bigint,
    kept bigint,
    removed bigint,
    failed bigint,
    superseded bigint,
    retired integer,
    refused_removal integer,
    reason text,
    started_at timestamptz,
    finished_at timestamptz,
    sources jsonb
);
comment on type api.reindex is
    'A run: added, changed, kept and removed in chunks; failed, superseded and retired in sources.';

create function private.reindex_summary(p_tenant_id uuid, p_run_id uuid)
returns setof api.reindex
language sql stable
set search_path = ''
begin atomic
    select r.id, (select t.slug from app.tenants t where t.id = r.tenant_id), r.status,
        coalesce(sum(s.added), 0), coalesce(sum(s.changed), 0),
        coalesce(sum(s.kept), 0), coalesce(sum(s.removed), 0),
        count(*) filter (where s.status = 'error'), count(*) filter (where s.status = 'superseded'),
        r.retired, r.refused_removal, r.reason, r.started_at, r.finished_at,
        coalesce(jsonb_agg(jsonb_build_object('key', s.source_key, 'status', s.status, 'reason', s.reason)
            order by s.source_key) filter (where s.source_key is not null), '[]')
    from app.reindex_runs r
    left join app.reindex_run_sources s on s.tenant_id = r.tenant_id and s.run_id = r.id
    where r.tenant_id = p_tenant_id and r.id = p_run_id
    group by r.tenant_id, r.id;
end;
comment on function private.reindex_summary is 'A run with its counts in chunks and its sources.';
grant execute on function private.reindex_summary to authenticated, service_role;

create function private.vanished(
    p_tenant_id uuid, p_run_id uuid, p_listing text[], out ids uuid[], out lost integer)
language sql stable
set search_path = ''
begin atomic
    select coalesce(array_agg(s.id), '{}'),
        coalesce(sum(greatest(cardinality(s.chunk_ids) - coalesce(d.added, 0), 0)), 0)
    from app.sources s
    -- of another type in this run: the chunks that it wins are not lost
    left join app.reindex_run_sources d
        on d.tenant_id = p_tenant_id and d.run_id = p_run_id
        and d.source_key = s.source_key and d.source_type <> s.source_type
    where s.tenant_id = p_tenant_id
        -- an empty listing is a broken crawl, not an empty brand
        and cardinality(p_listing) > 0
        and (s.source_key <> all (p_listing) or d.run_id is not null)
        -- what a later run has met is not this run's to judge
        and not exists (
            select from app.reindex_run_sources l
            join app.reindex_runs r on r.tenant_id = l.tenant_id and r.id = l.run_id
            join app.reindex_runs m on m.tenant_id = r.tenant_id and m.id = p_run_id
            where l.tenant_id = p_tenant_id and l.source_key = s.source_key
                and r.generation > m.generation);
end;
comment on function private.vanished is
    'The sources that a listing of all lacks, and how many chunks are lost with them.';
grant execute on function private.vanished to authenticated, service_role;

create function private.finish_reindex(
    p_tenant_id uuid, p_run_id uuid, p_is_listed boolean, p_is_interrupted boolean,
    p_refused_removal integer, p_retiring uuid[], p_lost integer, p_removed integer,
    p_removal_left integer, p_now timestamptz)
returns void
language plpgsql
set search_path = ''
as $$
declare
    v_is_listed boolean;
    v_failed bigint;
    v_done bigint;
    v_retired integer := 0;
    v_refused integer := p_refused_removal;
begin
    select r.is_complete and p_is_listed and not p_is_interrupted into v_is_listed
    from app.reindex_runs r
    where r.tenant_id = p_tenant_id and r.id = p_run_id and r.status = 'running'
    for no key update;
    if not found then
        raise exception using errcode = 'PT404', message = 'not_found';
    end if;
    select count(*) filter (where d.status = 'error'), count(*) filter (where d.status <> 'error')
    into v_failed, v_done
    from app.reindex_run_sources d where d.tenant_id = p_tenant_id and d.run_id = p_run_id;

    if v_is_listed and p_lost > 0 and p_lost > p_removal_left then
        v_refused := p_removed + p_lost;
        v_is_listed := false;
    elsif v_is_listed then
        delete from app.sources s where s.tenant_id = p_tenant_id and s.id = any (p_retiring);
        get diagnostics v_retired = row_count;
    end if;
    update app.reindex_runs r
    set status = case when v_failed = 0 and not p_is_interrupted and v_refused is null then 'ready'
            when v_done = 0 then 'failed' else 'partial' end,
        reason = case when v_refused is not null then 'removal_refused' end,
        refused_removal = v_refused, is_listed = v_is_listed, retired = v_retired,
        finished_at = p_now
    where r.tenant_id = p_tenant_id and r.id = p_run_id;
end
$$;
comment on function private.finish_reindex is 'See api.finish_reindex.';
grant execute on function private.finish_reindex to authenticated, service_role;

create function api.finish_reindex(
    p_run_id uuid, p_listing text[], p_is_interrupted boolean default false,
    p_refused_removal integer default null)
returns setof api.reindex
language sql
set search_path = ''
begin atomic
    select private.lock_sources(private.required_admin_tenant_id());
    select private.finish_reindex(t.id, p_run_id, coalesce(cardinality(p_listing), 0) > 0,
        p_is_interrupted, p_refused_removal, v.ids, v.lost, m.so_far, m.left_over, now())
    from private.tenant_id() t (id)
    cross join private.vanished(t.id, p_run_id, p_listing) v
    left join private.removal(t.id, p_run_id, '') m on true;
    select s.* from private.reindex_summary(private.tenant_id(), p_run_id) s;
end;
comment on function api.finish_reindex is
    'Closes a run. A complete run that was not interrupted retires the sources that p_listing lacks; '
    'an empty listing retires none, and so does one without so many that the run would remove more '
    'chunks than it may: refused_removal then says how many. p_refused_removal: what a plan said so.';
grant execute on function api.finish_reindex to authenticated, service_role;

create function private.require_run(p_tenant_id uuid, p_run_id uuid) returns void
language plpgsql stable
set search_path = ''
as $$
begin
    if not exists (select from app.reindex_runs r where r.tenant_id = p_tenant_id and r.id = p_run_id) then
        raise exception using errcode = 'PT404', message = 'not_found';
    end if;
end
$$;
comment on function private.require_run is 'Ends the call with 404 when the brand has no such run.';
grant execute on function private.require_run to authenticated, service_role;

create function api.get_reindex(p_run_id uuid)
returns setof api.reindex
language sql
set search_path = ''
begin atomic
    select private.abandon_reindexes(private.required_admin_tenant_id(), p_run_id, now());
    select private.require_run(private.tenant_id(), p_run_id);
    select s.* from private.reindex_summary(private.tenant_id(), p_run_id) s;
end;
comment on function api.get_reindex is 'A run of the brand with its sources.';
grant execute on function api.get_reindex to authenticated, service_role;

-- ==== sql/20_corpus/10_preview.sql ====

-- What a reindex would do, for a person who wants to know before. Reads only, and needs no run.

create function api.preview_source(
    p_type text, p_key text, p_hashes bytea[], p_headings text[], p_indexes text[])
returns table (new_places integer[], changed integer, kept integer, removed integer, missing jsonb)
language sql stable
set search_path = ''
begin atomic
    select p.new_places, p.changed, p.kept, p.removed, p.missing
    from private.required_admin_tenant_id() t (id)
    cross join private.plan_reindex(t.id, p_type, p_key, p_hashes, p_headings, p_indexes) p;
end;
comment on function api.preview_source is
    'As api.plan_reindex, of a run that starts now and has not removed anything.';
grant execute on function api.preview_source to authenticated, service_role;

create function api.preview_listing(p_listing text[])
returns table (pool text, chunks bigint, retired integer, lost integer, removal_limit integer)
language sql stable
set search_path = ''
begin atomic
    select b.quota_pool, (select count(*) from app.chunks c where c.tenant_id = t.id),
        cardinality(v.ids), v.lost, private.removal_limit(t.id)
    from private.required_admin_tenant_id() t (id)
    join app.tenants b on b.id = t.id
    cross join private.vanished(t.id, null, p_listing) v;
end;
comment on function api.preview_listing is
    'The brand''s quota pool and chunks; the sources that a complete listing lacks, the chunks that are '
    'lost with them, and how many a run may remove without being told to (NULL: as many as there are).';
grant execute on function api.preview_listing to authenticated, service_role;

-- ==== sql/30_retrieval/01_rank.sql ====

-- How chunks are ranked and when they answer: shared by all indexes.
--
-- Order:    dense_weight * z(cosine) + lexical_weight * z(BM25), z being the standard score over
--           all chunks of the brand (0 for a chunk without a word of the question).
-- Evidence: M / (T + 6) + 0.6 * dense_weight * (cosine - 0.55), where T is the idf mass of the
--           question and M what the chunk matches of it; a word that the brand never uses counts
--           in T, so a question about a product of somebody else finds no answer here.
-- BM25 has k1 = 1.2 and b = 0: the chunks of a profile are about equally long.
-- Cost: one pass over the vectors of the brand, one btree scan for each word.

create type api.match as (
    chunk_id uuid,
    source_id uuid,
    source_type text,
    source_title text,
    source_url text,
    heading_path text,
    content text,
    language text,
    verified_at timestamptz,
    is_pricing boolean,
    is_stale boolean,
    is_relevant boolean,
    similarity double precision,
    score double precision
);
comment on type api.match is 'A chunk that a search found, with all that an answer needs of it.';
comment on column api.match.is_stale is
    'A price that nobody verified within the days that the brand allows.';
comment on column api.match.is_relevant is 'Whether it has the evidence to answer the question.';
comment on column api.match.similarity is 'The cosine; NULL when it has words and no vector yet.';

create function private.question_terms(p_tenant_id uuid, p_question text)
returns table (words integer[], lexemes text[])
language sql stable strict rows 1
set search_path = ''
begin atomic
    with languages as (
        select distinct s.language from app.sources s where s.tenant_id = p_tenant_id
    ), variants as (
        select t.word, t.lexeme, l.language
        from languages l, private.terms(p_question, l.language) t
    ), kept as (
        -- a word that is a stop word in one language of the brand says nothing in the others
        select v.word from variants v
        group by v.word
        having count(distinct v.language) = (select count(*) from languages)
    )
    select coalesce(array_agg(v.word), '{}'), coalesce(array_agg(v.lexeme), '{}')
    from (select distinct v.word, v.lexeme from variants v join kept k on k.word = v.word) v;
end;
comment on function private.question_terms is
    'The words of a question, each in the lexemes that the languages of the brand make of it.';
grant execute on function private.question_terms to authenticated, service_role;

create function private.lexical_scores(
    p_tenant_id uuid, p_words integer[], p_lexemes text[], p_chunks bigint)
returns table (ids uuid[], bm25 double precision[], matched double precision[])
language plpgsql stable strict rows 1
set search_path = ''
set plan_cache_mode = force_generic_plan -- or it is planned anew for the words of each question
as $$
begin
    if cardinality(p_words) > 0 then
        return query
        with hits as (
            select q.word, t.chunk_id, sum(t.frequency)::double precision as frequency
            from unnest(p_words, p_lexemes) q (word, lexeme)
            join app.chunk_terms t on t.tenant_id = p_tenant_id and t.lexeme = q.lexeme
            group by q.word, t.chunk_id
        ), spread as (
            select q.word, count(h.chunk_id)::double precision as chunks
            from (select distinct u.word from unnest(p_words) u (word)) q
            left join hits h on h.word = q.word
            group by q.word
        ), idf as (
            -- an index that is being filled has fewer chunks than a word may have: no less than that
            select s.word,
                ln(1 + (greatest(p_chunks, s.chunks) - s.chunks + 0.5) / (s.chunks + 0.5)) as value
            from spread s
        ), scores as (
            select h.chunk_id, sum(i.value * h.frequency * 2.2 / (h.frequency + 1.2)) as bm25,
                sum(i.value) / ((select sum(a.value) from idf a) + 6) as matched
            from hits h
            join idf i on i.word = h.word
            group by h.chunk_id
        )
        select coalesce(array_agg(s.chunk_id), '{}'), array_agg(s.bm25), array_agg(s.matched)
        from scores s;
    end if;
end
$$;
comment on function private.lexical_scores is
    'Of the chunks that hold a word of the question: BM25, and M / (T + 6). No row without words.';
grant execute on function private.lexical_scores to authenticated, service_role;

create function private.rank_chunks(
    p_tenant_id uuid, p_index app.embedding_indexes,
    p_ids uuid[], p_similarities double precision[],
    p_hits uuid[], p_bm25 double precision[], p_matched double precision[],
    p_dense_weight double precision, p_limit integer, p_now timestamptz)
returns setof api.match
language plpgsql stable rows 6
set search_path = ''
as $$
declare
    -- without words the cosine is both the score and the evidence
    v_ids uuid[] := p_ids;
    v_scores double precision[] := p_similarities;
    v_dense_weight double precision;
    v_skip integer;
    v_wanted integer := least(greatest(p_limit, 1), 50);
    v_found integer;
begin
    if p_index.lexical_weight > 0 and p_hits is not null then
        v_dense_weight := least(greatest(coalesce(p_dense_weight, p_index.dense_weight), 0.25), 2);
        with raw as materialized (
            -- full: the planner takes arrays for short, and a full join is hashed all the same; a
            -- chunk may have words and no vector yet
            select d.chunk_id, d.similarity, coalesce(h.bm25, 0) as bm25,
                h.chunk_id is not null as is_hit
            from (select unnest(p_ids), unnest(p_similarities)) d (chunk_id, similarity)
            full join (select unnest(p_hits), unnest(p_bm25)) h (chunk_id, bm25)
                on h.chunk_id = d.chunk_id
        ), spread as (
            select avg(r.similarity) as dense_mean,
                nullif(stddev_pop(r.similarity), 0) as dense_deviation,
                avg(r.bm25) as lexical_mean, nullif(stddev_pop(r.bm25), 0) as lexical_deviation
            from raw r where r.chunk_id is not null
        )
        select array_agg(r.chunk_id),
            array_agg(
                v_dense_weight * coalesce((r.similarity - s.dense_mean) / s.dense_deviation, 0)
                + case when r.is_hit then p_index.lexical_weight
                    * coalesce((r.bm25 - s.lexical_mean) / s.lexical_deviation, 0) else 0 end)
        into v_ids, v_scores
        from raw r, spread s where r.chunk_id is not null;
    end if;

    -- the best 64 first, and all others only if too few of those may be seen: finding 64 costs much
    -- less than sorting thousands
    foreach v_skip in array '{0,64}'::integer[] loop
        return query
        select r.chunk_id, c.source_id, c.source_type, c.title, c.url, c.heading_path, c.content,
            c.language, c.verified_at, c.is_pricing,
            c.is_pricing and (c.verified_at is null or c.verified_at < (
                select p_now - make_interval(days => l.verified_within_days)
                from app.tenant_limits l where l.tenant_id = p_tenant_id)),
            case when v_dense_weight is null then c.similarity >= p_index.min_similarity
                else coalesce(p_matched[array_position(p_hits, r.chunk_id)], 0)
                    + 0.6 * v_dense_weight * (c.similarity - 0.55) >= p_index.threshold end,
            c.similarity, r.score
        from (
            select unnest(v_ids), unnest(v_scores)
            order by 2 desc, 1
            offset v_skip limit case v_skip when 0 then 64 end
        ) r (chunk_id, score)
        cross join lateral (
            -- visibility and validity come before the limit, and one by one: the limit in here
            -- keeps the planner from looking up all chunks of the brand, to sort them afterwards
            select k.source_id, s.source_type, s.title, s.url, k.heading_path, k.content,
                k.language, k.verified_at, k.is_pricing,
                case when v_dense_weight is null then r.score
                    else p_similarities[array_position(p_ids, r.chunk_id)] end as similarity
            from app.chunks k
            join app.sources s on s.tenant_id = k.tenant_id and s.id = k.source_id
            where k.tenant_id = p_tenant_id and k.id = r.chunk_id
                and (s.valid_from is null or s.valid_from <= p_now)
                and (s.valid_to is null or s.valid_to > p_now)
            limit 1
        ) c
        order by r.score desc, r.chunk_id
        limit v_wanted;
        get diagnostics v_found = row_count;
        v_wanted := v_wanted - v_found;
        exit when v_wanted = 0 or cardinality(v_ids) <= 64;
    end loop;
end
$$;
comment on function private.rank_chunks is
    'The best chunks that the caller may see, best first, with all that an answer needs of them.';
grant execute on function private.rank_chunks to authenticated, service_role;

-- ==== sql/30_retrieval/02_match.sql ====

-- One exact search per index: a vector meets only vectors of its own model.
-- Exact: every chunk of the brand is compared, so a small brand beside a big one loses nothing.

create function private.embedding_index(
    p_name text, p_model text, p_embedding extensions.vector)
returns app.embedding_indexes
language plpgsql stable
set search_path = ''
as $$
declare
    v_index app.embedding_indexes;
begin
    select i.* into v_index
    from app.embedding_indexes i where i.name = p_name and i.model = p_model;
    -- dimensions are compared here too, since an empty table would compare nothing
    if not found or extensions.vector_dims(p_embedding) <> v_index.dimensions then
        raise exception using errcode = 'PT422', message = 'model_mismatch';
    end if;
    -- the cosine of a zero vector is NaN, and NaN passes every threshold
    if coalesce(extensions.vector_norm(p_embedding), 0) = 0 then
        raise exception using errcode = 'PT400', message = 'bad_request',
            detail = 'the vector has no direction';
    end if;
    return v_index;
end
$$;
comment on function private.embedding_index is
    'The row of an index. A vector without direction, or not of the model and dimensions of the index, '
    'ends the call.';
grant execute on function private.embedding_index to authenticated, service_role;

create function private.similarities(
    p_tenant_id uuid, p_index text, p_embedding extensions.vector,
    out ids uuid[], out similarities double precision[])
language plpgsql stable
set search_path = ''
set plan_cache_mode = force_generic_plan -- or a small brand is planned anew each time
as $$
begin
    if p_index = 'primary' then
        select array_agg(e.chunk_id),
            array_agg(1 - (e.embedding operator(extensions.<=>) p_embedding))
        into ids, similarities
        from app.chunk_embeddings_primary e
        where e.tenant_id = p_tenant_id;
    elsif p_index = 'fallback' then
        select array_agg(e.chunk_id),
            array_agg(1 - (e.embedding operator(extensions.<=>) p_embedding))
        into ids, similarities
        from app.chunk_embeddings_fallback e
        where e.tenant_id = p_tenant_id;
    elsif p_index = 'local' then
        select array_agg(e.chunk_id),
            array_agg(1 - (e.embedding operator(extensions.<=>) p_embedding))
        into ids, similarities
        from app.chunk_embeddings_local e
        where e.tenant_id = p_tenant_id;
    end if;
end
$$;
comment on function private.similarities is
    'The cosine of every chunk of the brand in an index.';
grant execute on function private.similarities to authenticated, service_role;

create function api.match_chunks_primary(
    p_embedding extensions.vector, p_model text, p_question text default '',
    p_limit integer default 6, p_dense_weight double precision default null)
returns setof api.match
language sql stable rows 6
set search_path = ''
begin atomic
    select r.*
    from private.required_tenant_id() t (id)
    cross join private.embedding_index('primary', p_model, p_embedding) i
    cross join private.similarities(t.id, i.name, p_embedding) s
    left join private.question_terms(t.id, nullif(p_question, '')) q on true
    left join private.lexical_scores(t.id, q.words, q.lexemes, cardinality(s.ids)) l on true
    cross join private.rank_chunks(t.id, i, s.ids, s.similarities, l.ids, l.bm25, l.matched,
        p_dense_weight, p_limit, now()) r;
end;
comment on function api.match_chunks_primary is
    'The chunks of the caller''s brand that are closest to a question of the primary index''s model. '
    'Without p_question: by cosine alone.';
grant execute on function api.match_chunks_primary to authenticated, service_role;

create function api.match_chunks_fallback(
    p_embedding extensions.vector, p_model text, p_question text default '',
    p_limit integer default 6, p_dense_weight double precision default null)
returns setof api.match
language sql stable rows 6
set search_path = ''
begin atomic
    select r.*
    from private.required_tenant_id() t (id)
    cross join private.embedding_index('fallback', p_model, p_embedding) i
    cross join private.similarities(t.id, i.name, p_embedding) s
    left join private.question_terms(t.id, nullif(p_question, '')) q on true
    left join private.lexical_scores(t.id, q.words, q.lexemes, cardinality(s.ids)) l on true
    cross join private.rank_chunks(t.id, i, s.ids, s.similarities, l.ids, l.bm25, l.matched,
        p_dense_weight, p_limit, now()) r;
end;
comment on function api.match_chunks_fallback is
    'The chunks of the caller''s brand that are closest to a question of the fallback index''s model. '
    'Without p_question: by cosine alone.';
grant execute on function api.match_chunks_fallback to authenticated, service_role;

create function api.match_chunks_local(
    p_embedding extensions.vector, p_model text, p_question text default '',
    p_limit integer default 6, p_dense_weight double precision default null)
returns setof api.match
language sql stable rows 6
set search_path = ''
begin atomic
    select r.*
    from private.required_tenant_id() t (id)
    cross join private.embedding_index('local', p_model, p_embedding) i
    cross join private.similarities(t.id, i.name, p_embedding) s
    left join private.question_terms(t.id, nullif(p_question, '')) q on true
    left join private.lexical_scores(t.id, q.words, q.lexemes, cardinality(s.ids)) l on true
    cross join private.rank_chunks(t.id, i, s.ids, s.similarities, l.ids, l.bm25, l.matched,
        p_dense_weight, p_limit, now()) r;
end;
comment on function api.match_chunks_local is
    'The chunks of the caller''s brand that are closest to a question of the local index''s model. '
    'Without p_question: by cosine alone.';
grant execute on function api.match_chunks_local to authenticated, service_role;

-- ==== sql/40_quota/01_models.sql ====

-- The model ladder and what each model was used today, with each of the provider's keys.
-- A model's day is the provider's: it turns at midnight in the time zone of the row.

create table app.models (
    name text primary key,
    task text not null check (task in ('generate', 'embed')),
    rung integer not null check (rung > 0),
    calls_per_day integer not null check (calls_per_day >= 0),
    time_zone text not null default 'America/Los_Angeles'
        check (timezone(time_zone, timestamp '2000-01-01') is not null),
    unique (task, rung)
);
comment on table app.models is
    'Models in the order in which they are tried, with their free daily quota.';
comment on column app.models.rung is 'Lower is tried first: the lightest model leads.';
alter table app.models enable row level security;
alter table app.models force row level security;
create policy models_select_member on app.models for select to authenticated
    using ((select private.tenant_id()) is not null);
grant select on app.models to authenticated, service_role;

insert into app.models (name, task, rung, calls_per_day) values
    ('gemini-3.5-flash-lite', 'generate', 1, 1000),
    ('gemini-3.1-flash-lite', 'generate', 2, 1000),
    ('gemini-3.6-flash', 'generate', 3, 250),
    ('gemini-embedding-001', 'embed', 1, 1000),
    ('gemini-embedding-2', 'embed', 2, 1000);

create table private.model_days (
    pool text not null,
    model text not null references app.models on delete cascade,
    day date not null,
    calls integer not null default 0 check (calls >= 0),
    closed_until timestamptz,
    primary key (model, pool, day)
);
comment on table private.model_days is
    'Calls of a model on a day of its provider with one key, and until when it is closed.';
comment on column private.model_days.pool is 'As app.tenants.quota_pool.';
comment on column private.model_days.calls is 'Made or reserved: the open and settled rows of the ledger.';
alter table private.model_days enable row level security;
alter table private.model_days force row level security;

create function private.open_models(p_pool text, p_task text, p_now timestamptz) returns setof text
language sql stable strict
set search_path = ''
begin atomic
    select m.name
    from app.models m
    left join private.model_days d
        on d.pool = p_pool and d.model = m.name and d.day = (p_now at time zone m.time_zone)::date
    where m.task = p_task
        and coalesce(d.calls, 0) < m.calls_per_day
        -- a pause may have begun before midnight
        and not exists (
            select from private.model_days c
            where c.pool = p_pool and c.model = m.name
                and c.day >= (p_now at time zone m.time_zone)::date - 1 and c.closed_until > p_now)
    order by m.rung;
end;
comment on function private.open_models is
    'The models that may be called now with the key of a pool, first to last; without a pool none.';

create function private.take_call(p_pool text, p_model text, p_now timestamptz) returns date
language sql
set search_path = ''
begin atomic
    insert into private.model_days as d (pool, model, day, calls)
    select p_pool, m.name, (p_now at time zone m.time_zone)::date, 1
    from app.models m
    where m.name = p_model and m.name in (select private.open_models(p_pool, m.task, p_now))
    on conflict (model, pool, day) do update set calls = d.calls + 1
        where d.calls < (select m.calls_per_day from app.models m where m.name = d.model)
    returning d.day;
end;
comment on function private.take_call is
    'The day of the provider on which one call was taken; NULL when the model has none left.';

create function private.close_model(
    p_pool text, p_model text, p_outcome text, p_wait_seconds integer, p_now timestamptz)
returns void
language sql
set search_path = ''
begin atomic
    insert into private.model_days as d (pool, model, day, closed_until)
    select p_pool, m.name, (p_now at time zone m.time_zone)::date,
        case p_outcome
            when 'quota_day' then
                ((p_now at time zone m.time_zone)::date + 1)::timestamp at time zone m.time_zone
            else p_now + make_interval(secs => least(coalesce(p_wait_seconds, 60), 3600)) end
    from app.models m
    where m.name = p_model and p_outcome in ('quota_day', 'quota_minute')
    on conflict (model, pool, day) do update
        set closed_until = greatest(d.closed_until, excluded.closed_until);
end;
comment on function private.close_model is
    'Closes a model whose quota is spent until the provider opens it again; does nothing after '
    'any other outcome.';

-- ==== sql/40_quota/02_counters.sql ====

-- Counters of our own limits: per user and minute, per brand and day, for all together and day.
-- Each is taken by one atomic statement (n = n + 1 where n < cap), so that parallel requests cannot
-- pass a cap. Order of locks: user, brand, installation, models; who touches more than one model
-- holds the row of the installation. So no two requests wait for each other.
-- What was taken is written down in the ledger (50_turns/02_ledger.sql).

create table private.user_minutes (
    user_id uuid primary key,
    minute timestamptz not null,
    turns integer not null check (turns >= 0)
);
comment on table private.user_minutes is 'Turns of a user in the current minute. One row a user.';
alter table private.user_minutes enable row level security;
alter table private.user_minutes force row level security;

create table private.tenant_days (
    tenant_id uuid not null references app.tenants on delete cascade,
    day date not null,
    turns integer not null check (turns >= 0),
    primary key (tenant_id, day)
);
comment on table private.tenant_days is 'Turns of a brand on a day of its own time zone.';
alter table private.tenant_days enable row level security;
alter table private.tenant_days force row level security;

create table private.installation (
    is_only_row boolean primary key default true check (is_only_row),
    turns_per_day integer not null default 20000 check (turns_per_day > 0),
    day date not null default '-infinity',
    turns integer not null default 0 check (turns >= 0)
);
comment on table private.installation is
    'Turns of all brands on the current UTC day, and their cap. One row.';
alter table private.installation enable row level security;
alter table private.installation force row level security;
insert into private.installation default values;

create function private.take_user_turn(p_user_id uuid, p_cap integer, p_now timestamptz)
returns timestamptz
language sql
set search_path = ''
begin atomic
    insert into private.user_minutes as m (user_id, minute, turns)
    values (p_user_id, date_trunc('minute', p_now), 1)
    on conflict (user_id) do update
        -- who began before the minute turned, and comes after somebody who did not, is of the new one
        set turns = case when m.minute < excluded.minute then 1 else m.turns + 1 end,
            minute = greatest(m.minute, excluded.minute)
        where m.minute < excluded.minute or m.turns < p_cap
    returning m.minute;
end;
comment on function private.take_user_turn is
    'The minute in which the user had a turn left; NULL when there was none.';

create function private.take_tenant_turn(p_tenant_id uuid, p_cap integer, p_day date) returns boolean
language sql
set search_path = ''
begin atomic
    insert into private.tenant_days as d (tenant_id, day, turns) values (p_tenant_id, p_day, 1)
    on conflict (tenant_id, day) do update set turns = d.turns + 1 where d.turns < p_cap
    returning true;
end;
comment on function private.take_tenant_turn is
    'True when the brand had a turn left on that day; else NULL.';

create function private.take_global_turn(p_now timestamptz, p_extra integer default 0) returns date
language sql
set search_path = ''
begin atomic
    update private.installation i
    set turns = case when i.day < d.day then 1 else i.turns + 1 end, day = greatest(i.day, d.day)
    from (select (p_now at time zone 'UTC')::date) d (day)
    where i.day < d.day or i.turns < i.turns_per_day + p_extra
    returning i.day;
end;
comment on function private.take_global_turn is
    'The UTC day on which the installation had a turn left; NULL when there was none. p_extra: turns '
    'about to be returned.';

create function private.return_turn(
    p_user_id uuid, p_minute timestamptz, p_tenant_id uuid, p_day date, p_global_day date)
returns void
language plpgsql
set search_path = ''
as $$
begin
    update private.user_minutes m set turns = m.turns - 1
    where m.user_id = p_user_id and m.minute = p_minute;
    update private.tenant_days d set turns = d.turns - 1
    where d.tenant_id = p_tenant_id and d.day = p_day;
    -- locks the row also when the day is over: see the order of locks above
    update private.installation i
    set turns = i.turns - case when i.day = p_global_day then 1 else 0 end;
end
$$;
comment on function private.return_turn is
    'Gives a turn back to whom it was taken from; a NULL minute or day is not concerned.';

-- ==== sql/40_quota/03_reindex_calls.sql ====

-- What a reindex takes from the quota of the embedding models: one call for each request that it makes,
-- before it makes it. Nothing is given back, since it is made at once.

create table private.reindex_calls (
    tenant_id uuid not null,
    run_id uuid not null,
    model text not null references app.models on delete cascade,
    pool text not null,
    day date not null,
    calls integer not null check (calls > 0),
    primary key (tenant_id, run_id, model, pool, day),
    foreign key (tenant_id, run_id) references app.reindex_runs on delete cascade
);
comment on table private.reindex_calls is
    'Calls of a model that a reindex run has made on a day of the provider.';
create index reindex_calls_model on private.reindex_calls (model);
alter table private.reindex_calls enable row level security;
alter table private.reindex_calls force row level security;

create function private.take_reindex_call(
    p_tenant_id uuid, p_run_id uuid, p_model text, p_now timestamptz)
returns boolean
language sql security definer
set search_path = ''
begin atomic
    with taken as (
        insert into private.reindex_calls as c (tenant_id, run_id, model, pool, day, calls)
        select r.tenant_id, r.id, p_model, t.quota_pool, d.day, 1
        from app.reindex_runs r
        join app.tenants t on t.id = r.tenant_id,
            private.take_call(t.quota_pool, p_model, p_now) d (day)
        where r.tenant_id = p_tenant_id and r.id = p_run_id and r.status = 'running'
            and d.day is not null
        on conflict (tenant_id, run_id, model, pool, day) do update set calls = c.calls + 1
        returning true
    )
    select count(*) > 0 from taken;
end;
comment on function private.take_reindex_call is 'See api.take_reindex_call.';
grant execute on function private.take_reindex_call to authenticated, service_role;

create function api.take_reindex_call(p_run_id uuid, p_model text) returns boolean
language sql
set search_path = ''
begin atomic
    select private.require_functions(); -- over PostgREST an admin would take what is never called
    select private.take_reindex_call(private.required_admin_tenant_id(), p_run_id, p_model, now());
end;
comment on function api.take_reindex_call is
    'Whether a running reindex may call the model once more. Asked before each call.';
grant execute on function api.take_reindex_call to authenticated, service_role;

create function private.embedding_quota(p_tenant_id uuid, p_now timestamptz)
returns table (model text, calls_per_day integer, calls_left integer)
language sql stable security definer
set search_path = ''
begin atomic
    select m.name, m.calls_per_day, case when m.name in (
            select private.open_models(t.quota_pool, 'embed', p_now))
        then m.calls_per_day - coalesce(d.calls, 0) else 0 end
    from app.tenants t
    cross join app.models m
    left join private.model_days d
        on d.pool = t.quota_pool and d.model = m.name and d.day = (p_now at time zone m.time_zone)::date
    where t.id = p_tenant_id and m.task = 'embed'
    order by m.rung;
end;
comment on function private.embedding_quota is 'See api.embedding_quota.';
grant execute on function private.embedding_quota to authenticated, service_role;

create function api.embedding_quota()
returns table (model text, calls_per_day integer, calls_left integer)
language sql stable
set search_path = ''
begin atomic
    select q.* from private.embedding_quota(private.required_admin_tenant_id(), now()) q;
end;
comment on function api.embedding_quota is
    'The calls of each embedding model that are left of its provider''s day, with the brand''s key.';
grant execute on function api.embedding_quota to authenticated, service_role;

-- ==== sql/50_turns/01_turns.sql ====

-- Turns: each question with what became of it, refusals included, and the chunks it used.

create table app.turns (
    tenant_id uuid not null references app.tenants on delete cascade,
    id uuid not null,
    conversation_id uuid not null,
    user_id uuid references auth.users on delete set null,
    status text not null check (status in
        ('running', 'answered', 'held', 'no_match', 'refused', 'failed', 'aborted')),
    refusal text,
    run integer not null default 1 check (run > 0),
    question text not null check (length(question) <= 8000),
    answer text,
    language text check (language ~ '^[a-z]{2}$'),
    as_of date,
    index_name text references app.embedding_indexes,
    model text,
    attempts jsonb not null default '[]' check (jsonb_typeof(attempts) = 'array'),
    milliseconds jsonb not null default '{}' check (jsonb_typeof(milliseconds) = 'object'),
    created_at timestamptz not null default now(),
    finished_at timestamptz,
    primary key (tenant_id, id),
    check ((status = 'refused') = (refusal is not null)),
    check ((status = 'running') = (finished_at is null))
);
comment on table app.turns is 'A question and what became of it. Kept for the review of the brand.';
comment on column app.turns.status is
    'held: the answer would have been a price that nobody verified in time, so it was not said.';
comment on column app.turns.refusal is 'The code of the limit that refused it.';
comment on column app.turns.run is
    'How often it was begun: one that was refused, failed or aborted may be asked again under its id.';
comment on column app.turns.as_of is 'The oldest verification of a price in the answer.';
comment on column app.turns.model is 'What wrote the answer: a model, or extractive.';
comment on column app.turns.attempts is
    'Calls of models: [{model, outcome, ms, input_tokens, output_tokens}].';
create index turns_conversation on app.turns (tenant_id, user_id, conversation_id, created_at);
create index turns_user on app.turns (user_id);
create index turns_index_name on app.turns (index_name);
alter table app.turns enable row level security;
alter table app.turns force row level security;
create policy turns_select_own_or_admin on app.turns for select to authenticated
    using (
        tenant_id = (select private.tenant_id())
        and (user_id = (select private.user_id()) or (select private.is_admin()))
    );
grant select on app.turns to authenticated, service_role;

create table app.turn_sources (
    tenant_id uuid not null,
    turn_id uuid not null,
    place integer not null check (place >= 0),
    chunk_id uuid,
    source_id uuid,
    content_hash bytea not null,
    source_type text not null,
    title text not null,
    url text,
    heading_path text not null,
    verified_at timestamptz,
    similarity double precision not null,
    primary key (tenant_id, turn_id, place),
    foreign key (tenant_id, turn_id) references app.turns on delete cascade,
    foreign key (tenant_id, chunk_id) references app.chunks on delete set null (chunk_id),
    foreign key (tenant_id, source_id) references app.sources on delete set null (source_id)
);
comment on table app.turn_sources is 'The chunks that an answer was made from, best first.';
comment on column app.turn_sources.content_hash is
    'Which text it was, also after the chunk is gone.';
comment on column app.turn_sources.title is
    'Title, URL and heading as they were shown, also after the source has changed.';
comment on column app.turn_sources.verified_at is 'How fresh it was when it was used.';
create index turn_sources_chunk on app.turn_sources (tenant_id, chunk_id);
create index turn_sources_source on app.turn_sources (tenant_id, source_id);
alter table app.turn_sources enable row level security;
alter table app.turn_sources force row level security;
create policy turn_sources_select_with_turn on app.turn_sources for select to authenticated
    using (
        tenant_id = (select private.tenant_id())
        and exists (
            select from app.turns t
            where t.tenant_id = turn_sources.tenant_id and t.id = turn_sources.turn_id)
    );
grant select on app.turn_sources to authenticated, service_role;

-- ==== sql/50_turns/02_ledger.sql ====

-- The ledger: what was taken from the counters, for which turn, and what became of it.
-- Decides what a turn costs. A reservation is open while the turn runs; then it is settled, or
-- refunded:
--   turn  settled when the turn was answered, held, unanswered, or its reader left (aborted);
--         refunded when it failed on our side or all models failed, also if the documents' own
--         sentences took over; and when a process died: after its lease.
--   call  settled when the provider was called, however that ended; else refunded.
-- A turn that its reader left may be asked again under its id: its first run is refunded then, so
-- that one answer costs one turn. Counters are the sums of the rows that are not refunded.

create table private.turn_reservations (
    tenant_id uuid not null,
    turn_id uuid not null,
    run integer not null,
    user_id uuid not null,
    minute timestamptz not null,
    day date not null,
    global_day date not null,
    state text not null default 'open' check (state in ('open', 'settled', 'refunded')),
    lease_ends_at timestamptz not null,
    closed_at timestamptz,
    primary key (tenant_id, turn_id, run),
    foreign key (tenant_id, turn_id) references app.turns on delete cascade,
    check ((state = 'open') = (closed_at is null))
);
comment on table private.turn_reservations is
    'One turn of a user''s minute, a brand''s day and the installation''s day.';
comment on column private.turn_reservations.lease_ends_at is
    'Then whoever held it is dead: longer than any turn, and than the minute of the user.';
create unique index turn_reservations_open on private.turn_reservations (tenant_id, turn_id)
    where state = 'open';
create index turn_reservations_lease on private.turn_reservations (lease_ends_at)
    where state = 'open';
alter table private.turn_reservations enable row level security;
alter table private.turn_reservations force row level security;

create function private.keep_ledger() returns trigger
language plpgsql
set search_path = ''
as $$
begin
    if old.state = 'refunded' or new.state = 'open' or new.state = old.state
        or to_jsonb(new) - '{state,closed_at}'::text[] <> to_jsonb(old) - '{state,closed_at}'::text[] then
        raise exception using errcode = 'PT500', message = 'internal',
            detail = 'an entry of the ledger does not change';
    end if;
    return new;
end
$$;
comment on function private.keep_ledger is
    'Entries only move on: open to settled or refunded, settled to refunded.';
create trigger turn_reservations_keep before update on private.turn_reservations
    for each row execute function private.keep_ledger();
comment on trigger turn_reservations_keep on private.turn_reservations is 'See private.keep_ledger.';

create function private.reserve_turn(
    p_tenant_id uuid, p_user_id uuid, p_turn_id uuid, p_run integer, p_now timestamptz,
    out refusal text, out retry_after_seconds integer)
language plpgsql
set search_path = ''
as $$
declare
    v_limits record;
    v_minute timestamptz;
    v_global_day date;
    v_earlier integer;
    v_returning integer;
begin
    select (p_now at time zone t.time_zone)::date as today, t.time_zone, l.*
    into strict v_limits
    from app.tenants t join app.tenant_limits l on l.tenant_id = t.id where t.id = p_tenant_id;
    -- what a run that its reader left has cost today is returned below, but not for ever: a reader
    -- who reads and leaves again and again pays
    select r.run into v_earlier from private.turn_reservations r
    where r.tenant_id = p_tenant_id and r.turn_id = p_turn_id and p_run <= 3
        and r.state = 'settled' and r.day = v_limits.today
        and r.global_day = (p_now at time zone 'UTC')::date;
    v_returning := case when v_earlier is null then 0 else 1 end;

    v_minute := private.take_user_turn(p_user_id, v_limits.turns_per_minute, p_now);
    if v_minute is null then
        refusal := 'rate_limited';
        retry_after_seconds := ceil(60 - extract(second from p_now));
        return;
    end if;
    if private.take_tenant_turn(
            p_tenant_id, v_limits.turns_per_day + v_returning, v_limits.today) is null then
        refusal := 'tenant_cap_reached';
        retry_after_seconds := ceil(extract(epoch from
            (v_limits.today + 1)::timestamp at time zone v_limits.time_zone - p_now));
        perform private.return_turn(p_user_id, v_minute, null, null, null);
        return;
    end if;
    v_global_day := private.take_global_turn(p_now, v_returning);
    if v_global_day is null then
        refusal := 'global_cap_reached';
        retry_after_seconds := ceil(extract(epoch from
            ((p_now at time zone 'UTC')::date + 1)::timestamp at time zone 'UTC' - p_now));
        perform private.return_turn(p_user_id, v_minute, p_tenant_id, v_limits.today, null);
        return;
    end if;
    insert into private.turn_reservations
        (tenant_id, turn_id, run, user_id, minute, day, global_day, lease_ends_at)
    values (p_tenant_id, p_turn_id, p_run, p_user_id, v_minute, v_limits.today, v_global_day,
        p_now + interval '5 minutes');
    perform private.refund_turn(p_tenant_id, p_turn_id, v_earlier, p_now);
end
$$;
comment on function private.reserve_turn is
    'Takes a turn from user, brand and installation, all or none: NULL, or the limit in the way.';

create function private.refund_turn(p_tenant_id uuid, p_turn_id uuid, p_run integer, p_now timestamptz)
returns void
language plpgsql
set search_path = ''
as $$
declare
    v_turn private.turn_reservations;
begin
    update private.turn_reservations r set state = 'refunded', closed_at = p_now
    where r.tenant_id = p_tenant_id and r.turn_id = p_turn_id and r.run = p_run
        and r.state <> 'refunded'
    returning r.* into v_turn;
    if found then
        perform private.return_turn(v_turn.user_id,
            -- a minute that is over is nobody's any more, and its row may be locked by its user
            case when v_turn.minute > p_now - interval '1 minute' then v_turn.minute end,
            v_turn.tenant_id, v_turn.day, v_turn.global_day);
    end if;
end
$$;
comment on function private.refund_turn is
    'Gives back what a run took from the three counters. A second time it does nothing.';

-- ==== sql/50_turns/03_calls.sql ====

-- The ledger of model calls: each is reserved before it is made. The first ones with the begin of a turn,
-- a further one when a model failed.

create table private.call_reservations (
    tenant_id uuid not null,
    turn_id uuid not null,
    run integer not null,
    number integer not null,
    pool text not null,
    model text not null references app.models on delete cascade,
    day date not null,
    state text not null default 'open' check (state in ('open', 'settled', 'refunded')),
    closed_at timestamptz,
    primary key (tenant_id, turn_id, run, number),
    foreign key (tenant_id, turn_id, run) references private.turn_reservations on delete cascade,
    check ((state = 'open') = (closed_at is null))
);
comment on table private.call_reservations is 'One call of a model, on a day of its provider.';
create index call_reservations_model on private.call_reservations (model);
alter table private.call_reservations enable row level security;
alter table private.call_reservations force row level security;
create trigger call_reservations_keep before update on private.call_reservations
    for each row execute function private.keep_ledger();
comment on trigger call_reservations_keep on private.call_reservations is 'See private.keep_ledger.';

create function private.take_reserved_call(
    p_tenant_id uuid, p_turn_id uuid, p_run integer, p_model text, p_now timestamptz)
returns boolean
language sql
set search_path = ''
begin atomic
    insert into private.call_reservations (tenant_id, turn_id, run, number, pool, model, day)
    select p_tenant_id, p_turn_id, p_run,
        (select count(*) from private.call_reservations c
            where c.tenant_id = p_tenant_id and c.turn_id = p_turn_id and c.run = p_run),
        t.quota_pool, p_model, d.day
    from app.tenants t, private.take_call(t.quota_pool, p_model, p_now) d (day)
    where t.id = p_tenant_id and d.day is not null
    returning true;
end;
comment on function private.take_reserved_call is
    'Reserves one call of a model for a run. True when it had one left; else NULL.';

create function private.reserve_first_calls(
    p_tenant_id uuid, p_turn_id uuid, p_run integer, p_pool text, p_now timestamptz,
    out indexes text[], out models text[])
language plpgsql
set search_path = ''
as $$
declare
    v_model text;
begin
    -- what was open when it was listed may be taken a moment later: then the next one leads
    indexes := private.usable_indexes(p_tenant_id, p_pool, p_now);
    while cardinality(indexes) > 0 loop
        select m.name into v_model
        from app.embedding_indexes i join app.models m on m.name = i.model where i.name = indexes[1];
        exit when not found
            or private.take_reserved_call(p_tenant_id, p_turn_id, p_run, v_model, p_now);
        indexes := indexes[2:];
    end loop;
    models := array(select private.open_models(p_pool, 'generate', p_now));
    while cardinality(models) > 0 loop
        exit when private.take_reserved_call(p_tenant_id, p_turn_id, p_run, models[1], p_now);
        models := models[2:];
    end loop;
end
$$;
comment on function private.reserve_first_calls is
    'What a run may search and who may write, best first; one call of each first one is reserved.';

create function private.close_calls(
    p_tenant_id uuid, p_turn_id uuid, p_run integer, p_attempts jsonb, p_now timestamptz)
returns void
language plpgsql
set search_path = ''
as $$
begin
    -- see the order of locks in 40_quota: several models may be touched here
    perform from private.installation for update;
    with made as (
        select a.model, count(*) as calls
        from jsonb_to_recordset(p_attempts) a (model text) group by a.model
    ), open as (
        select c.number, c.model, row_number() over (partition by c.model order by c.number) as place
        from private.call_reservations c
        where c.tenant_id = p_tenant_id and c.turn_id = p_turn_id and c.run = p_run and c.state = 'open'
    ), closed as (
        update private.call_reservations c
        set state = case when o.place <= m.calls then 'settled' else 'refunded' end, closed_at = p_now
        from open o left join made m on m.model = o.model
        where c.tenant_id = p_tenant_id and c.turn_id = p_turn_id and c.run = p_run
            and c.number = o.number
        returning c.pool, c.model, c.day, c.state
    )
    update private.model_days d set calls = d.calls - r.calls
    from (
        select c.pool, c.model, c.day, count(*) as calls from closed c
        where c.state = 'refunded' group by c.pool, c.model, c.day
    ) r
    where d.pool = r.pool and d.model = r.model and d.day = r.day;

    perform private.close_model(t.quota_pool, a.model, a.outcome, a.wait_seconds, p_now)
    from app.tenants t, jsonb_to_recordset(p_attempts) a (model text, outcome text, wait_seconds integer)
    where t.id = p_tenant_id;
end
$$;
comment on function private.close_calls is
    'Settles the calls that a run made, refunds those that it did not, closes models without quota.';

create function private.return_expired(p_now timestamptz) returns integer
language plpgsql
set search_path = ''
as $$
declare
    v_runs private.turn_reservations[];
    v_run private.turn_reservations;
begin
    -- all before the first is returned: a row that was changed in between would pass for locked
    v_runs := array(
        select r
        from private.turn_reservations r
        join app.turns t on t.tenant_id = r.tenant_id and t.id = r.turn_id
        join private.tenant_days d on d.tenant_id = r.tenant_id and d.day = r.day
        where r.state = 'open' and r.lease_ends_at < p_now
        -- waits for nobody, so it may come after all other locks
        for no key update of r, t, d skip locked);
    foreach v_run in array v_runs loop
        perform private.refund_turn(v_run.tenant_id, v_run.turn_id, v_run.run, p_now);
        perform private.close_calls(v_run.tenant_id, v_run.turn_id, v_run.run, '[]', p_now);
        update app.turns t set status = 'failed', finished_at = p_now
        where t.tenant_id = v_run.tenant_id and t.id = v_run.turn_id;
    end loop;
    return cardinality(v_runs);
end
$$;
comment on function private.return_expired is
    'Refunds the turns of dead processes, of all brands: their number. Each new turn calls it.';

create function private.reserve_call(
    p_tenant_id uuid, p_user_id uuid, p_turn_id uuid, p_run integer, p_model text, p_now timestamptz)
returns boolean
language plpgsql security definer
set search_path = ''
as $$
begin
    perform private.require_functions();
    -- locked, or the turn could end in between and leave the call open
    perform from app.turns t
    where t.tenant_id = p_tenant_id and t.user_id = p_user_id and t.id = p_turn_id
        and t.run = p_run and t.status = 'running'
    for no key update;
    if not found then
        perform private.refuse(404, 'not_found');
    end if;
    return coalesce(private.take_reserved_call(p_tenant_id, p_turn_id, p_run, p_model, p_now), false);
end
$$;
comment on function private.reserve_call is 'See api.reserve_call.';
grant execute on function private.reserve_call to authenticated;

create function api.reserve_call(p_turn_id uuid, p_run integer, p_model text) returns boolean
language sql
set search_path = ''
begin atomic
    select private.reserve_call(private.required_tenant_id(), private.user_id(), p_turn_id, p_run,
        p_model, now());
end;
comment on function api.reserve_call is
    'Whether the model may be called once more for a running turn of the signed-in user.';
grant execute on function api.reserve_call to authenticated;

-- ==== sql/50_turns/04_begin.sql ====

-- The first transaction of a question: may it be asked, and with what?
-- Takes the counters, writes the turn, and hands back all that the answer needs to know. A refusal
-- is a row too, so that a brand sees what its people could not ask. The same turn may come again: it
-- is answered once, and begun anew only when it was refused, failed or aborted.

create function private.open_turn(
    p_tenant_id uuid, p_user_id uuid, p_turn_id uuid, p_conversation_id uuid, p_question text,
    p_now timestamptz, out state text, out run integer)
language plpgsql
set search_path = ''
as $$
declare
    v_turn app.turns;
begin
    -- told by the insert itself, since the same request may come twice at once
    insert into app.turns (tenant_id, id, conversation_id, user_id, status, question, created_at)
    values (p_tenant_id, p_turn_id, p_conversation_id, p_user_id, 'running', p_question, p_now)
    on conflict do nothing;
    if found then
        state := 'begun';
        run := 1;
        return;
    end if;
    select t.* into v_turn from app.turns t
    where t.tenant_id = p_tenant_id and t.id = p_turn_id for update;
    if v_turn.user_id is distinct from p_user_id or v_turn.question <> p_question then
        perform private.refuse(409, 'turn_id_used');
    end if;
    state := case
        when v_turn.status = 'running' then 'running'
        when v_turn.status in ('answered', 'held', 'no_match') then 'finished'
        else 'begun' end;
    run := v_turn.run;
    if state = 'begun' then
        run := run + 1;
        update app.turns t
        set status = 'running', refusal = null, run = open_turn.run, answer = null, attempts = '[]',
            created_at = p_now, finished_at = null
        where t.tenant_id = p_tenant_id and t.id = p_turn_id;
    end if;
end
$$;
comment on function private.open_turn is
    'begun: the caller answers it. running: another request does. finished: the answer is there.';

create function private.begin_turn(
    p_tenant_id uuid, p_user_id uuid, p_question text, p_turn_id uuid, p_conversation_id uuid,
    p_language text, p_pools text[], p_now timestamptz)
returns table (
    turn_id uuid, run integer, state text, conversation_id uuid, refusal text,
    retry_after_seconds integer, brand text, language text, persona text, fallback text,
    history jsonb, pool text, indexes text[], models text[], verified_within_days integer,
    has_documents boolean)
language plpgsql security definer
set search_path = ''
as $$
declare
    v_limits record;
begin
    perform private.require_functions();
    select t.name, t.language, t.quota_pool, l.question_characters, l.verified_within_days
    into strict v_limits
    from app.tenants t join app.tenant_limits l on l.tenant_id = t.id where t.id = p_tenant_id;
    turn_id := coalesce(p_turn_id, gen_random_uuid());
    conversation_id := coalesce(p_conversation_id, turn_id);
    select o.state, o.run into begin_turn.state, begin_turn.run
    from private.open_turn(p_tenant_id, p_user_id, begin_turn.turn_id, begin_turn.conversation_id,
        left(p_question, v_limits.question_characters), p_now) o;
    if state = 'begun' then
        if p_question = '' then
            refusal := 'question_empty';
        elsif length(p_question) > v_limits.question_characters then
            refusal := 'question_too_long';
        else
            select r.refusal, r.retry_after_seconds
            into begin_turn.refusal, begin_turn.retry_after_seconds
            from private.reserve_turn(p_tenant_id, p_user_id, begin_turn.turn_id, begin_turn.run, p_now) r;
        end if;
    end if;
    if refusal is not null then
        state := 'refused';
        update app.turns t set status = 'refused', refusal = begin_turn.refusal, finished_at = p_now
        where t.tenant_id = p_tenant_id and t.id = begin_turn.turn_id;
    elsif state = 'begun' then
        brand := v_limits.name;
        verified_within_days := v_limits.verified_within_days;
        has_documents := exists (select from app.chunks c where c.tenant_id = p_tenant_id);
        select p.language, p.persona, p.fallback
        into begin_turn.language, begin_turn.persona, begin_turn.fallback
        from app.personas p
        where p.tenant_id = p_tenant_id
        -- the language of the question, else the one that the client prefers, else that of the brand
        order by p.language = private.question_language(p_question, p_tenant_id) desc nulls last,
            p.language = p_language desc nulls last, p.language = v_limits.language desc, p.language
        limit 1;
        history := private.conversation(p_tenant_id, p_user_id, begin_turn.conversation_id);
        -- a pool for which the caller has no key has no models
        pool := (select v_limits.quota_pool where v_limits.quota_pool = any (p_pools));
        select f.indexes, f.models into begin_turn.indexes, begin_turn.models
        from private.reserve_first_calls(p_tenant_id, begin_turn.turn_id, begin_turn.run,
            begin_turn.pool, p_now) f;
    end if;
    perform private.return_expired(p_now);
    perform private.abandon_reindexes(null, null, p_now);
    return next;
end
$$;
comment on function private.begin_turn is 'See api.begin_turn.';
grant execute on function private.begin_turn to authenticated;

create function private.question_language(p_question text, p_tenant_id uuid) returns text
language sql stable
set search_path = ''
begin atomic
    with words as (
        select p.language, (
            select coalesce(sum(cardinality(v.positions)), 0)
            from unnest(to_tsvector('pg_catalog.simple', p_question)) v
        ) - (
            select coalesce(sum(cardinality(v.positions)), 0)
            from unnest(to_tsvector(private.text_search_config(p.language), p_question)) v
        ) as small
        from app.personas p where p.tenant_id = p_tenant_id
    )
    select case when count(*) = 1 then min(w.language) end
    from words w
    where w.small > 0 and w.small = (select max(o.small) from words o);
end;
comment on function private.question_language is
    'The language of the brand with the most small words (stop words) in the question, if one leads.';

create function private.conversation(p_tenant_id uuid, p_user_id uuid, p_conversation_id uuid) returns jsonb
language sql stable
set search_path = ''
begin atomic
    select coalesce(jsonb_agg(jsonb_build_object('question', t.question, 'answer', t.answer)
        order by t.created_at), '[]')
    from (
        select t.question, t.answer, t.created_at
        from app.turns t
        where t.tenant_id = p_tenant_id and t.user_id = p_user_id
            and t.conversation_id = p_conversation_id and t.status = 'answered'
        order by t.created_at desc
        limit 10
    ) t;
end;
comment on function private.conversation is
    'The last ten answered turns of the user''s own conversation.';

create function private.usable_indexes(p_tenant_id uuid, p_pool text, p_now timestamptz)
returns text[]
language sql stable
set search_path = ''
begin atomic
    select coalesce(array_agg(i.name order by array_position('{primary,fallback,local}', i.name)), '{}')
    from app.embedding_indexes i
    where case i.name
            when 'primary' then
                exists (select from app.chunk_embeddings_primary e where e.tenant_id = p_tenant_id)
            when 'fallback' then
                exists (select from app.chunk_embeddings_fallback e where e.tenant_id = p_tenant_id)
            else exists (select from app.chunk_embeddings_local e where e.tenant_id = p_tenant_id) end
        -- a model without a row has no quota: it runs on this machine
        and (i.model not in (select m.name from app.models m)
            or i.model in (select private.open_models(p_pool, 'embed', p_now)));
end;
comment on function private.usable_indexes is
    'The indexes that hold a vector of the brand and whose model may be called now, best first.';

create function api.begin_turn(
    p_question text, p_turn_id uuid default null, p_conversation_id uuid default null,
    p_language text default null, p_pools text[] default '{}')
returns table (
    turn_id uuid, run integer, state text, conversation_id uuid, refusal text,
    retry_after_seconds integer, brand text, language text, persona text, fallback text,
    history jsonb, pool text, indexes text[], models text[], verified_within_days integer,
    has_documents boolean)
language sql
set search_path = ''
begin atomic
    select b.*
    from private.begin_turn(private.required_tenant_id(), private.user_id(), p_question, p_turn_id,
        p_conversation_id, p_language, p_pools, now()) b;
end;
comment on function api.begin_turn is
    'Opens a turn of the signed-in user. state: begun, refused (then refusal is the code of the limit), '
    'or running and finished when the same turn was asked before. p_pools: the quota pools for which '
    'the caller has a key. One call each of the first index''s and the first generation model is reserved.';
grant execute on function api.begin_turn to authenticated;

-- ==== sql/50_turns/05_finish.sql ====

-- The last transaction of a question: what became of it, what was used, what it cost.

create function private.is_charged(p_status text, p_attempts jsonb) returns boolean
language sql stable
set search_path = ''
begin atomic
    -- a reader who leaves pays, or reading and leaving would be free; so does a question that the
    -- models or our guards refused
    select p_status = 'aborted' or p_status in ('answered', 'held', 'no_match') and (
        count(*) = 0
        or bool_or(a.outcome in ('ok', 'max_tokens', 'blocked_prompt', 'safety', 'guard')))
    from jsonb_to_recordset(p_attempts) a (model text, outcome text)
    join app.models m on m.name = a.model and m.task = 'generate';
end;
comment on function private.is_charged is
    'Whether a turn that ended so costs one: not when it failed, nor when all models failed.';

create function private.finish_turn(
    p_tenant_id uuid, p_user_id uuid, p_turn_id uuid, p_run integer, p_status text, p_answer text,
    p_language text, p_as_of date, p_index text, p_model text, p_attempts jsonb,
    p_milliseconds jsonb, p_chunk_ids uuid[], p_similarities double precision[], p_now timestamptz)
returns boolean
language plpgsql security definer
set search_path = ''
as $$
begin
    perform private.require_functions();
    update app.turns t
    set status = p_status, answer = p_answer, language = p_language, as_of = p_as_of,
        index_name = p_index, model = p_model, attempts = p_attempts,
        milliseconds = p_milliseconds, finished_at = p_now
    where t.tenant_id = p_tenant_id and t.user_id = p_user_id and t.id = p_turn_id
        -- a run whose lease ended may be followed by another: that one is not its own any more
        and t.run = p_run and t.status = 'running';
    if not found then
        perform private.refuse(404, 'not_found');
    end if;
    -- only chunks of this brand can be noted: the join leaves all others out
    insert into app.turn_sources (tenant_id, turn_id, place, chunk_id, source_id, content_hash,
        source_type, title, url, heading_path, verified_at, similarity)
    select p_tenant_id, p_turn_id, u.place - 1, k.id, k.source_id, c.content_hash, s.source_type,
        s.title, s.url, c.heading_path, c.verified_at, u.similarity
    from unnest(p_chunk_ids, p_similarities) with ordinality u (chunk_id, similarity, place)
    join app.chunks c on c.tenant_id = p_tenant_id and c.id = u.chunk_id
    join app.sources s on s.tenant_id = c.tenant_id and s.id = c.source_id
    -- what a reindex is about to delete is noted as if it were gone: to refer to it would fail, and
    -- to wait for it could be to wait for each other
    left join lateral (
        select l.id, l.source_id
        from app.chunks l join app.sources o on o.tenant_id = l.tenant_id and o.id = l.source_id
        where l.tenant_id = c.tenant_id and l.id = c.id
        for key share skip locked
    ) k on true;

    if private.is_charged(p_status, p_attempts) then
        update private.turn_reservations r set state = 'settled', closed_at = p_now
        where r.tenant_id = p_tenant_id and r.turn_id = p_turn_id and r.run = p_run;
    else
        perform private.refund_turn(p_tenant_id, p_turn_id, p_run, p_now);
    end if;
    perform private.close_calls(p_tenant_id, p_turn_id, p_run, p_attempts, p_now);
    return true;
end
$$;
comment on function private.finish_turn is 'See api.finish_turn.';
grant execute on function private.finish_turn to authenticated;

create function api.finish_turn(
    p_turn_id uuid, p_run integer, p_status text, p_answer text, p_language text, p_as_of date,
    p_index text, p_model text, p_attempts jsonb, p_milliseconds jsonb, p_chunk_ids uuid[],
    p_similarities double precision[])
returns boolean
language sql
set search_path = ''
begin atomic
    select private.finish_turn(private.required_tenant_id(), private.user_id(), p_turn_id, p_run,
        p_status, p_answer, p_language, p_as_of, p_index, p_model, p_attempts, p_milliseconds,
        p_chunk_ids, p_similarities, now());
end;
comment on function api.finish_turn is
    'Closes a running turn of the signed-in user with its answer, the chunks used and the model '
    'calls, and settles or refunds what was reserved for it.';
grant execute on function api.finish_turn to authenticated;

-- ==== sql/50_turns/06_resume.sql ====

-- A turn once more: for a reader who lost the answer on the way.

create function private.stored_turn(p_tenant_id uuid, p_user_id uuid, p_turn_id uuid)
returns table (
    status text, answer text, language text, as_of date, index_name text, model text,
    milliseconds jsonb, sources jsonb)
language plpgsql stable
set search_path = ''
as $$
begin
    return query
    select t.status, t.answer, t.language, t.as_of, t.index_name, t.model, t.milliseconds, (
        select coalesce(jsonb_agg(jsonb_build_object(
            'source_id', s.source_id, 'type', s.source_type, 'title', s.title, 'url', s.url,
            'heading', s.heading_path, 'verified_at', s.verified_at) order by s.place), '[]')
        from app.turn_sources s where s.tenant_id = t.tenant_id and s.turn_id = t.id)
    from app.turns t
    where t.tenant_id = p_tenant_id and t.id = p_turn_id and t.user_id = p_user_id;
    if not found then
        raise exception using errcode = 'PT404', message = 'not_found';
    end if;
end
$$;
comment on function private.stored_turn is 'See api.stored_turn.';
grant execute on function private.stored_turn to authenticated;

create function api.stored_turn(p_turn_id uuid)
returns table (
    status text, answer text, language text, as_of date, index_name text, model text,
    milliseconds jsonb, sources jsonb)
language sql stable
set search_path = ''
begin atomic
    select s.* from private.stored_turn(private.required_tenant_id(), private.user_id(), p_turn_id) s;
end;
comment on function api.stored_turn is
    'A turn of the signed-in user as it ended, with the sources that were shown; running: not yet.';
grant execute on function api.stored_turn to authenticated;

-- ==== sql/60_review/01_stale.sql ====

-- Review: prices that nobody has verified within the brand's interval, and the act of verifying.

create function private.stale_chunks(p_tenant_id uuid, p_limit integer, p_now timestamptz)
returns table (
    chunk_id uuid, source_id uuid, source_title text, source_key text, source_url text,
    heading_path text, content text, verified_at timestamptz)
language plpgsql stable rows 100
set search_path = ''
as $$
declare
    -- a value: row-level security keeps an index from conditions that might leak what they see, such
    -- as make_interval of a column
    v_before timestamptz := p_now - make_interval(days => (
        select l.verified_within_days from app.tenant_limits l where l.tenant_id = p_tenant_id));
begin
    return query
    select c.id, s.id, s.title, s.source_key, s.url, c.heading_path, c.content, c.verified_at
    from app.chunks c
    join app.sources s on s.tenant_id = c.tenant_id and s.id = c.source_id
    where c.tenant_id = p_tenant_id and c.is_pricing
        and (c.verified_at is null or c.verified_at < v_before)
    order by c.verified_at nulls first, c.id
    limit least(greatest(p_limit, 1), 500);
end
$$;
comment on function private.stale_chunks is 'See api.stale_chunks.';
grant execute on function private.stale_chunks to authenticated, service_role;

create function api.stale_chunks(p_limit integer default 100)
returns table (
    chunk_id uuid, source_id uuid, source_title text, source_key text, source_url text,
    heading_path text, content text, verified_at timestamptz)
language sql stable
set search_path = ''
begin atomic
    select s.* from private.stale_chunks(private.required_admin_tenant_id(), p_limit, now()) s;
end;
comment on function api.stale_chunks is
    'Prices of the brand that nobody verified within its interval (90 days unless set), oldest first.';
grant execute on function api.stale_chunks to authenticated, service_role;

create function private.verify_chunk(p_tenant_id uuid, p_user_id uuid, p_chunk_id uuid, p_now timestamptz)
returns table (chunk_id uuid, verified_at timestamptz)
language plpgsql
set search_path = ''
as $$
begin
    -- of two people at once the later stays, though its row may have been written first
    return query
    update app.chunks c
    set verified_by = case when c.verified_at > p_now then c.verified_by else p_user_id end,
        verified_at = greatest(c.verified_at, p_now)
    where c.tenant_id = p_tenant_id and c.id = p_chunk_id
    returning c.id, c.verified_at;
    if not found then
        raise exception using errcode = 'PT404', message = 'not_found';
    end if;
end
$$;
comment on function private.verify_chunk is 'See api.verify_chunk.';
grant execute on function private.verify_chunk to authenticated, service_role;

create function api.verify_chunk(p_chunk_id uuid)
returns table (chunk_id uuid, verified_at timestamptz)
language sql
set search_path = ''
begin atomic
    select v.chunk_id, v.verified_at
    from private.verify_chunk(
        private.required_admin_tenant_id(), private.user_id(), p_chunk_id, now()) v;
end;
comment on function api.verify_chunk is 'Says, today and by name, that the chunk is true.';
grant execute on function api.verify_chunk to authenticated, service_role;

-- ==== sql/60_review/02_list_tenants.sql ====

-- What the operator sees of all brands: names and counts, no content.

create function private.list_tenants()
returns table (slug text, name text, status text, members bigint, sources bigint, chunks bigint)
language plpgsql stable security definer
set search_path = ''
as $$
begin
    perform private.require_platform_admin();
    return query
    select t.slug, t.name, t.status,
        (select count(*) from app.members m where m.tenant_id = t.id),
        (select count(*) from app.sources s where s.tenant_id = t.id),
        (select count(*) from app.chunks c where c.tenant_id = t.id)
    from app.tenants t
    order by t.slug;
end
$$;
comment on function private.list_tenants is 'See api.list_tenants.';
grant execute on function private.list_tenants to authenticated, service_role;

create function api.list_tenants()
returns table (slug text, name text, status text, members bigint, sources bigint, chunks bigint)
language sql stable
set search_path = ''
begin atomic
    select t.slug, t.name, t.status, t.members, t.sources, t.chunks from private.list_tenants() t;
end;
comment on function api.list_tenants is
    'All brands with counts, for the operator and platform admins.';
grant execute on function api.list_tenants to authenticated, service_role;

$statements$; end $baseline$;
