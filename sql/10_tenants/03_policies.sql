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
