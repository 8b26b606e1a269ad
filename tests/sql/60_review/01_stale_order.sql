-- C6: two people verify one price at once. The later stays, whichever row is written first; each
-- transaction says the time when it began.
begin;
select plan(6);

select test.add_source('one', 'prices', '{"Flex 12 €"}', '{1}', 'price',
    p_verified_at => now() - interval '95 days');
create function pg_temp.verify(p_name text, p_at interval) returns timestamptz
language sql
as $$
    select v.verified_at
    from private.verify_chunk(test.id('one'), test.id(p_name), test.id('one/prices/0'), now() + p_at) v
$$;
create function pg_temp.verified() returns text
language sql
as $$
    select case c.verified_by when test.id('bob') then 'bob' when test.id('pat') then 'pat' end
        || ' ' || (c.verified_at - now())
    from app.chunks c where c.id = test.id('one/prices/0')
$$;

select is(pg_temp.verify('bob', '2 seconds'), now() + interval '2 seconds', 'bob is a moment later');
select is(
    pg_temp.verify('pat', '1 second'), now() + interval '2 seconds',
    'pat, who began before and is written after, is told what counts');
select is(pg_temp.verified(), 'bob 00:00:02', 'the later one stays, by name');
select is(pg_temp.verify('pat', '3 seconds'), now() + interval '3 seconds', 'later still, pat again');
select is(pg_temp.verified(), 'pat 00:00:03', 'is the one');
select is(
    pg_temp.verify('bob', '3 seconds'), now() + interval '3 seconds', 'the same moment is no fault');

select * from finish();
rollback;
