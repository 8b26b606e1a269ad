-- Registering brands and people.
begin;
select plan(29);

create function pg_temp.brand(p_changes jsonb default '{}') returns jsonb
language sql
return jsonb_build_object('slug', 'lumen-energy', 'name', 'Lumen', 'language', 'en', 'time_zone',
    'Europe/Berlin', 'personas', jsonb_build_object(
        'en', jsonb_build_object('persona', 'warm', 'fallback', 'Sorry.'),
        'de', jsonb_build_object('persona', 'herzlich', 'fallback', 'Leider nein.')),
    'limits', jsonb_build_object('turns_per_day', 40)) || p_changes;
create function pg_temp.registered() returns table (name text, zone text, personas text,
    per_day integer,
    per_minute integer, days integer, characters integer)
language sql
begin atomic
    select t.name, t.time_zone,
        (select string_agg(p.language || ':' || p.fallback, ' ' order by p.language)
            from app.personas p where p.tenant_id = t.id),
        l.turns_per_day, l.turns_per_minute, l.verified_within_days, l.question_characters
    from app.tenants t join app.tenant_limits l on l.tenant_id = t.id where t.slug = 'lumen-energy';
end;

-- by whom
select test.act_as('alice');
select throws_ok(
    'select api.register_tenant(pg_temp.brand())', 'PT403', 'not_an_admin', 'not by a rep');
select test.act_as('bob');
select throws_ok(
    'select api.register_tenant(pg_temp.brand(''{"slug":"one"}''))', 'PT403', 'not_an_admin',
    'not by the admin of a brand, not even the own one');
select test.act_as('eve');
select throws_ok(
    'select api.register_tenant(pg_temp.brand())', 'PT403', 'not_an_admin', 'not by a stranger');
select test.act_as('visitor');
select throws_ok('select api.register_tenant(pg_temp.brand())', '42501', null, 'not by a visitor');
select test.act_as('pat');
select lives_ok('select api.register_tenant(pg_temp.brand())', 'by a platform admin');
select test.act_as('service');
select is(
    api.register_tenant(pg_temp.brand()), (select id from app.tenants where slug = 'lumen-energy'),
    'by the service, which finds the brand again');

-- what
select results_eq(
    'select * from pg_temp.registered()',
    $$ values ('Lumen', 'Europe/Berlin', 'de:Leider nein. en:Sorry.', 40, 10, 90, 2000) $$,
    'registering twice is registering once; what is not said has its default');
select api.register_tenant(pg_temp.brand(
    '{"name":"Lumen Energy","limits":{"turns_per_minute":3},
        "personas":{"en":{"persona":"calm","fallback":"No."}}}'));
select results_eq(
    'select * from pg_temp.registered()',
    $$ values ('Lumen Energy', 'Europe/Berlin', 'de:Leider nein. en:No.', 500, 3, 90, 2000) $$,
    'registering again changes words and limits');
select throws_ok(
    $$ select api.register_tenant(pg_temp.brand('{"time_zone":"Nowhere"}')) $$, '22023', null,
    'a brand with a mistake is refused');
select results_eq(
    'select name from pg_temp.registered()', array['Lumen Energy'], 'and changes nothing');
select test.act_as('superuser');
update app.tenants set status = 'suspended' where slug = 'lumen-energy';
select test.act_as('service');
select api.register_tenant(pg_temp.brand());
select is(
    (select status from app.tenants where slug = 'lumen-energy'), 'suspended',
    'a suspended brand stays suspended');

-- members
select test.act_as('alice');
select throws_ok(
    $$ select api.add_member('eve@people.example', 'rep') $$, 'PT403', 'not_an_admin',
    'a rep adds nobody');
select throws_ok(
    $$ select api.add_member('alice@people.example', 'admin') $$, 'PT403', 'not_an_admin',
    'and does not become an admin');
select test.act_as('dave');
select throws_ok(
    $$ select api.add_member('nobody@people.example', 'rep') $$, 'PT404', 'not_found',
    'somebody who never signed up is not found');
select test.act_as('dave', 'one');
select throws_ok(
    $$ select api.add_member('dave@people.example', 'admin') $$, 'PT403', 'not_a_member',
    'an admin adds nobody to another brand');
select test.act_as('bob');
select is(
    api.add_member('EVE@people.example', 'rep'), test.id('eve'),
    'an admin adds a person, however it is spelled');
select test.act_with_claim('eve', test.id('one')::text);
select results_eq('select slug from app.tenants', array['one'], 'who is in at once');
select test.act_as('bob');
select api.add_member('eve@people.example', 'admin');
select results_eq(
    $$ select role from app.members where user_id = test.id('eve') $$, array['admin'],
    'adding again changes the role');
select throws_ok(
    $$ select api.add_member('eve@people.example', 'owner') $$, '23514', null,
    'to one that exists');
select test.act_as('service', 'two');
select is(
    api.add_member('eve@people.example', 'rep'), test.id('eve'),
    'the service adds to the named brand');
select test.act_as('service');
select throws_ok(
    $$ select api.add_member('eve@people.example', 'rep') $$, 'PT403', 'not_a_member',
    'and needs a name');

-- platform admins
select test.act_as('bob');
select throws_ok(
    $$ select api.add_platform_admin('bob@people.example') $$, 'PT403', 'not_an_admin',
    'an admin of a brand makes no platform admin');
select throws_ok(
    $$ select api.add_platform_admin('nobody@people.example') $$, 'PT403', 'not_an_admin',
    'and does not learn who signed up');
select test.act_as('pat');
select throws_ok(
    $$ select api.add_platform_admin('nobody@people.example') $$, 'PT404', 'not_found',
    'a platform admin does');
select is(api.add_platform_admin('dave@people.example'), test.id('dave'), 'and makes another one');
select is(api.add_platform_admin('dave@people.example'), test.id('dave'), 'twice is once');
select test.act_as('dave', 'one');
select lives_ok('select api.stale_chunks()', 'who acts for any brand');
select test.act_as('service');
select is(
    api.add_platform_admin('eve@people.example'), test.id('eve'),
    'the service makes the first one');
select test.act_as('superuser');
select is((select count(*) from app.platform_admins), 3::bigint, 'pat, dave and eve');

select * from finish();
rollback;
