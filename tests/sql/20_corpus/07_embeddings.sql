-- Writing vectors: only of the registered model, only for chunks that are there.
begin;
select plan(30);

select test.add_source('one', 'faq', '{a,b,c}');
select test.add_source('two', 'faq', '{x}');
select test.act_as('bob');
create function pg_temp.put(
    p_places integer[], p_vectors text[], p_index text default 'local',
    p_model text default 'all-MiniLM-L6-v2', p_key text default 'faq', p_texts text[] default null)
returns integer
language sql
as $$
    select api.put_embeddings('faq', p_key, p_index, p_model, p_places,
        test.hashes(array_fill(''::text, array[cardinality(p_vectors)]), coalesce(p_texts, array(
            select (case current_setting('request.jwt.claims')::jsonb ->> 'sub'
                when test.id('dave')::text then '{x}' else '{a,b,c}' end::text[])[u.place + 1]
            from unnest(p_places) with ordinality u (place, at) order by u.at))), p_vectors)
$$;
create function pg_temp.v(p_cosine float8 default 1, p_dimensions integer default 384) returns text
language sql
as $$ select test.at_cosine(p_cosine, p_dimensions)::text $$;

select is(pg_temp.put('{2,0}', array[pg_temp.v(0.2), pg_temp.v(0)]), 2, 'two vectors are written');
select results_eq(
    $$ select chunk_id, embedding::text from app.chunk_embeddings_local order by 2 $$,
    $$ values (test.id('one/faq/0'), pg_temp.v(0)), (test.id('one/faq/2'), pg_temp.v(0.2)) $$,
    'each to the chunk at its place');
select is(
    pg_temp.put('{0,1}', array[pg_temp.v(0.9), pg_temp.v(0.9)]), 1,
    'a chunk that has one keeps it');
select is(
    (select embedding::text from app.chunk_embeddings_local where chunk_id = test.id('one/faq/0')),
    pg_temp.v(0),
    'as it was');
select is(pg_temp.put('{}', '{}'), 0, 'nothing to write is no mistake');
select is(
    pg_temp.put('{0}', array[pg_temp.v(1, 768)], 'primary', 'gemini-embedding-001')
        + pg_temp.put('{0}', array[pg_temp.v(1, 768)], 'fallback', 'gemini-embedding-2'),
    2, 'each index has its own vectors');

-- O49: the two hosted indexes have the same width, so only the name of the model can tell
select throws_ok(
    $$ select pg_temp.put('{1}', array[pg_temp.v(1, 768)], 'primary', 'gemini-embedding-2') $$,
    'PT422', 'model_mismatch', 'a vector of the fallback model is refused by the primary index');
select throws_ok(
    $$ select pg_temp.put('{1}', array[pg_temp.v(1, 768)], 'primary', null) $$,
    'PT422', 'model_mismatch', 'a vector of no model too');
select throws_ok(
    $$ select pg_temp.put('{1}', array[pg_temp.v()], 'nowhere', 'all-MiniLM-L6-v2') $$,
    'PT422', 'model_mismatch', 'and an index that is not registered');

-- O56 and other bad vectors
select throws_ok(
    $$ select pg_temp.put('{1}', array[array_fill(0, '{384}')::extensions.vector::text]) $$,
    '23514', null,
    'a zero vector is refused');
select throws_ok(
    $$ select pg_temp.put('{1}', array[pg_temp.v(1, 768)]) $$, '22000',
    'expected 384 dimensions, not 768',
    'so are other dimensions');
select throws_ok(
    $$ select pg_temp.put('{1}', '{hello}') $$, '22P02', null, 'and what is no vector');
select throws_ok(
    $$ select pg_temp.put('{1}', array[null::text]) $$, '23502', null, 'and what is missing');

-- a vector without a chunk: an embedder that returned too few or too many
select throws_ok(
    $$ select pg_temp.put('{1,2}', array[pg_temp.v()]) $$, 'PT400', 'bad_request',
    'one vector for two places');
select throws_ok(
    $$ select pg_temp.put('{1}', array[pg_temp.v(), pg_temp.v()]) $$, 'PT400', 'bad_request',
    'two vectors for one place');
select throws_ok(
    $$ select pg_temp.put('{3}', array[pg_temp.v()]) $$, 'PT400', 'bad_request',
    'a place that is not there');
select throws_ok(
    $$ select pg_temp.put('{0}', array[pg_temp.v()], p_key => 'nothing') $$, 'PT400', 'bad_request',
    'a source that is not there');

-- O36: a vector is of a text, whatever stands at its place by now
select throws_ok(
    $$ select pg_temp.put('{1}', array[pg_temp.v()], p_texts => '{"b, but cheaper"}') $$,
    'PT409', 'reindex_running', 'a vector of another text is refused');
select throws_ok(
    $$ select api.put_embeddings('faq', 'faq', 'local', 'all-MiniLM-L6-v2', '{1}', null,
        array[pg_temp.v()]) $$, 'PT409', 'reindex_running', 'and one of no text');
select test.act_as('service', 'one');
select is(
    test.outcome($$ update app.chunks set content = 'a, but cheaper' $$), '42501',
    'the text under a vector is not changed, not by the service');
select test.act_as('superuser');
select throws_ok(
    $$ update app.chunks set content = 'a, but cheaper' where id = test.id('one/faq/0') $$,
    'PT400', 'bad_request', 'and not by the owner of the database');
select throws_ok(
    $$ update app.chunks set heading_path = 'Fees' where id = test.id('one/faq/0') $$,
    'PT400', 'bad_request', 'nor the heading, which was embedded too');
select lives_ok(
    $$ update app.chunks set content = content, verified_at = now() where id = test.id('one/faq/0') $$,
    'the same text is no change');
select is(
    (select count(*) from app.chunk_embeddings_local e join app.chunks c on c.id = e.chunk_id
    where c.content ~ 'cheaper'), 0::bigint, 'so that no text has the vector of another');
select test.act_as('bob');

-- by whom
select results_eq(
    'select index_name, model, chunks, vectors from api.index_coverage()',
    $$ values ('primary', 'gemini-embedding-001', 3::bigint, 1::bigint),
        ('fallback', 'gemini-embedding-2', 3, 1), ('local', 'all-MiniLM-L6-v2', 3, 3) $$,
    'the coverage says how far each index is filled');
select test.act_as('alice');
select throws_ok(
    $$ select pg_temp.put('{0}', array[pg_temp.v()]) $$, 'PT403', 'not_an_admin',
    'a rep writes no vector');
select throws_ok('select api.index_coverage()', 'PT403', 'not_an_admin', 'and sees no coverage');
select test.act_as('dave');
select throws_ok(
    $$ select pg_temp.put('{1}', array[pg_temp.v()]) $$, 'PT400', 'bad_request',
    'the admin of another brand meets the own source of that key, which is shorter');
select is(pg_temp.put('{0}', array[pg_temp.v()]), 1, 'and writes to it');
select results_eq(
    'select vectors from api.index_coverage()', array[0, 0, 1]::bigint[],
    'which counts for that brand alone');

select * from finish();
rollback;
