-- How chunks are ranked and when they answer: shared by all indexes.
--
-- Order:    dense_weight * z(cosine) + lexical_weight * z(BM25), z being the standard score over
--           all chunks of the brand (0 for a chunk without a word of the question).
-- Evidence: M / (T + 6) + 0.6 * dense_weight * (cosine - 0.55), where T is the idf mass of the
--           question and M what the chunk matches of it; a word that the brand never uses counts
--           in T, so a question about a product of somebody else finds no answer here.
-- BM25 has k1 = 1.2 and b = 0: the chunks of a profile are about equally long.
-- Cost: one pass over the vectors of the brand, one btree scan for each word.

create type api.match as (
    chunk_id uuid,
    source_id uuid,
    source_type text,
    source_title text,
    source_url text,
    heading_path text,
    content text,
    language text,
    verified_at timestamptz,
    is_pricing boolean,
    is_stale boolean,
    is_relevant boolean,
    similarity double precision,
    score double precision
);
comment on type api.match is 'A chunk that a search found, with all that an answer needs of it.';
comment on column api.match.is_stale is
    'A price that nobody verified within the days that the brand allows.';
comment on column api.match.is_relevant is 'Whether it has the evidence to answer the question.';
comment on column api.match.similarity is 'The cosine; NULL when it has words and no vector yet.';

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
returns table (ids uuid[], bm25 double precision[], matched double precision[])
language plpgsql stable strict rows 1
set search_path = ''
set plan_cache_mode = force_generic_plan -- or it is planned anew for the words of each question
as $$
begin
    if cardinality(p_words) > 0 then
        return query
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
            select s.word,
                ln(1 + (greatest(p_chunks, s.chunks) - s.chunks + 0.5) / (s.chunks + 0.5)) as value
            from spread s
        ), scores as (
            select h.chunk_id, sum(i.value * h.frequency * 2.2 / (h.frequency + 1.2)) as bm25,
                sum(i.value) / ((select sum(a.value) from idf a) + 6) as matched
            from hits h
            join idf i on i.word = h.word
            group by h.chunk_id
        )
        select coalesce(array_agg(s.chunk_id), '{}'), array_agg(s.bm25), array_agg(s.matched)
        from scores s;
    end if;
end
$$;
comment on function private.lexical_scores is
    'Of the chunks that hold a word of the question: BM25, and M / (T + 6). No row without words.';
grant execute on function private.lexical_scores to authenticated, service_role;

create function private.rank_chunks(
    p_tenant_id uuid, p_index app.embedding_indexes,
    p_ids uuid[], p_similarities double precision[],
    p_hits uuid[], p_bm25 double precision[], p_matched double precision[],
    p_dense_weight double precision, p_limit integer, p_now timestamptz)
returns setof api.match
language plpgsql stable rows 6
set search_path = ''
as $$
declare
    -- without words the cosine is both the score and the evidence
    v_ids uuid[] := p_ids;
    v_scores double precision[] := p_similarities;
    v_dense_weight double precision;
    v_skip integer;
    v_wanted integer := least(greatest(p_limit, 1), 50);
    v_found integer;
begin
    if p_index.lexical_weight > 0 and p_hits is not null then
        v_dense_weight := least(greatest(coalesce(p_dense_weight, p_index.dense_weight), 0.25), 2);
        with raw as materialized (
            -- full: the planner takes arrays for short, and a full join is hashed all the same; a
            -- chunk may have words and no vector yet
            select d.chunk_id, d.similarity, coalesce(h.bm25, 0) as bm25,
                h.chunk_id is not null as is_hit
            from (select unnest(p_ids), unnest(p_similarities)) d (chunk_id, similarity)
            full join (select unnest(p_hits), unnest(p_bm25)) h (chunk_id, bm25)
                on h.chunk_id = d.chunk_id
        ), spread as (
            select avg(r.similarity) as dense_mean,
                nullif(stddev_pop(r.similarity), 0) as dense_deviation,
                avg(r.bm25) as lexical_mean, nullif(stddev_pop(r.bm25), 0) as lexical_deviation
            from raw r where r.chunk_id is not null
        )
        select array_agg(r.chunk_id),
            array_agg(
                v_dense_weight * coalesce((r.similarity - s.dense_mean) / s.dense_deviation, 0)
                + case when r.is_hit then p_index.lexical_weight
                    * coalesce((r.bm25 - s.lexical_mean) / s.lexical_deviation, 0) else 0 end)
        into v_ids, v_scores
        from raw r, spread s where r.chunk_id is not null;
    end if;

    -- the best 64 first, and all others only if too few of those may be seen: finding 64 costs much
    -- less than sorting thousands
    foreach v_skip in array '{0,64}'::integer[] loop
        return query
        select r.chunk_id, c.source_id, c.source_type, c.title, c.url, c.heading_path, c.content,
            c.language, c.verified_at, c.is_pricing,
            c.is_pricing and (c.verified_at is null or c.verified_at < (
                select p_now - make_interval(days => l.verified_within_days)
                from app.tenant_limits l where l.tenant_id = p_tenant_id)),
            case when v_dense_weight is null then c.similarity >= p_index.min_similarity
                else coalesce(p_matched[array_position(p_hits, r.chunk_id)], 0)
                    + 0.6 * v_dense_weight * (c.similarity - 0.55) >= p_index.threshold end,
            c.similarity, r.score
        from (
            select unnest(v_ids), unnest(v_scores)
            order by 2 desc, 1
            offset v_skip limit case v_skip when 0 then 64 end
        ) r (chunk_id, score)
        cross join lateral (
            -- visibility and validity come before the limit, and one by one: the limit in here
            -- keeps the planner from looking up all chunks of the brand, to sort them afterwards
            select k.source_id, s.source_type, s.title, s.url, k.heading_path, k.content,
                k.language, k.verified_at, k.is_pricing,
                case when v_dense_weight is null then r.score
                    else p_similarities[array_position(p_ids, r.chunk_id)] end as similarity
            from app.chunks k
            join app.sources s on s.tenant_id = k.tenant_id and s.id = k.source_id
            where k.tenant_id = p_tenant_id and k.id = r.chunk_id
                and (s.valid_from is null or s.valid_from <= p_now)
                and (s.valid_to is null or s.valid_to > p_now)
            limit 1
        ) c
        order by r.score desc, r.chunk_id
        limit v_wanted;
        get diagnostics v_found = row_count;
        v_wanted := v_wanted - v_found;
        exit when v_wanted = 0 or cardinality(v_ids) <= 64;
    end loop;
end
$$;
comment on function private.rank_chunks is
    'The best chunks that the caller may see, best first, with all that an answer needs of them.';
grant execute on function private.rank_chunks to authenticated, service_role;
