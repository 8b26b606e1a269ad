-- What every policy must be. What they let pass is tried in access_test.go.
begin;

create temporary view policies as
select p.schemaname || '.' || p.tablename as table_name, p.policyname, p.permissive, p.roles, p.cmd,
    coalesce(p.qual, '') || ' ' || coalesce(p.with_check, '') as predicate, p.qual, p.with_check
from pg_policies p
where p.schemaname in ('api', 'app', 'private');

insert into test.invariants values
    ('I8', 'a policy is for authenticated only: never for a visitor or PUBLIC', $$
        select policyname from policies where roles <> '{authenticated}' $$,
        array['create policy planted on app.turns using (tenant_id = (select private.tenant_id()))',
            $$ create policy planted on app.turns for select to anon
                using (tenant_id = (select private.tenant_id())) $$]),
    ('I8', 'a policy asks for the brand or the user, never for metadata that users write themselves', $$
        select policyname from policies
        where predicate !~ 'private\.(tenant_id|user_id)\(\)'
            or predicate ~* 'user_metadata|raw_user' $$,
        array['create policy planted on app.turns for select to authenticated using (true)',
            $$ create policy planted on app.turns for select to authenticated using (
                (select private.tenant_id()) = tenant_id
                or (select auth.jwt()) -> 'user_metadata' ->> 'tenant' = tenant_id::text) $$]),
    -- O72: a bare call runs once a row; inside (select …) once a statement
    ('I8', 'a policy compares through (select …), and with what the works of private say only', $$
        select policyname from policies
        where regexp_replace(predicate, '\( SELECT private\.\w+\(\) AS \w+\)', '', 'g')
            ~ '(private|auth)\.|current_setting|session_user|current_user' $$,
        array[$$ create policy planted on app.turns for select to authenticated
                using (tenant_id = private.tenant_id()) $$,
            $$ create policy planted on app.turns for select to authenticated
                using (tenant_id = (select private.tenant_id()) and user_id = auth.uid()) $$,
            -- O65: a header is what the client says
            $$ create policy planted on app.turns for select to authenticated using (
                tenant_id = (select private.tenant_id()) or tenant_id::text
                    = (select current_setting('request.headers')::json ->> 'x-tenant-id')) $$]),
    ('I8', 'whoever writes is checked on what is written', $$
        select policyname from policies
        where cmd in ('INSERT', 'UPDATE') and with_check is null
            or cmd <> 'INSERT' and qual is null $$,
        array[$$ create policy planted on app.turns for update to authenticated
            using (tenant_id = (select private.tenant_id())) $$]),
    -- O65: permissive policies are joined by OR, so a loose second one opens what the first closes
    ('I12', 'each command that is granted has exactly one policy, and no other command has one', $$
        select c.oid::regclass, k.command
        from pg_class c
        join pg_namespace n on n.oid = c.relnamespace
        cross join (values ('select', 'r'), ('insert', 'a'), ('update', 'w'), ('delete', 'd'))
            k (command, code)
        where n.nspname in ('api', 'app', 'private') and c.relkind in ('r', 'p')
            and (select count(*) from pg_policy p
                where p.polrelid = c.oid and p.polcmd::text in (k.code, '*'))
                <> case when k.command = 'delete'
                    then has_table_privilege('authenticated', c.oid, 'delete')
                    else has_any_column_privilege('authenticated', c.oid, k.command) end::integer $$,
        array[$$ create policy planted on app.turns for select to authenticated using (
                tenant_id::text = current_setting('request.headers')::json ->> 'x-tenant-id') $$,
            'drop policy chunks_delete_admin on app.chunks', 'grant delete on app.turns to authenticated',
            $$ create policy planted on app.turns for delete to authenticated
                using (tenant_id = (select private.tenant_id())) $$]),
    ('I12', 'a policy speaks for one command, and permits', $$
        select policyname from policies where cmd = 'ALL' or permissive <> 'PERMISSIVE' $$,
        array['create policy planted on app.turns to authenticated using (true)',
            'create policy planted on app.turns as restrictive for select using (true)']),
    ('I', 'a policy is named table_command_who', $$
        select policyname from policies where policyname !~ ('^' || split_part(table_name, '.', 2)
            || '_' || lower(cmd) || '_[a-z_]+$') $$,
        array['create policy planted on app.turns for select using (true)']),
    ('I', 'no policy lets anybody into a table of private', $$
        select policyname from policies where table_name ~ '^private' $$,
        array['create policy planted on private.installation for select using (true)']);

select plan(1 + test.count_assertions('^I'));
select cmp_ok((select count(*) from policies), '>=', 28::bigint, 'the policies are found');
select test.check_invariants('^I');

select * from finish();
rollback;
