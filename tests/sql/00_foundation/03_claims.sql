-- Who is asking: only what this transaction says, and only as data.
begin;
select plan(22);

select is(private.claims(), '{}', 'a connection that never heard of claims has none');
select is(private.user_id(), null, 'and no user');
select test.become('authenticated', '', '');
select test.become('none', '', '');
select is(
    private.claims(), '{}',
    'a setting of an earlier transaction reads as an empty text: no claims');
select is(private.user_id(), null, 'and no user');
select is(private.tenant_id(), null, 'and no brand');

-- the settings end with their transaction: here, a part of one
savepoint earlier;
select test.act_as('alice');
rollback to earlier;
select is(
    coalesce(current_setting('request.jwt.claims', true), '') || current_user, session_user::text,
    'nothing of a caller outlives the transaction');

select test.act_as('alice');
select results_eq(
    'select slug from app.tenants', array['one'], 'a member is somebody');
select test.become('authenticated', '', '');
select is_empty('select slug from app.tenants', 'without claims the same role is nobody');
select test.become('authenticated', '{"sub":""}', '');
select is_empty('select slug from app.tenants', 'an empty user is nobody');

-- O70: the value of a claim is data, whatever it looks like
select test.act_with_claim('alice', 'a''; reset role; --');
select is_empty('select slug from app.tenants', 'a claim with SQL in it names no brand');
select is(current_user::text, 'authenticated', 'and resets no role');
select test.act_as('alice', 'one''; reset role; --');
select throws_ok(
    'select api.begin_turn(''?'')', 'PT403', 'not_a_member',
    'nor does a named brand with SQL in it');

-- the role that is set decides, not the one that is claimed
select test.become('authenticated', '{"role":"service_role"}', 'one');
select throws_ok(
    'select api.list_tenants()', 'PT403', 'not_an_admin',
    'to claim to be the service is not enough');
select test.act_as('service', 'one');
select lives_ok('select api.list_tenants()', 'to be it is');

-- E5: whom the functions must not serve as ----------------------------------------------------------

select test.act_as('superuser');
create function pg_temp.check_as(p_login text) returns text
language plpgsql
as $$
declare
    v_found text;
begin
    execute format('set local session authorization %I', p_login);
    set local role authenticated;
    select c.login || ' ' || c.is_unsafe into v_found from api.check_login() c;
    set local session authorization default;
    return v_found;
end
$$;
create role login_plain login noinherit;
create role login_service login noinherit;
grant service_role to login_service;
create role login_owner login noinherit;
grant postgres to login_owner;
create role login_maker login noinherit createrole;
create role login_table login noinherit;
create role login_bypass login noinherit bypassrls;
create role login_indirect login noinherit;
create role login_group nologin noinherit;
grant service_role to login_group;
grant login_group to login_indirect;
grant authenticated to
    login_plain, login_service, login_owner, login_maker, login_table, login_bypass, login_indirect;
alter table app.turns owner to login_table;
select is(
    pg_temp.check_as(l.name), l.name || case when l.is_unsafe then ' true' else ' false' end, l.why)
from (values
    ('login_plain', false, 'a login that becomes authenticated and nothing more may serve'),
    ('login_service', true, 'one that may become the service may not'),
    ('login_owner', true, 'nor one that may become the owner'),
    ('login_indirect', true, 'nor one that may become the service over another role'),
    ('login_maker', true, 'nor one that may give itself roles'),
    ('login_table', true, 'nor one that owns a table'),
    ('login_bypass', true, 'nor one that row-level security does not hold')
) l (name, is_unsafe, why);
select set_eq(
    'select unnest(doors) from api.check_login()',
    $$ select p.proname::text from pg_proc p where p.pronamespace = 'api'::regnamespace $$,
    'check_login names every door');

select * from finish();
rollback;
