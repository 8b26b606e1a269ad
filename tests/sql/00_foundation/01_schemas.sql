-- Where things live, and the login of the functions.
begin;
select plan(11);

-- O53: on hosted Supabase the extension is in extensions, and functions run with an empty path
select is(
    (select n.nspname::text from pg_extension e join pg_namespace n on n.oid = e.extnamespace
    where e.extname = 'vector'),
    'extensions', 'pgvector lives in extensions');
create function pg_temp.with_empty_path(p_sql text) returns text
language sql set search_path = ''
return test.outcome(p_sql);
select is(
    pg_temp.with_empty_path($$ select '[1,2]'::extensions.vector <=> '[2,1]' $$), '42883',
    'the plain operator is not found with an empty search_path');
select test.act_as('alice');
select is(
    pg_temp.with_empty_path(
        $$ select '[1,2]'::extensions.vector operator(extensions.<=>) '[2,1]' $$), '1',
    'the qualified one is, and a member may use it although new functions are closed by default');
select test.act_as('superuser');

-- as the login of the functions: a member of two roles, and nobody by itself
create function pg_temp.as_login(p_sql text) returns text
language plpgsql
as $$
declare
    v_outcome text;
begin
    set local session authorization porchlight_runtime;
    v_outcome := test.outcome(p_sql);
    set local session authorization default;
    return v_outcome;
end
$$;
select is(pg_temp.as_login('set role authenticated'), '0', 'the login may become authenticated');
select is(
    pg_temp.as_login('set role service_role'), '42501', 'the login may not become the service');
select is(pg_temp.as_login('set role postgres'), '42501', 'nor the owner of the tables');
select is(
    pg_temp.as_login('select from app.tenants') || pg_temp.as_login('select api.check_login()'),
    '4250142501', 'before it becomes somebody it reads and calls nothing');
select is(
    (select array[is_unsafe::text, login] from api.check_login()),
    array['true', session_user::text],
    'check_login tells a login that row-level security does not hold');

-- the two rights that get past policies, each alone; such a login may have any name, and it is judged
-- by what it is and not by the role that it became
create function pg_temp.checked_as(p_login text) returns text
language plpgsql
as $$
declare
    v_checked text;
begin
    execute format('set local session authorization %I', p_login);
    set local role authenticated;
    select c.login || ' ' || c.is_unsafe into v_checked from api.check_login() c;
    set local session authorization default;
    return v_checked;
end
$$;
create role test_superuser login superuser nobypassrls in role authenticated;
create role test_bypass login nosuperuser bypassrls in role authenticated;
create role test_neither login nosuperuser nobypassrls in role authenticated;
select is(
    pg_temp.checked_as('test_superuser'), 'test_superuser true',
    'one that is only a superuser is unsafe');
select is(
    pg_temp.checked_as('test_bypass'), 'test_bypass true',
    'so is one that only has BYPASSRLS');
select is(
    pg_temp.checked_as('test_neither'), 'test_neither false',
    'one that has neither may serve');

select * from finish();
rollback;
