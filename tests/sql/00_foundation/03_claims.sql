-- Who is asking: only what this transaction says, and only as data.
begin;
select plan(14);

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

select * from finish();
rollback;
