-- Review: prices that nobody verified in time, and the act of verifying one.
begin;
select plan(29);

-- ages in days: 95 (O38), 90 to the second, and a second more; one that nobody ever verified; prose
select test.add_source('one', 'prices',
    '{"Flex 12 €","Basic 9 €","Plus 20 €","Max 30 €","Our history"}', '{1,1,1,1,1}', 'price',
    p_verified_at => now() - interval '95 days');
update app.chunks set verified_at = case content
        when 'Basic 9 €' then now() - interval '90 days'
        when 'Plus 20 €' then now() - interval '90 days 1 second'
        when 'Max 30 €' then null else verified_at end
where tenant_id = test.id('one');
select test.add_source('one', 'margin', '{"Margin 40 €"}', '{1}', p_visibility => 'private',
    p_verified_at => now() - interval '400 days');
select test.add_source('two', 'prices', '{"Fibre 25 €"}', '{1}', 'price');
create function pg_temp.stale(p_limit integer default 100) returns text
language sql
as $$
    select coalesce(string_agg(s.content, ', ' order by s.place), 'none')
    from api.stale_chunks(p_limit) with ordinality s (
        chunk_id, source_id, source_title, source_key, source_url, heading_path, content,
        verified_at, place)
$$;

select test.act_as('bob');
select is(
    pg_temp.stale(), 'Max 30 €, Margin 40 €, Flex 12 €, Plus 20 €',
    'never verified first, then the oldest; after 90 days to the second not yet; prose never');
select results_eq(
    $$ select chunk_id, source_id, source_title, source_key, source_url, heading_path, verified_at
    from api.stale_chunks() where content = 'Flex 12 €' $$,
    $$ values (test.id('one/prices/0'), test.id('one/prices'), 'prices', 'prices', null::text, '',
        now() - interval '95 days') $$, 'with all that a person needs to check it');
select is(
    array(select pg_temp.stale(l) from unnest('{2,1,0,-1,null}'::integer[]) l),
    '{"Max 30 €, Margin 40 €","Max 30 €","Max 30 €","Max 30 €","Max 30 €"}',
    'at least one, at most what is asked');
select set_eq(
    $$ select chunk_id from api.stale_chunks() $$,
    $$ select chunk_id from api.match_chunks_local(test.at_cosine(1), 'all-MiniLM-L6-v2', '', 50)
    where is_stale $$,
    'the search calls the same ones stale');
select test.act_as('dave');
select is(pg_temp.stale(), 'Fibre 25 €', 'another brand reviews its own');
select test.act_as('pat', 'one');
select is(pg_temp.stale(1), 'Max 30 €', 'a platform admin that of the named brand');
select test.act_as('service', 'two');
select is(pg_temp.stale(), 'Fibre 25 €', 'so does the service');
select test.act_as('alice');
select throws_ok('select pg_temp.stale()', 'PT403', 'not_an_admin', 'a rep reviews nothing');
select test.act_as('eve');
select throws_ok('select pg_temp.stale()', 'PT403', 'not_a_member', 'nor does a stranger');

-- the brand says how long a price holds
select test.act_as('superuser');
update app.tenant_limits set verified_within_days = 96 where tenant_id = test.id('one');
select test.act_as('bob');
select is(pg_temp.stale(), 'Max 30 €, Margin 40 €', 'a brand may trust a price for longer');
select test.act_as('superuser');
update app.tenant_limits set verified_within_days = 90 where tenant_id = test.id('one');

-- verifying
create temporary table before as select c.ctid::text as at, c.* from app.chunks c;
grant select on before to public;
select test.act_as('bob');
select results_eq(
    $$ select chunk_id, verified_at from api.verify_chunk(test.id('one/prices/0')) $$,
    $$ values (test.id('one/prices/0'), now()) $$, 'an admin says that a price is true: now');
select is(
    (select verified_by from app.chunks where id = test.id('one/prices/0')), test.id('bob'),
    'and by name');
select is(pg_temp.stale(), 'Max 30 €, Margin 40 €, Plus 20 €', 'it is off the list');
select is_empty(
    $$ select b.at from before b
    where b.tenant_id = test.id('one') and b.id <> test.id('one/prices/0')
    except select c.ctid::text from app.chunks c $$, 'no other chunk was written');
select is(
    (select c.content_hash || c.content::bytea from app.chunks c
    where c.id = test.id('one/prices/0')),
    (select b.content_hash || b.content::bytea from before b where b.id = test.id('one/prices/0')),
    'and its text is the same');
select lives_ok(
    $$ select api.verify_chunk(test.id('one/prices/0')) $$, 'to verify again is no mistake');
select lives_ok($$ select api.verify_chunk(test.id('one/margin/0')) $$, 'a private price too');
select test.act_as('service', 'one');
select lives_ok(
    $$ select api.verify_chunk(test.id('one/prices/3')) $$,
    'the service may, in the name of nobody');
select test.act_as('superuser');
select is(
    (select verified_by from app.chunks where id = test.id('one/prices/3')), null,
    'which is what is written');

-- what is not yours is not there
select test.act_as('dave');
select throws_ok(
    $$ select api.verify_chunk(test.id('one/prices/2')) $$, 'PT404', 'not_found',
    'a price of another brand');
select throws_ok(
    $$ select api.verify_chunk(test.id('nothing')) $$, 'PT404', 'not_found',
    'is refused like one that nobody has');
create function pg_temp.error_of(p_sql text) returns text
language plpgsql
as $$
declare
    v_detail text;
    v_hint text;
begin
    execute p_sql;
    return 'none';
exception when others then
    get stacked diagnostics v_detail = pg_exception_detail, v_hint = pg_exception_hint;
    return concat_ws('|', sqlstate, sqlerrm, v_detail, v_hint);
end
$$;
select is(
    pg_temp.error_of($$ select api.verify_chunk(test.id('one/prices/2')) $$),
    pg_temp.error_of($$ select api.verify_chunk(test.id('nothing')) $$), 'to the last letter');
select throws_ok(
    $$ select api.verify_chunk(null) $$, 'PT404', 'not_found', 'no id is not there either');
select test.act_as('service', 'one');
select throws_ok(
    $$ select api.verify_chunk(test.id('two/prices/0')) $$, 'PT404', 'not_found',
    'nor does the service reach past the brand it named, though no policy holds it');
select test.act_as('bob', 'two');
select throws_ok(
    $$ select api.verify_chunk(test.id('two/prices/0')) $$, 'PT403', 'not_a_member',
    'naming the brand does not help');
select test.act_as('alice');
select throws_ok(
    $$ select api.verify_chunk(test.id('one/prices/2')) $$, 'PT403', 'not_an_admin',
    'a rep verifies nothing');
select is(
    test.outcome($$ update app.chunks set verified_at = now() $$), '0', 'not by hand either');
select test.act_as('visitor');
select throws_ok(
    $$ select api.verify_chunk(test.id('one/prices/2')) $$, '42501', null,
    'a visitor does not get to the door');
select test.act_as('superuser');
select is(
    (select verified_at from app.chunks where id = test.id('one/prices/2')),
    now() - interval '90 days 1 second',
    'and the price is as old as it was');

select * from finish();
rollback;
