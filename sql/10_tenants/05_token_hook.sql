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
