-- What every policy must be.
begin;
select plan(9);

create temporary view policies as
select p.schemaname || '.' || p.tablename as table_name, p.policyname, p.permissive, p.roles, p.cmd,
    coalesce(p.qual, '') || ' ' || coalesce(p.with_check, '') as predicate, p.qual, p.with_check
from pg_policies p
where p.schemaname in ('api', 'app', 'private');

select cmp_ok((select count(*) from policies), '>=', 28::bigint, 'the policies are found');
select is_empty(
    $$ select policyname from policies where roles <> '{authenticated}' $$,
    'a policy is for authenticated only: never for a visitor or PUBLIC');
select is_empty(
    $$ select table_name, cmd from policies, unnest(roles) r (role) where permissive = 'PERMISSIVE'
    group by table_name, cmd, r.role having count(*) > 1 $$,
    'at most one permissive policy for each table, command and role');
select is_empty(
    $$ select policyname from policies where cmd = 'ALL' or permissive <> 'PERMISSIVE' $$,
    'a policy speaks for one command, and permits');
select is_empty(
    $$ select policyname from policies
    where policyname !~ ('^' || split_part(table_name, '.',
    2) || '_' || lower(cmd) || '_[a-z_]+$') $$,
    'a policy is named table_command_who');
select is_empty(
    $$ select policyname from policies
    where predicate !~ 'private\.(tenant_id|user_id)\(\)'
        or predicate ~* 'user_metadata|raw_user' $$,
    'a policy asks for the brand or the user, never for metadata that users write themselves');
-- a bare call runs once a row; inside (select …) once a statement
select is_empty(
    $$ select policyname from policies
    where regexp_replace(predicate, '\( SELECT private\.\w+\(\) AS \w+\)', '', 'g')
        ~ '(private|auth)\.|current_setting|session_user|current_user' $$,
    'a policy compares through (select …)');
select is_empty(
    $$ select policyname from policies
    where cmd in ('INSERT', 'UPDATE') and with_check is null or cmd <> 'INSERT' and qual is null $$,
    'whoever writes is checked on what is written');
select is_empty(
    $$ select t.oid::regclass from pg_class t join pg_namespace n on n.oid = t.relnamespace
    where n.nspname = 'private' and t.relkind = 'r'
        and exists (select from pg_policy p where p.polrelid = t.oid) $$,
    'no policy lets anybody into a table of private');

select * from finish();
rollback;
