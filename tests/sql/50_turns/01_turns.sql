-- Turns: who may read what was asked.
begin;
select plan(16);

insert into app.members (tenant_id, user_id, role) values (test.id('one'), test.id('eve'), 'rep');
select test.add_source('one', 'faq', '{lantern}', '{1}');
insert into app.turns (tenant_id, id, conversation_id, user_id, status, question, finished_at)
select test.id(t.brand), test.id(t.question), test.id(t.question), test.id(t.who), 'answered',
    t.question, now()
from (values ('one', 'alice', 'of alice'), ('one', 'eve', 'of eve'), ('one', 'bob', 'of bob'),
    ('two', 'carol', 'of carol'))
    t (brand, who, question);
insert into app.turn_sources (tenant_id, turn_id, place, chunk_id, source_id, content_hash,
    source_type, title, heading_path, similarity)
select t.tenant_id, t.id, 0, c.id, c.source_id, c.content_hash, 'faq', 'faq', '', 1
from app.turns t join app.chunks c using (tenant_id);

create function pg_temp.seen() returns text
language sql
as $$
    select coalesce((select string_agg(question, ', ' order by question) from app.turns),
        'nothing') || ' / '
        || (select count(*) from app.turn_sources)
$$;
select test.act_as('alice');
select is(pg_temp.seen(), 'of alice / 1', 'a rep reads the own turns and what they used');
select is_empty(
    $$ select from app.turns where id = test.id('of eve') $$,
    'not those of a colleague, even by the id');
select test.act_with_claim('eve', test.id('one')::text);
select is(pg_temp.seen(), 'of eve / 1', 'nor does the colleague read them');
select test.act_as('bob');
select is(pg_temp.seen(), 'of alice, of bob, of eve / 3', 'an admin reads all of the brand');
select test.act_as('carol');
select is(pg_temp.seen(), 'of carol / 0', 'another brand reads its own');
select test.act_as('dave');
select is(pg_temp.seen(), 'of carol / 0', 'so does its admin');
select test.act_as('dave', 'one');
select is(pg_temp.seen(), 'nothing / 0', 'who names this brand in vain');
select test.act_as('pat');
select is(pg_temp.seen(), 'nothing / 0', 'a platform admin reads nothing without naming a brand');
select test.act_as('pat', 'one');
select is(pg_temp.seen(), 'of alice, of bob, of eve / 3', 'and then that one');
select test.act_as('superuser');
delete from app.members where user_id = test.id('alice');
select test.act_as('alice');
select is(pg_temp.seen(), 'nothing / 0', 'who left reads nothing, not even the own turns');

-- a turn is a record: it outlives what it speaks of
select test.act_as('superuser');
delete from app.sources;
delete from auth.users where id = test.id('eve');
select test.act_as('bob');
select is(pg_temp.seen(), 'of alice, of bob, of eve / 3', 'turns outlive their sources and people');
select results_eq(
    'select distinct chunk_id, source_id, content_hash from app.turn_sources',
    $$ values (null::uuid, null::uuid, sha256(e'\nlantern')) $$, 'and still say which text it was');

-- what cannot be written, by anybody
select test.act_as('superuser');
select is(
    test.outcome($$ update app.turns set status = 'refused' $$), '23514', 'a refusal has a reason');
select is(
    test.outcome($$ update app.turns set status = 'running' $$), '23514',
    'a running turn has no end');
select is(
    test.outcome($$ update app.turns set status = 'lost' $$), '23514', 'there are no other states');
select is(
    test.outcome($$ insert into app.turn_sources
            (tenant_id, turn_id, place, content_hash, source_type, title, heading_path, similarity)
        values (test.id('one'), test.id('of carol'), 1, '\x00', 'faq', '', '', 1) $$), '23503',
    'what was used belongs to the brand of the turn');

select * from finish();
rollback;
