-- Who sees the registry. testdata/access.matrix says that nobody writes it by hand.
begin;
select plan(17);

-- O71: the policy of members asks a definer, not members: no recursion for anybody
select test.act_as('alice');
select results_eq(
    'select user_id from app.members', array[test.id('alice')], 'a rep sees the own membership');
select test.act_as('bob');
select set_eq(
    'select user_id from app.members', array[test.id('alice'), test.id('bob')],
    'an admin sees the members of the brand');
select test.act_as('eve');
select is_empty('select user_id from app.members', 'a stranger sees no membership, and no error');
select test.act_as('carol');
select results_eq(
    'select user_id from app.members', array[test.id('carol')], 'the other brand sees its own');
select test.act_as('pat', 'one');
select set_eq(
    'select user_id from app.members', array[test.id('alice'), test.id('bob')],
    'a platform admin sees the members of the brand that is named');
select test.act_as('pat');
select is_empty('select user_id from app.members', 'and without one none');

select test.act_as('alice');
select results_eq('select slug from app.tenants', array['one'], 'a member sees the own brand');
select set_eq(
    'select fallback from app.personas', array['one: I do not know.', 'uno: no lo sé.'],
    'and how it speaks');
select results_eq(
    'select tenant_id from app.tenant_limits', array[test.id('one')], 'and what it may spend');
select is_empty('select user_id from app.platform_admins', 'but not who runs the platform');
select throws_ok('select created_at from app.members', '42501', null, 'nor since when');
select test.act_as('pat');
select results_eq(
    'select user_id from app.platform_admins', array[test.id('pat')],
    'a platform admin learns that they are one');

-- somebody in two brands sees the one that the token names
select test.act_as('superuser');
insert into app.members (tenant_id, user_id, role)
values (test.id('two'), test.id('alice'), 'admin');
select test.act_as('alice');
select results_eq(
    'select slug from app.tenants', array['one'],
    'somebody in two brands acts for the claimed one');
select results_eq(
    'select user_id from app.members', array[test.id('alice')], 'with the role that is held there');
select test.act_with_claim('alice', test.id('two')::text);
select results_eq('select slug from app.tenants', array['two'], 'or for the other one');
select set_eq(
    'select user_id from app.members', array[test.id('alice'), test.id('carol'), test.id('dave')],
    'with the role that is held there');
select test.act_as('alice', 'two');
select results_eq(
    'select slug from app.tenants', array['two'], 'a member of two brands may name one');

select * from finish();
rollback;
