-- How chunks are ranked and when they answer, by hand-made cosines to the question.
begin;
select plan(24);

-- the weights and limits are data that is tuned; here they are round
update app.embedding_indexes
set dense_weight = 2, lexical_weight = 1, threshold = 0.2, min_similarity = 0.4;
-- four chunks; the second one has the word
select test.add_source('one', 'faq',
    '{"We sell tea","A lantern for you","Open at nine","Closed on Sunday"}',
    '{0.9,0.6,0.3,0.1}');
-- and a neighbour who has it too: nobody's numbers may depend on what another brand says
select test.add_source('two', 'near', '{"A lantern of two","Lanterns again"}', '{0.99,0.98}');
create function pg_temp.rank(p_question text, p_dense_weight float8 default null,
    p_now timestamptz default now())
returns table (place text, is_relevant boolean, is_stale boolean, score float8, similarity float8)
language sql
as $$
    select right(s.source_key || '/' || array_position(s.chunk_ids, r.chunk_id) - 1, 12),
        r.is_relevant, r.is_stale,
        r.score, r.similarity
    from private.embedding_index('local', 'all-MiniLM-L6-v2', test.at_cosine(1)) i
    cross join private.similarities(test.id('one'), 'local', test.at_cosine(1)) d
    cross join private.question_terms(test.id('one'), p_question) q
    left join private.lexical_scores(test.id('one'), q.words, q.lexemes, cardinality(d.ids)) l
        on true
    cross join private.rank_chunks(test.id('one'), i, d.ids, d.similarities, l.ids, l.bm25,
        l.matched, p_dense_weight, 50, p_now) r
    join app.sources s on s.id = r.source_id
$$;
create function pg_temp.order_of(p_question text, p_dense_weight float8 default null) returns text
language sql
as $$ select string_agg(r.place, ' ' order by r.score desc)
    from pg_temp.rank(p_question, p_dense_weight) r $$;

-- the order: weight * z(cosine) + z(BM25), computed here a second time
create function pg_temp.by_hand(p_weight float8) returns table (place text, score float8)
language sql
as $$
    with c (place, cosine, bm25) as (values
        ('faq/0', 0.9::float8, 0::float8), ('faq/1', 0.6, ln(1 + 3.5 / 1.5) * 2.2 / 2.2),
        ('faq/2', 0.3, 0),
        ('faq/3', 0.1, 0)
    )
    select c.place, p_weight * (c.cosine - avg(c.cosine) over ()) / stddev_pop(c.cosine) over ()
        + case when c.bm25 = 0 then 0
            else (c.bm25 - avg(c.bm25) over ()) / stddev_pop(c.bm25) over () end
    from c
$$;
select is_empty(
    $$ select * from pg_temp.rank('lantern') r join pg_temp.by_hand(2) h using (place)
    where abs(r.score - h.score) > 1e-6 $$,
    'the score is 2 z(cosine) + z(BM25) by default');
select is_empty(
    $$ select * from pg_temp.rank('lantern', 0.5) r join pg_temp.by_hand(0.5) h using (place)
    where abs(r.score - h.score) > 1e-6 $$,
    'or with the weight that the model gives its cosine');
select is_empty(
    $$ select * from pg_temp.rank('lantern', 99) r join pg_temp.by_hand(2) h using (place)
    where abs(r.score - h.score) > 1e-6 $$,
    'which is at most 2');
select is_empty(
    $$ select * from pg_temp.rank('lantern', -1) r join pg_temp.by_hand(0.25) h using (place)
    where abs(r.score - h.score) > 1e-6 $$,
    'and at least 0.25');
select is(
    pg_temp.order_of(''), 'faq/0 faq/1 faq/2 faq/3',
    'without words the order is that of the cosine');
select is(
    pg_temp.order_of('lantern', 0.25), 'faq/1 faq/0 faq/2 faq/3',
    'a word lifts the chunk that has it');
select is(
    (select r.score from pg_temp.rank('') r where r.place = 'faq/0'),
    (select r.similarity from pg_temp.rank('') r
        where r.place = 'faq/0'), 'and the score is then the cosine');
select is(
    pg_temp.order_of('the and of'), pg_temp.order_of(''), 'stop words are no words');
