-- What a brand may be called and what it may spend.
begin;
select plan(26);

select is(
    test.outcome(format('insert into app.tenants (slug, name) values (%L, %L)', t.slug, 'A brand')),
    t.outcome,
    concat('slug ', translate(left(t.slug, 20), chr(10), '|'),
        case when t.outcome = '1' then ' is fine' else ' is refused' end))
from (values
    ('lumen-energy', '1'), ('a1', '1'), ('a', '1'), ('null', '1'), ('one', '23505'), ('', '23514'),
    ('Lumen', '23514'), ('lumen.', '23514'), ('lumen-', '23514'), ('-lumen', '23514'),
    ('lu--men', '23514'), ('../x', '23514'), (u&'lum\0435n', '23514'),
    ('lumen' || chr(10), '23514'), ('💡', '23514'),
    (repeat('a', 63), '1'), (repeat('a', 64), '23514'), (repeat('a-', 32) || 'a', '23514'), -- T17
    (repeat('a', 300), '23514'), (null, '23502')
) t (slug, outcome);

select is(
    test.outcome($$ update app.tenants set time_zone = 'Mars/Olympus' where slug = 'one' $$),
    '22023',
    'a time zone has to exist');
select is(
    test.outcome($$ update app.tenants set status = 'gone' where slug = 'one' $$), '23514',
    'a brand is active or suspended');
select is(
    test.outcome($$ update app.tenant_limits set turns_per_day = 0 $$), '23514',
    'a cap of nothing is a mistake');
select is(
    test.outcome($$ update app.members set role = 'owner' $$), '23514',
    'a member is a rep or an admin');

-- what hangs on a brand or a person goes with it
select test.add_source('one', 'faq', '{lantern}', '{1}');
delete from app.tenants where slug = 'one';
select is(
    (select count(*) from app.chunks) + (select count(*) from app.chunk_terms)
        + (select count(*) from app.members where tenant_id = test.id('one')),
    0::bigint, 'a deleted brand leaves nothing behind');
set local role supabase_auth_admin;
delete from auth.users where id = test.id('carol');
reset role;
select results_eq(
    'select user_id from app.members', array[test.id('dave')],
    'a deleted user is a member of nothing, though Auth cannot read members');

select * from finish();
rollback;
