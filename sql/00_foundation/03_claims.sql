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
