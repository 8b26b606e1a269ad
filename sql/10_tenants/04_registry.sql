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
