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
