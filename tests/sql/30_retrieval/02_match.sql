-- The doors of retrieval: whose rows come back, from which index, and what they refuse.
begin;
select plan(38);

select test.add_source('one', 'site', '{"We sell light"}', '{0.5}', p_visibility => 'public');
select test.add_source('one', 'faq', '{"A lantern for you","Open at nine"}', '{0.6,0.4}');
select test.add_source('one', 'margin', '{"The lantern margin is 40 %"}', '{0.9}',
    p_visibility => 'private');
select test.add_source('two', 'faq', '{"A lantern of brand two"}', '{0.99}');
create function pg_temp.match(p_question text default '', p_limit integer default 6) returns text
language sql
as $$
    select string_agg(m.source_title, ' ' order by m.place)
    from api.match_chunks_local(test.at_cosine(1), 'all-MiniLM-L6-v2', p_question,
    p_limit) with ordinality m (
        chunk_id, source_id, source_type, source_title, source_url, heading_path, content, language,
        verified_at, is_pricing, is_stale, is_relevant, similarity, score, place)
$$;

-- whose rows
select test.act_as('alice');
select is(pg_temp.match(), 'faq site faq', 'a rep finds what members may read, best first');
select is(pg_temp.match('lantern'), 'faq site faq', 'with words too');
select is(
    pg_temp.match('', 1), 'faq', 'what is hidden takes no place: the best visible one comes first');
select test.act_as('bob');
select is(pg_temp.match(), 'margin faq site faq', 'an admin finds private sources');
select is(pg_temp.match('lantern margin', 1), 'margin', 'with words too');
select test.act_as('carol');
select is(pg_temp.match(), 'faq', 'another brand finds its own');
select is(
    (select content from api.match_chunks_local(test.at_cosine(1), 'all-MiniLM-L6-v2')),
    'A lantern of brand two',
    'and nothing of this one');
select test.act_as('pat', 'two');
select is(pg_temp.match(), 'faq', 'a platform admin finds those of the named brand');
select test.act_as('service', 'one');
select is(pg_temp.match(), 'margin faq site faq', 'so does the service');
select test.act_as('alice', 'two');
select throws_ok(
    'select pg_temp.match()', 'PT403', 'not_a_member', 'naming another brand is refused');
select test.act_with_claim('alice', test.id('two')::text);
select throws_ok('select pg_temp.match()', 'PT403', 'not_a_member', 'so is claiming it');
select test.act_as('eve');
select throws_ok('select pg_temp.match()', 'PT403', 'not_a_member', 'a stranger finds nothing');
select test.act_as('visitor');
select throws_ok(
    $$ select api.match_chunks_local('[1]', 'all-MiniLM-L6-v2') $$, '42501', null,
    'a visitor does not get to the door');

-- what comes back
select test.act_as('alice');
select results_eq(
    $$ select chunk_id, source_id, source_type, source_title, source_url, heading_path, content,
        language, verified_at, is_pricing, is_stale, is_relevant, round(similarity::numeric, 3),
        round(score::numeric, 3)
    from api.match_chunks_local(test.at_cosine(1), 'all-MiniLM-L6-v2', p_limit => 1) $$,
    $$ values (test.id('one/faq/0'), test.id('one/faq'), 'faq', 'faq', null::text, '',
        'A lantern for you', 'en', null::timestamptz, false, false, true, 0.600, 0.600) $$,
    'a match carries all that an answer needs');
select is(
    array(select (select count(*) from api.match_chunks_local(test.at_cosine(1), 'all-MiniLM-L6-v2',
    '', l.l))
        from unnest('{0,-1,1,2,1000000000,null}'::integer[]) l (l)),
    '{1,1,1,2,3,1}', 'the limit is at least 1 and may be more than there is');

-- O53: it works whatever the search path is, with pgvector in schema extensions
create function pg_temp.bare() returns bigint
language sql set search_path = ''
as $$ select count(*)
    from api.match_chunks_local(test.at_cosine(1), 'all-MiniLM-L6-v2', 'lantern') $$;
select is(pg_temp.bare(), 3::bigint, 'an empty search path is enough');

