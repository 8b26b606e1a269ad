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
