-- A turn once more: only the own one, as it was shown.
begin;
select plan(12);

select test.add_source('one', 'faq', '{lantern,candle}', '{1,1}',
    p_verified_at => '2026-01-01 00:00+00');
select test.act_as('alice');
select api.begin_turn('why?', test.id('t1'));
select is(
    (select status from api.stored_turn(test.id('t1'))), 'running', 'a turn that runs says so');
select api.finish_turn(test.id('t1'), 1, 'answered', 'because', 'en', '2026-01-01', 'local', 'extractive',
    '[]', '{"total":12}', array[test.id('one/faq/1')], '{0.9}');
create temporary table shown as select * from api.stored_turn(test.id('t1'));
select results_eq(
    'select status, answer, language, as_of, index_name, model, milliseconds from shown',
    $$ values ('answered', 'because', 'en', '2026-01-01'::date, 'local', 'extractive',
        '{"total":12}'::jsonb) $$, 'one that ended is there as it was');
select is(
    (select sources from shown), jsonb_build_array(jsonb_build_object(
        'source_id', test.id('one/faq'), 'type', 'faq', 'title', 'faq', 'url', null, 'heading', '',
        'verified_at', '2026-01-01 00:00+00'::timestamptz)), 'with its sources');

-- an hour later the documents have changed
select test.act_as('superuser');
update app.sources set title = 'another title';
delete from app.chunks;
select test.act_as('alice');
select is(
    (select sources from api.stored_turn(test.id('t1'))), (select sources from shown),
    'it is the same answer with the same sources, whatever became of them');

-- nobody else's, and not there, look alike
select throws_ok(
    $$ select api.stored_turn(test.id('never')) $$, 'PT404', 'not_found', 'one that never was');
select test.act_as('bob');
select throws_ok(
    $$ select api.stored_turn(test.id('t1')) $$, 'PT404', 'not_found',
    'that of a colleague, even for an admin');
select test.act_as('pat', 'one');
select throws_ok(
    $$ select api.stored_turn(test.id('t1')) $$, 'PT404', 'not_found', 'or for a platform admin');
select test.act_as('carol');
select throws_ok(
    $$ select api.stored_turn(test.id('t1')) $$, 'PT404', 'not_found', 'or in another brand');
select test.act_as('eve');
select throws_ok(
    $$ select api.stored_turn(test.id('t1')) $$, 'PT403', 'not_a_member', 'a stranger is refused');
select test.act_as('visitor');
select throws_ok($$ select api.stored_turn(test.id('t1')) $$, '42501', null, 'so is a visitor');
select test.act_as('superuser');
delete from app.members where user_id = test.id('alice');
select test.act_as('alice');
select throws_ok(
    $$ select api.stored_turn(test.id('t1')) $$, 'PT403', 'not_a_member',
    'who has left the brand reads the own turns no more');

-- over PostgREST nobody reports on the own turn
select test.act_as('superuser');
set session authorization authenticator;
select test.act_as('carol');
select throws_ok(
    $$ select api.begin_turn('why?') $$, 'PT403', 'functions_only', 'turns are for the functions');
reset session authorization;

select * from finish();
rollback;