-- O49: each index is searched with its own model only
select test.act_as('superuser');
insert into app.chunk_embeddings_primary
values (test.id('one'), test.id('one/faq/0'), test.at_cosine(0.8, 768));
insert into app.chunk_embeddings_fallback
values (test.id('one'), test.id('one/faq/1'), test.at_cosine(0.7, 768));
select test.act_as('alice');
select results_eq(
    $$ select content
    from api.match_chunks_primary(test.at_cosine(1, 768), 'gemini-embedding-001') $$,
    array['A lantern for you'], 'the primary index finds by its vectors');
select results_eq(
    $$ select content
    from api.match_chunks_fallback(test.at_cosine(1, 768), 'gemini-embedding-2') $$,
    array['Open at nine'], 'the fallback index by its own');
select throws_ok(
    $$ select api.match_chunks_primary(test.at_cosine(1, 768), 'gemini-embedding-2') $$, 'PT422',
    'model_mismatch',
    'a vector of the fallback model is not compared with those of the primary one');
select throws_ok(
    $$ select api.match_chunks_fallback(test.at_cosine(1, 768), 'gemini-embedding-001') $$, 'PT422',
    'model_mismatch', 'nor the other way round');
select throws_ok(
    $$ select api.match_chunks_local(test.at_cosine(1), null) $$, 'PT422', 'model_mismatch',
    'nor one of nobody knows which');

-- O56: a vector without a direction, and other bad ones
select throws_ok(
    format('select api.match_chunks_%s(%L, %L)', i.name,
    array_fill(0::real, array[i.dimensions])::extensions.vector,
        i.model),
    'PT400', 'bad_request', 'no search with a zero vector in index ' || i.name)
from app.embedding_indexes i order by i.name;
select throws_ok(
    format('select api.match_chunks_%s(null, %L)', i.name, i.model), 'PT400', 'bad_request',
    'no search without a vector in index ' || i.name)
from app.embedding_indexes i order by i.name;
select throws_ok(
    format('select api.match_chunks_%s(%L, %L)', i.name, test.at_cosine(1, i.dimensions + 1),
        i.model),
    'PT422', 'model_mismatch', 'no search with other dimensions in index ' || i.name)
from app.embedding_indexes i order by i.name;
select test.act_as('superuser');
update app.embedding_indexes set model = 'empty' where name = 'fallback';
delete from app.chunk_embeddings_fallback;
select test.act_as('alice');
select throws_ok(
    $$ select api.match_chunks_fallback(test.at_cosine(1), 'empty') $$, 'PT422',
    'model_mismatch', 'not even where there is nothing to compare with');
select is(
    (select count(*)
    from api.match_chunks_local(test.at_cosine(1), 'all-MiniLM-L6-v2', repeat('lantern ', 2000))),
    3::bigint, 'a long question is one too');

-- O28: a price that was retired is not found, in no way
select test.act_as('superuser');
delete from app.chunks where id = test.id('one/faq/0');
select test.act_as('alice');
select is(
    pg_temp.match('lantern'), 'site faq',
    'a chunk that is gone is found neither by vector nor by word');
select test.act_as('dave');
select is(pg_temp.match('lantern'), 'faq', 'and the other brand keeps its own');

-- the best that may be seen, however many are hidden above them
select test.act_as('superuser');
select test.add_source('two', 'secret',
    array(select 'Lantern secret ' || i from generate_series(1, 90) i),
    array(select 0.9 - i * 0.001 from generate_series(1, 90) i), p_visibility => 'private');
select test.add_source('two', 'last', '{"Our last word","Our lantern words"}', '{0.2,0.1}');
select test.act_as('carol');
select is(pg_temp.match(), 'faq last last', 'below ninety that a rep may not see');
select is(pg_temp.match('lantern', 50), 'faq last last', 'with words too');
select is(pg_temp.match('', 2), 'faq last', 'and no more than were asked for');
select test.act_as('dave');
select is(
    pg_temp.match('', 50), 'faq' || repeat(' secret', 49), 'an admin sees them');

select * from finish();
rollback;
