-- The brand of a request: claimed or named, and always checked against the tables.
begin;
select plan(31);

create function pg_temp.brand() returns text
language sql
as $$ select coalesce((select t.slug from app.tenants t), 'none') $$;

select test.act_as('alice');
select is(pg_temp.brand(), 'one', 'a rep acts for the brand of the claim');
select test.act_with_claim('alice', '');
select is(pg_temp.brand(), 'none', 'without a claim for none');
select test.act_with_claim('alice', test.id('two')::text);
select is(pg_temp.brand(), 'none', 'with the claim of another brand for none');
select throws_ok('select api.begin_turn(''?'')', 'PT403', 'not_a_member', 'and a door says so');
select test.act_with_claim('alice', upper(test.id('one')::text));
select is(pg_temp.brand(), 'none', 'an id in another spelling is another text');
select test.act_with_claim('alice', repeat('-', 36));
select is(pg_temp.brand(), 'none', 'what only looks like an id is no brand, and no error');
select test.act_with_claim('alice', test.id('nowhere')::text);
select throws_ok(
    'select api.begin_turn(''?'')', 'PT403', 'not_a_member',
    'a brand that is not there looks the same');
select test.act_as('eve');
select is(pg_temp.brand(), 'none', 'who belongs to no brand acts for none');
select throws_ok('select api.begin_turn(''?'')', 'PT403', 'not_a_member', 'and is told the same');
select test.act_as('visitor');
select throws_ok(
    'select api.begin_turn(''?'')', '42501', null, 'a visitor does not get to the door');

-- naming a brand
select test.act_as('alice', 'one');
select is(pg_temp.brand(), 'one', 'a member may name the own brand');
select test.act_as('alice', 'two');
select is(pg_temp.brand(), 'none', 'naming another brand gives none, not the own one');
select throws_ok(
    'select api.begin_turn(''?'')', 'PT403', 'not_a_member', 'naming another brand is refused');
select test.act_as('alice', 'ONE');
select is(pg_temp.brand(), 'none', 'a slug in capitals is another text');
select test.act_as('pat');
select is(pg_temp.brand(), 'none', 'a platform admin who names no brand acts for none');
select test.act_with_claim('pat', test.id('one')::text);
select is(pg_temp.brand(), 'none', 'not even with a claim');
select test.act_as('pat', 'one');
select is(pg_temp.brand(), 'one', 'a platform admin acts for the brand that is named');
select lives_ok('select api.stale_chunks()', 'as its admin');
select test.act_as('pat', 'two');
select is(pg_temp.brand(), 'two', 'and then for another one');
select test.act_as('service');
select throws_ok(
    'select api.stale_chunks()', 'PT403', 'not_a_member', 'the service names a brand too');
select test.act_as('service', 'two');
select lives_ok('select api.stale_chunks()', 'and acts for it');

-- admins
select test.act_as('alice');
select throws_ok('select api.stale_chunks()', 'PT403', 'not_an_admin', 'a rep is no admin');
select test.act_as('bob');
select lives_ok('select api.stale_chunks()', 'an admin is');
select test.act_as('bob', 'two');
select throws_ok(
    'select api.stale_chunks()', 'PT403', 'not_a_member',
    'the admin of one brand is nobody in the other');

-- what the token says is old news
select test.act_as('superuser');
delete from app.members where user_id = test.id('alice');
update app.members set role = 'rep' where user_id = test.id('bob');
select test.act_as('alice');
select throws_ok(
    'select api.begin_turn(''?'')', 'PT403', 'not_a_member', 'a removed member is out at once');
select test.act_as('bob');
select throws_ok(
    'select api.stale_chunks()', 'PT403', 'not_an_admin',
    'an admin who became a rep is one at once');

-- suspension
select test.act_as('superuser');
update app.tenants set status = 'suspended' where slug = 'two';
select test.act_as('carol');
select is(pg_temp.brand(), 'none', 'nobody sees a suspended brand');
select throws_ok(
    'select api.begin_turn(''?'')', 'PT403', 'tenant_suspended', 'its members are told why');
select test.act_as('eve', 'two');
select throws_ok(
    'select api.begin_turn(''?'')', 'PT403', 'not_a_member', 'a stranger is not');
select test.act_with_claim('eve', test.id('two')::text);
select throws_ok(
    'select api.begin_turn(''?'')', 'PT403', 'not_a_member', 'whatever is claimed');
select test.act_as('pat', 'two');
select throws_ok(
    'select api.begin_turn(''?'')', 'PT403', 'not_a_member',
    'nor does a platform admin act for it');

select * from finish();
rollback;
