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
