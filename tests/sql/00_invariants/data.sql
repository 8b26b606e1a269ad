-- What holds of the rows (testdata/data_invariants.sql): nothing breaks it here, and each plant is found.
begin;
select plan(1 + test.count_assertions('^D'));

select test.add_source('one', 'faq', '{lantern,oil,lantern}', '{1,0.5}');
select test.add_source('two', 'faq', '{lantern}', '{1}');
insert into app.chunk_embeddings_primary
select tenant_id, id, test.at_cosine(1, 768) from app.chunks;
insert into app.reindex_runs (tenant_id, is_complete) values (test.id('one'), true);
insert into app.turns (tenant_id, id, conversation_id, user_id, status, question, finished_at)
values (test.id('one'), test.id('t'), test.id('t'), test.id('alice'), 'answered', 'why?', now());
insert into app.turn_sources (tenant_id, turn_id, place, chunk_id, source_id, content_hash, similarity)
select c.tenant_id, test.id('t'), 0, c.id, c.source_id, c.content_hash, 1
from app.chunks c where c.id = test.id('one/faq/0');

select set_eq(
    $$ select id from test.invariants where id ~ '^D' $$,
    array['D1', 'D2', 'D3', 'D4', 'D5', 'D8', 'D9', 'D10', 'D11', 'D12', 'D13'],
    'the invariants are there');
select test.check_invariants('^D');

select * from finish();
rollback;
