-- Our own limits: a user in a minute, a brand in a day of its own, all brands in a UTC day.
begin;
select plan(22);

-- a user
create function pg_temp.user_turns(p_name text, p_cap integer, p_at timestamptz, p_tries integer)
returns bigint
language sql
as $$
    select count(*) from generate_series(1, p_tries) i
    where private.take_user_turn(test.id(p_name), p_cap, p_at) is not null
$$;
select is(
    pg_temp.user_turns('alice', 10, '2026-07-15 12:00:30+00', 12), 10::bigint,
    'ten of twelve in a minute');
select is(
    pg_temp.user_turns('alice', 10, '2026-07-15 12:00:59.999+00', 1), 0::bigint,
    'none until its last moment');
select is(
    pg_temp.user_turns('carol', 10, '2026-07-15 12:00:59+00', 1), 1::bigint,
    'somebody else is not concerned');
select is(
    pg_temp.user_turns('alice', 10, '2026-07-15 12:01:00+00', 12), 10::bigint,
    'the next minute has ten again');
select is(
    pg_temp.user_turns('alice', 10, '2026-07-15 12:00:00+00', 1), 0::bigint,
    'a clock that goes back gives none');
select is(
    private.take_user_turn(test.id('dave'), 2, '2026-07-15 12:01+00') is not null
        and private.take_user_turn(test.id('dave'), 2, '2026-07-15 12:00:59.99+00')
            = '2026-07-15 12:01+00', true,
    'who began just before the minute turned is of the new one, not refused');
select is(
    pg_temp.user_turns('alice', 12, '2026-07-15 12:01:10+00', 5), 2::bigint,
    'a raised limit counts at once');
select is(
    (select count(*) from private.user_minutes where user_id = test.id('alice')), 1::bigint,
    'there is one row a user');

-- a brand
create function pg_temp.brand_turns(p_brand text, p_day date, p_tries integer) returns bigint
language sql
as $$
    select count(*) from generate_series(1, p_tries) i
    where private.take_tenant_turn(test.id(p_brand), 3, p_day)
$$;
select is(pg_temp.brand_turns('one', '2026-07-15', 5), 3::bigint, 'three of five on a day');
select is(pg_temp.brand_turns('two', '2026-07-15', 1), 1::bigint, 'another brand is not concerned');
select is(pg_temp.brand_turns('one', '2026-07-16', 5), 3::bigint, 'nor is another day');
select is(
    (select sum(turns) from private.tenant_days where tenant_id = test.id('one')), 6::bigint,
    'a refused turn is not counted');

-- all
update private.installation set turns_per_day = 4;
create function pg_temp.all_turns(p_at timestamptz, p_tries integer) returns bigint
language sql
as $$ select count(*) from generate_series(1, p_tries) i where private.take_global_turn(p_at) is not null $$;
select is(pg_temp.all_turns('2026-07-15 23:59:59.9+00', 6), 4::bigint, 'four of six on a UTC day');
select is(
    pg_temp.all_turns('2026-07-16 02:00+02', 6), 4::bigint,
    'midnight in UTC begins the next, wherever one is');
update private.installation set turns_per_day = 5;
select is(
    private.take_global_turn('2026-07-15 23:59:59.99+00'), '2026-07-16'::date,
    'who began just before it is of the new day');
select is(
    pg_temp.all_turns('2026-07-16 01:59+02', 1), 0::bigint, 'while one has turns left');

-- what is given back
create function pg_temp.taken() returns text
language sql
as $$
    select concat_ws(' ',
        (select turns from private.user_minutes where user_id = test.id('alice')),
        (select turns from private.tenant_days where tenant_id = test.id('two')),
        (select turns from private.installation))
$$;
select is(pg_temp.taken(), '12 1 5', 'some turns are taken');
select private.return_turn(test.id('alice'), '2026-07-15 12:01+00', test.id('two'), '2026-07-15',
    '2026-07-16');
select is(pg_temp.taken(), '11 0 4', 'a turn goes back to all three');
select private.return_turn(test.id('alice'), '2026-07-15 12:00+00', test.id('two'), '2026-07-16',
    '2026-07-15');
select is(pg_temp.taken(), '11 0 4', 'to the minute and the days of which it was, or to none');
select is(
    test.outcome($$ select private.return_turn(null, null, test.id('two'), '2026-07-15', null) $$),
    '23514', 'no counter goes below nothing');

-- the counters cannot be broken from inside
select is(
    test.outcome('insert into private.installation default values'), '23505',
    'there is one row of the installation');
select is(
    test.outcome('insert into private.installation (is_only_row) values (false)'), '23514',
    'and no second one');

select * from finish();
rollback;
