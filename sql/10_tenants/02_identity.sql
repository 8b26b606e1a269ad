-- The tenant of a request: from the verified claim, or named by a platform admin or the service,
-- and
-- always checked against the tables. Every policy and every door gets it from here.
-- Cost: one row of members by primary key; policies call it once per statement (InitPlan).

create function private.tenant_id() returns uuid
language sql stable security definer parallel safe
set search_path = ''
begin atomic
    with request as materialized (
        select private.user_id() as user_id,
            nullif(private.claims() -> 'app_metadata' ->> 'tenant_id', '') as claimed,
            nullif(current_setting('porchlight.tenant', true), '') as named
    ), candidate as materialized (
        select r.user_id, r.named is not null as is_named,
            case when r.named is not null then (select t.id from app.tenants t where t.slug = r.named)
                when r.claimed ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then r.claimed::uuid end
                as tenant_id
        from request r
    )
    select t.id
    from candidate c
    join app.tenants t on t.id = c.tenant_id
    where t.status = 'active'
        and (
            exists (select from app.members m where m.tenant_id = t.id and m.user_id = c.user_id)
            or c.is_named and (
                private.is_service()
                or exists (select from app.platform_admins a where a.user_id = c.user_id)
            )
        );
end;
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
            where m.tenant_id = private.tenant_id() and m.user_id = private.user_id() and m.role = 'admin')
        or exists (select from app.platform_admins a where a.user_id = private.user_id());
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
    perform private.refuse(403, 'not_a_member');
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
