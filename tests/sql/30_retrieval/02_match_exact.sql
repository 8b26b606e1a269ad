-- O51 O52: a small brand beside a big one. The search is exact: always the best rows, always
-- min(k, rows of the brand) of them, and never a row of somebody else.
begin;
select plan(16);

-- brand two has 500 chunks that are nearly the question and 300 in all directions; brand one seven
select test.add_source('two', 'near', array(select 'near ' || i from generate_series(1, 500) i),
    array(select 1 - i * 1e-5 from generate_series(1, 500) i));
select test.add_source('two', 'wide', array(select 'wide ' || i from generate_series(1, 300) i));
insert into app.chunk_embeddings_local
select c.tenant_id, c.id, test.random_vector(c.content) from app.chunks c where c.content ~ 'wide';
select test.add_source('one', 'few', array(select 'few ' || i from generate_series(1, 7) i),
    '{0.1,-0.2,0.31,0.3,-0.9,0,0.05}');

-- brute force, with no operator of pgvector in it
create function pg_temp.cosine(p_a real[], p_b real[]) returns float8
language sql immutable
as $$
    select sum(a::float8 * b) / sqrt(sum(a::float8 * a)) / sqrt(sum(b::float8 * b))
    from unnest(p_a, p_b) v (a, b)
$$;
create temporary table questions as
select q.name,
    case q.name when 'axis' then test.at_cosine(1) else test.random_vector(q.name) end as vector
from unnest('{axis,q1,q2}'::text[]) q (name);
create temporary table truth as
select q.name, e.tenant_id, e.chunk_id,
    pg_temp.cosine(e.embedding::real[], q.vector::real[]) as cosine
from app.chunk_embeddings_local e, questions q;
create function pg_temp.found(p_question text, p_limit integer)
returns table (chunk_id uuid, similarity float8, place bigint)
language sql
as $$
    select m.chunk_id, m.similarity, row_number() over (order by m.score desc, m.chunk_id)
    from questions q, api.match_chunks_local(q.vector, 'all-MiniLM-L6-v2', '', p_limit) m
    where q.name = p_question
$$;
create function pg_temp.best(p_question text, p_brand text, p_limit integer) returns setof uuid
language sql
as $$
    select t.chunk_id from truth t where t.name = p_question and t.tenant_id = test.id(p_brand)
    order by t.cosine desc, t.chunk_id limit p_limit
$$;
grant select on questions, truth to public;

select test.act_as('alice');
select results_eq(
    format('select chunk_id from pg_temp.found(%L, 7) order by place', q.name),
    format('select * from pg_temp.best(%L, ''one'', 7)', q.name),
    'the small brand gets all its rows in the order of brute force for ' || q.name)
from questions q order by q.name;
select is(
    array(select (select count(*) from pg_temp.found('axis', k)) from generate_series(1, 12) k),
    '{1,2,3,4,5,6,7,7,7,7,7,7}', 'always min(k, rows) of them');
select is_empty(
    $$ select chunk_id from questions q, pg_temp.found(q.name, 50)
    except select t.chunk_id from truth t where t.tenant_id = test.id('one') $$,
    'none of the 500 rows of the neighbour that are nearer');

select test.act_as('carol');
select results_eq(
    format('select chunk_id from pg_temp.found(%L, 50) order by place', q.name),
    format('select * from pg_temp.best(%L, ''two'', 50)', q.name),
    'the big brand gets the best 50 of 800 for ' || q.name)
from questions q order by q.name;
select is(
    array(select (select count(*) from pg_temp.found('q1', k))
        from unnest('{1,6,49,50,51,800}'::integer[]) k),
    '{1,6,49,50,50,50}', 'at most 50 of them');
select is_empty(
    $$ select m.chunk_id from questions q, pg_temp.found(q.name, 6) m
    join truth t on t.chunk_id = m.chunk_id
    where t.name = q.name and abs(t.cosine - m.similarity) > 1e-6 $$,
    'the similarity is the cosine');
select is_empty(
    $$ select k from generate_series(2, 8) k
    where array(select chunk_id from pg_temp.found('q2', k - 1) order by place)
        <> (array(select chunk_id from pg_temp.found('q2', k) order by place))[1:k - 1] $$,
    'to ask for one more changes nothing about the others');

-- words do not lead to another brand either
select test.act_as('alice');
select is_empty(
    $$ select m.content
    from api.match_chunks_local(test.at_cosine(1), 'all-MiniLM-L6-v2', 'near wide', 50) m
    where m.content !~ 'few' or m.is_relevant $$,
    'the words of the neighbour find nothing and answer nothing');

-- An approximate index over all brands on each table, planted by somebody who does not know better,
-- and a planner that would take it wherever it can: nothing changes, because no search orders or
-- cuts the rows of a table. The vectors of the other indexes are the same, lengthened by zeros.
select test.act_as('superuser');
create function pg_temp.lengthened(p_vector extensions.vector) returns extensions.vector
language sql immutable
as $$ select (p_vector::real[] || array_fill(0::real, array[384]))::extensions.vector $$;
insert into app.chunk_embeddings_primary
select e.tenant_id, e.chunk_id, pg_temp.lengthened(e.embedding) from app.chunk_embeddings_local e;
insert into app.chunk_embeddings_fallback select * from app.chunk_embeddings_primary;
create index on app.chunk_embeddings_primary using hnsw (embedding extensions.vector_cosine_ops);
create index on app.chunk_embeddings_fallback using hnsw (embedding extensions.vector_cosine_ops);
create index on app.chunk_embeddings_local using hnsw (embedding extensions.vector_cosine_ops);
set local enable_seqscan = off;
set local enable_sort = off;
discard plans; -- those made before the indexes
select is(
    (select count(*) from (
        select e.tenant_id from app.chunk_embeddings_local e
        order by e.embedding operator(extensions.<=>) test.at_cosine(1) limit 40
    ) e where e.tenant_id = test.id('one')),
    0::bigint, 'a search by way of an approximate index loses the small brand');
create function pg_temp.found_in(p_index text) returns setof uuid
language plpgsql
as $$
begin
    return query execute format('select m.chunk_id
        from questions q, app.embedding_indexes i,
            api.match_chunks_%s(case i.dimensions when 384 then q.vector
                else pg_temp.lengthened(q.vector) end, i.model, '''', 7)
                with ordinality m (chunk_id, b, c, d, e, f, g, h, i, j, k, l, m, n, place)
        where i.name = %L order by q.name, m.place', p_index, p_index);
end
$$;
select test.act_as('alice');
select results_eq(
    format('select * from pg_temp.found_in(%L)', i.name),
    $$ select b.id from questions q, pg_temp.best(q.name, 'one', 7) with ordinality b (id, place)
    order by q.name, b.place $$,
    'with one on its table the index ' || i.name || ' is searched as exactly')
from app.embedding_indexes i order by i.name;

select * from finish();
rollback;
