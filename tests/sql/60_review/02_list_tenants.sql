-- What the operator sees of all brands: counts, no content.
begin;
select plan(8);

select test.add_source('one', 'faq', '{a,b,c}');
select test.add_source('one', 'margin', '{d}', p_visibility => 'private');
select test.act_as('service');
select results_eq(
    'select slug, name, status, members, sources, chunks from api.list_tenants()',
    $$ values ('one', 'Brand One', 'active', 2::bigint, 2::bigint, 4::bigint),
        ('two', 'Brand Two', 'active', 2, 0, 0) $$, 'the service sees all brands');
select test.act_as('pat');
select is((select count(*) from api.list_tenants()), 2::bigint, 'so does a platform admin');
select test.act_as('pat', 'one');
select is((select count(*) from api.list_tenants()), 2::bigint, 'for whichever brand they act');
select test.act_as('bob');
select throws_ok(
    'select api.list_tenants()', 'PT403', 'not_an_admin', 'the admin of a brand does not');
select test.act_as('alice');
select throws_ok('select api.list_tenants()', 'PT403', 'not_an_admin', 'nor does a rep');
select test.act_as('eve');
select throws_ok('select api.list_tenants()', 'PT403', 'not_an_admin', 'nor a stranger');
select test.act_as('visitor');
select throws_ok('select api.list_tenants()', '42501', null, 'nor a visitor');
select test.act_as('superuser');
update app.tenants set status = 'suspended' where slug = 'two';
select test.act_as('service');
select is(
    (select status from api.list_tenants() where slug = 'two'), 'suspended',
    'a suspended brand is listed as such');

select * from finish();
rollback;