select is(
    pg_temp.order_of('''; drop & | ! :* <-> lanterns'), pg_temp.order_of('lantern drop'),
    'the syntax of a text search is no syntax here');

-- O58: when it answers. M / (T + 6) + 1.2 * (cosine - 0.55) >= 0.2 with T and M from idf
create function pg_temp.answers(p_question text, p_place integer, p_cosine float8) returns boolean
language plpgsql
as $$
begin
    update app.chunk_embeddings_local set embedding = test.at_cosine(p_cosine)
    where chunk_id = test.id('one/faq/' || p_place);
    return (select r.is_relevant from pg_temp.rank(p_question) r where r.place = 'faq/' || p_place);
end
$$;
select is(
    array[pg_temp.answers('zeppelin', 0, 0.72), pg_temp.answers('zeppelin', 0, 0.71)],
    '{true,false}',
    'without a word of the question a chunk answers from 0.717');
select is(
    array[pg_temp.answers('lantern', 1, 0.58), pg_temp.answers('lantern', 1, 0.57)], '{true,false}',
    'with the one rare word from 0.577');
select is(
    array[pg_temp.answers('lantern zeppelin', 1, 0.62),
        pg_temp.answers('lantern zeppelin', 1, 0.60)], '{true,false}',
    'a word that the brand never uses counts against it: from 0.611');
select is(
    array[pg_temp.answers('', 1, 0.41), pg_temp.answers('', 1, 0.39)], '{true,false}',
    'a search without words answers from the least cosine of the index');
select is(
    (select bool_or(is_relevant) from pg_temp.rank('What is the music of the zeppelin?')), false,
    'a question about something else finds no answer');

-- languages
select test.add_source('one', 'de', '{"Die Preise der Laternen"}', '{0.5}', p_language => 'de');
select test.add_source('one', 'es', '{"Los precios de las linternas"}', '{0.5}',
    p_language => 'es');
select test.add_source('one', 'zh', '{"家庭套餐的价格"}', '{0.5}', p_language => 'zh');
select is(split_part(pg_temp.order_of(q.question, 0.25), ' ', 1), q.place || '/0', q.label)
from (values
    ('Preis, Laterne?', 'de', 'German: Preis finds Preise'),
    ('¿precio? ¿linterna?', 'es', 'Spanish: precio finds precios'),
    ('套餐多少钱?', 'zh', 'Chinese: a pair of characters finds the sentence')
) q (question, place, label);

-- time. The day of a question is a parameter here and nowhere else
update app.sources set valid_from = '2026-03-01 00:00+00',
valid_to = '2026-04-01 00:00+00' where source_key = 'de';
select is(
    array(select exists (select from pg_temp.rank('', null, t.at) r where r.place = 'de/0')
        from unnest('{2026-02-28 23:59:59+00,2026-03-01 00:00:00+00,2026-03-31 23:59:59+00,
            2026-04-01 00:00:00+00}'::timestamptz[]) t (at)),
    '{false,true,true,false}', 'a source is found from valid_from on, and at valid_to no more');
select test.add_source('one', 'fees', '{"Fee: 9 €","Fee: 8 €","Our story"}', '{0.2,0.2,0.2}',
    p_type => 'price',
    p_verified_at => '2026-03-01 12:00+00');
update app.chunks set verified_at = null where id = test.id('one/fees/1');
select is(
    (select array_agg(r.is_stale order by r.place) from pg_temp.rank('', null, t.at) r
    where r.place ~ 'fees'),
    t.stale, t.label)
from (values
    ('2026-05-30 12:00:00+00'::timestamptz, '{false,true,false}'::boolean[],
        'after 90 days to the second a price is not stale; never verified, it is; prose is never'),
    ('2026-05-30 12:00:01+00', '{true,true,false}', 'a second later it is')
) t (at, stale, label);
update app.tenant_limits set verified_within_days = 30 where tenant_id = test.id('one');
select is(
    (select r.is_stale from pg_temp.rank('', null, '2026-04-01 12:00+00') r
    where r.place = 'fees/0'), true,
    'a brand may want a price verified more often');

-- an index that is being filled: the words are in ten chunks, one of them has a vector
select test.add_source('two', 'faq',
    array(select 'red lantern post lamp ' || i from generate_series(1, 10) i), '{0.3}');
select is_empty(
    $$ select s.* from private.lexical_scores(test.id('two'), '{1,2}', '{lantern,red}', 1) l,
        unnest(l.bm25, l.matched) s (bm25, matched)
    where s.bm25 < 0 or s.matched >= 1 $$,
    'a word is never worth less than nothing');
select is(
    (select r.is_relevant
    from private.lexical_scores(test.id('two'), '{1,2,3,4}', '{red,lantern,post,lamp}', 1) l,
        app.embedding_indexes i,
        private.rank_chunks(test.id('two'), i, array[test.id('two/faq/0')], '{0.3}', l.ids,
            l.bm25, l.matched, null, 6, now()) r
    where i.name = 'local'), false,
        'so that a chunk does not answer because others have no vector yet');
select is_empty(
    $$ select * from private.question_terms(test.id('nowhere'), 'lantern') where words <> '{}' $$,
    'a brand without sources knows no words');

select * from finish();
rollback;
