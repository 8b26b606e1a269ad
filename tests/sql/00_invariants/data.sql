-- What holds of the rows (testdata/data_invariants.sql): nothing breaks it here, and each plant is found.
begin;
select plan(1 + test.count_assertions('^D'));

select test.add_source('one', 'faq', '{lantern,oil,lantern}', '{1,0.5}');
select test.add_source('two', 'faq', '{lantern}', '{1}');
insert into app.chunk_embeddings_primary
select tenant_id, id, test.at_cosine(1, 768) from app.chunks;
-- a run that wrote a source and called a model; by hand, since the doors lock the source
insert into app.reindex_runs (tenant_id, id, is_complete)
values (test.id('one'), test.id('run'), true);
insert into app.reindex_run_sources (tenant_id, run_id, source_key, source_type, status)
values (test.id('one'), test.id('run'), 'faq', 'faq', 'ready');
update app.sources s set generation = r.generation
from app.reindex_runs r where s.tenant_id = r.tenant_id;
select private.take_reindex_call(test.id('one'), test.id('run'), 'gemini-embedding-001', now());
-- a turn that was answered from a chunk with one call of two, one that failed, one that runs
select b.state from unnest('{answered,failed,running}'::text[]) t (id), private.begin_turn(
    test.id('one'), test.id('alice'), 'why?', test.id(t.id), null, null, '{shared}', now()) b;
select private.finish_turn(test.id('one'), test.id('alice'), test.id('answered'), 1, 'answered', 'so',
    'en', null, 'primary', 'gemini-3.5-flash-lite',
    '[{"model": "gemini-3.5-flash-lite", "outcome": "ok"}]', '{}', array[test.id('one/faq/0')], '{1}',
    now());
select private.finish_turn(test.id('one'), test.id('alice'), test.id('failed'), 1, 'failed', null,
    null, null, null, null, '[]', '{}', '{}', '{}', now());

select set_eq(
    $$ select distinct id from test.invariants where id ~ '^D' $$,
    array(select 'D' || i from generate_series(1, 13) i),
    'the invariants are there');
select test.check_invariants('^D');

select * from finish();
rollback;
