-- How chunks are ranked and when they answer: shared by all indexes.
--
-- Order:    dense_weight * z(cosine) + lexical_weight * z(BM25), z being the standard score over
-- all
--           chunks of the brand (0 for a chunk without a word of the question).
-- Evidence: M / (T + 6) + 0.6 * dense_weight * (cosine - 0.55), where T is the idf mass of the
--           question and M what the chunk matches of it; a word that the brand never uses counts
--           in T, so a question about a product of somebody else finds no answer here.
-- BM25 has k1 = 1.2 and b = 0: the chunks of a profile are about equally long.
-- Cost: one pass over the vectors of the brand, one btree scan for each word.

create function private.question_terms(p_tenant_id uuid, p_question text)
returns table (words integer[], lexemes text[])
language sql stable strict rows 1
set search_path = ''
begin atomic
    with languages as (
        select distinct s.language from app.sources s where s.tenant_id = p_tenant_id
    ), variants as (
        select t.word, t.lexeme, l.language
        from languages l, private.terms(p_question, l.language) t
    ), kept as (
        -- a word that is a stop word in one language of the brand says nothing in the others
        select v.word from variants v
        group by v.word
        having count(distinct v.language) = (select count(*) from languages)
    )
    select coalesce(array_agg(v.word), '{}'), coalesce(array_agg(v.lexeme), '{}')
    from (select distinct v.word, v.lexeme from variants v join kept k on k.word = v.word) v;
end;
comment on function private.question_terms is
    'The words of a question, each in the lexemes that the languages of the brand make of it.';
grant execute on function private.question_terms to authenticated, service_role;

create function private.lexical_scores(
    p_tenant_id uuid, p_words integer[], p_lexemes text[], p_chunks bigint)
returns table (chunk_id uuid, bm25 double precision, matched double precision, total double precision)
language sql stable
set search_path = ''
begin atomic
    with hits as (
        select q.word, t.chunk_id, sum(t.frequency)::double precision as frequency
        from unnest(p_words, p_lexemes) q (word, lexeme)
        join app.chunk_terms t on t.tenant_id = p_tenant_id and t.lexeme = q.lexeme
        group by q.word, t.chunk_id
    ), spread as (
        select q.word, count(h.chunk_id)::double precision as chunks
        from (select distinct u.word from unnest(p_words) u (word)) q
        left join hits h on h.word = q.word
        group by q.word
    ), idf as (
        -- an index that is being filled has fewer chunks than a word may have: no less than that
        select s.word, ln(1 + (greatest(p_chunks, s.chunks) - s.chunks + 0.5) / (s.chunks + 0.5)) as value
        from spread s
    )
    select h.chunk_id, sum(i.value * h.frequency * 2.2 / (h.frequency + 1.2)), sum(i.value),
        (select sum(a.value) from idf a)
    from hits h
    join idf i on i.word = h.word
    group by h.chunk_id;
end;
comment on function private.lexical_scores is
    'BM25 of the chunks that hold a word of the question, the idf mass they match, and that of the question.';
grant execute on function private.lexical_scores to authenticated, service_role;

create function private.rank_chunks(
    p_tenant_id uuid, p_index text, p_ids uuid[], p_similarities double precision[], p_words integer[],
    p_lexemes text[], p_dense_weight double precision, p_limit integer, p_now timestamptz)
returns table (
    chunk_id uuid, source_id uuid, source_type text, source_title text, source_url text,
    heading_path text, content text, language text, verified_at timestamptz, is_pricing boolean,
    is_stale boolean, is_relevant boolean, similarity double precision, score double precision)
language sql stable rows 6
set search_path = ''
begin atomic
    with settings as (
        select i.lexical_weight, i.threshold, i.min_similarity,
            least(greatest(coalesce(p_dense_weight, i.dense_weight), 0.25), 2) as dense_weight,
            (select l.verified_within_days from app.tenant_limits l where l.tenant_id = p_tenant_id)
                as verified_within_days,
            i.lexical_weight > 0 and coalesce(cardinality(p_words), 0) > 0 as has_words
        from app.embedding_indexes i where i.name = p_index
    ), lexical as materialized (
        select l.chunk_id, l.bm25, l.matched, l.total
        from settings g,
            private.lexical_scores(p_tenant_id, p_words, p_lexemes, cardinality(p_ids)) l
        where g.has_words
    ), spread as materialized (
        -- z-scores over all chunks of the brand; a chunk without a word counts with a BM25 of 0
        select avg(u.similarity) as dense_mean, nullif(stddev_pop(u.similarity), 0) as dense_deviation,
            (select coalesce(sum(l.bm25), 0) from lexical l) / greatest(count(*), 1) as lexical_mean,
            nullif(sqrt(greatest(0, (select coalesce(sum(l.bm25 * l.bm25), 0) from lexical l)
                / greatest(count(*), 1)
                - power((select coalesce(sum(l.bm25), 0) from lexical l) / greatest(count(*), 1), 2))), 0)
                as lexical_deviation
        from settings g, unnest(p_similarities) u (similarity)
        where g.has_words
    ), ranked as (
        select r.chunk_id, r.similarity, r.similarity as score,
            r.similarity >= g.min_similarity as is_relevant,
            p_now - make_interval(days => g.verified_within_days) as fresh_since
        from settings g, (select unnest(p_ids), unnest(p_similarities)) r (chunk_id, similarity)
        where not g.has_words
        union all
        select r.chunk_id, r.similarity,
            g.dense_weight * coalesce((r.similarity - s.dense_mean) / s.dense_deviation, 0)
                + g.lexical_weight * case when l.bm25 is null then 0
                    else coalesce((l.bm25 - s.lexical_mean) / s.lexical_deviation, 0) end,
            coalesce(l.matched / (l.total + 6), 0) + 0.6 * g.dense_weight * (r.similarity - 0.55)
                >= g.threshold,
            p_now - make_interval(days => g.verified_within_days)
        from settings g
        cross join spread s
        cross join (select unnest(p_ids), unnest(p_similarities)) r (chunk_id, similarity)
        left join lexical l on l.chunk_id = r.chunk_id
        where g.has_words
        order by score desc, chunk_id
    )
    select r.chunk_id, c.source_id, c.source_type, c.title, c.url, c.heading_path, c.content,
        c.language, c.verified_at, c.is_pricing,
        c.is_pricing and (c.verified_at is null or c.verified_at < r.fresh_since),
        r.is_relevant, r.similarity, r.score
    from ranked r
    cross join lateral (
        -- visibility and validity come before the limit, and one by one: the limit in here keeps
        -- the planner from looking up all chunks of the brand in order to sort them afterwards
        select k.source_id, s.source_type, s.title, s.url, k.heading_path, k.content, k.language,
            k.verified_at, k.is_pricing
        from app.chunks k
        join app.sources s on s.tenant_id = k.tenant_id and s.id = k.source_id
        where k.tenant_id = p_tenant_id and k.id = r.chunk_id
            and (s.valid_from is null or s.valid_from <= p_now)
            and (s.valid_to is null or s.valid_to > p_now)
        limit 1
    ) c
    order by r.score desc, r.chunk_id
    limit least(greatest(p_limit, 1), 50);
end;
comment on function private.rank_chunks is
    'The best chunks that the caller may see, best first, with all that an answer needs of them.';
grant execute on function private.rank_chunks to authenticated, service_role;
