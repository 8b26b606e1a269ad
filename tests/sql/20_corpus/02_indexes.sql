-- The embedding indexes: one model each, and no vector without a direction.
begin;
select plan(18);

select results_eq(
    $$ select name, model, dimensions, document_task, query_task from app.embedding_indexes
    order by 3 desc, 1 desc $$,
    $$ values
        ('primary', 'gemini-embedding-001', 768, 'RETRIEVAL_DOCUMENT', 'RETRIEVAL_QUERY'),
        ('fallback', 'gemini-embedding-2', 768, 'RETRIEVAL_DOCUMENT', 'RETRIEVAL_QUERY'),
        ('local', 'all-MiniLM-L6-v2', 384, 'none', 'none') $$,
    'three indexes are registered, each with its model');
select is(
    test.outcome($$ update app.embedding_indexes set model = 'gemini-embedding-001'
        where name = 'fallback' $$),
    '23505', 'two indexes never share a model'); -- O49
select is_empty(
    $$ select i.name from app.embedding_indexes i
    where to_regclass('app.chunk_embeddings_' || i.name) is null
        or i.dimensions is distinct from (select a.atttypmod from pg_attribute a
            where a.attrelid = to_regclass('app.chunk_embeddings_' || i.name)
                and a.attname = 'embedding')
        or to_regproc('api.match_chunks_' || i.name) is null $$,
    'each has a table of its dimensions and a door');
select is_empty(
    $$ select i.name from app.embedding_indexes i where i.name in ('primary', 'fallback')
        and not exists (select from app.models m where m.name = i.model and m.task = 'embed') $$,
    'the model of a hosted index has a daily quota');

-- what may be written: as the superuser, so that only the table decides
select test.add_source('one', 'faq', '{Lanterns}');
create function pg_temp.put(p_index text, p_vector text) returns text
language sql
return test.outcome(format('insert into app.chunk_embeddings_%s (tenant_id, chunk_id, embedding)
    values (%L, %L, %L)', p_index, test.id('one'), test.id('one/faq/0'), p_vector));

-- O56: the cosine of a zero vector is NaN, which is greater than every threshold
select is(pg_temp.put(i.name, array_fill(0::real, array[i.dimensions])::extensions.vector::text),
    '23514',
    'no zero vector in index ' || i.name)
from app.embedding_indexes i order by i.name;
select is(pg_temp.put(i.name, null), '23502', 'no missing vector in index ' || i.name)
from app.embedding_indexes i order by i.name;
select is(pg_temp.put(i.name, test.at_cosine(1, i.dimensions + 1)::text), '22000',
    'no vector of other dimensions in index ' || i.name)
from app.embedding_indexes i order by i.name;
select is(
    pg_temp.put('local', replace(test.at_cosine(1)::text, '[1', '[NaN')), '22000',
    'no vector that is no number');
select is(pg_temp.put('local', test.at_cosine(1)::text), '1', 'a good one is written');
select is(
    test.outcome(format('insert into app.chunk_embeddings_local values (%L, %L, %L)',
        test.id('two'), test.id('one/faq/0'), test.at_cosine(1))), '23503',
    'a vector hangs on a chunk of its own brand');
select test.act_as('bob');
select is(
    test.outcome(format('insert into app.chunk_embeddings_local values (%L, %L, %L)',
        test.id('two'), test.id('one/faq/0'), test.at_cosine(1))), '42501',
        'nobody writes for another brand');
select is(
    test.outcome('update app.chunk_embeddings_local set embedding = embedding'), '42501',
    'a vector is never changed: a changed passage is a new chunk');

select * from finish();
rollback;
