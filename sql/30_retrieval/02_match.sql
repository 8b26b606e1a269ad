-- One exact search per index: a vector meets only vectors of its own model.
-- Exact: every chunk of the brand is compared, so a small brand beside a big one loses nothing.

create function private.embedding_index(
    p_name text, p_model text, p_embedding extensions.vector)
returns app.embedding_indexes
language plpgsql stable
set search_path = ''
as $$
declare
    v_index app.embedding_indexes;
begin
    select i.* into v_index
    from app.embedding_indexes i where i.name = p_name and i.model = p_model;
    -- dimensions are compared here too, since an empty table would compare nothing
    if not found or extensions.vector_dims(p_embedding) <> v_index.dimensions then
        raise exception using errcode = 'PT422', message = 'model_mismatch';
    end if;
    -- the cosine of a zero vector is NaN, and NaN passes every threshold
    if coalesce(extensions.vector_norm(p_embedding), 0) = 0 then
        raise exception using errcode = 'PT400', message = 'bad_request',
            detail = 'the vector has no direction';
    end if;
    return v_index;
end
$$;
comment on function private.embedding_index is
    'The row of an index. A vector without direction, or not of the model and dimensions of the index, '
    'ends the call.';
grant execute on function private.embedding_index to authenticated, service_role;

create function private.similarities(
    p_tenant_id uuid, p_index text, p_embedding extensions.vector,
    out ids uuid[], out similarities double precision[])
language plpgsql stable
set search_path = ''
set plan_cache_mode = force_generic_plan -- or a small brand is planned anew each time
as $$
begin
    if p_index = 'primary' then
        select array_agg(e.chunk_id),
            array_agg(1 - (e.embedding operator(extensions.<=>) p_embedding))
        into ids, similarities
        from app.chunk_embeddings_primary e
        where e.tenant_id = p_tenant_id;
    elsif p_index = 'fallback' then
        select array_agg(e.chunk_id),
            array_agg(1 - (e.embedding operator(extensions.<=>) p_embedding))
        into ids, similarities
        from app.chunk_embeddings_fallback e
        where e.tenant_id = p_tenant_id;
    elsif p_index = 'local' then
        select array_agg(e.chunk_id),
            array_agg(1 - (e.embedding operator(extensions.<=>) p_embedding))
        into ids, similarities
        from app.chunk_embeddings_local e
        where e.tenant_id = p_tenant_id;
    end if;
end
$$;
comment on function private.similarities is
    'The cosine of every chunk of the brand in an index.';
grant execute on function private.similarities to authenticated, service_role;

create function api.match_chunks_primary(
    p_embedding extensions.vector, p_model text, p_question text default '',
    p_limit integer default 6, p_dense_weight double precision default null)
returns setof api.match
language sql stable rows 6
set search_path = ''
begin atomic
    select r.*
    from private.required_tenant_id() t (id)
    cross join private.embedding_index('primary', p_model, p_embedding) i
    cross join private.similarities(t.id, i.name, p_embedding) s
    left join private.question_terms(t.id, nullif(p_question, '')) q on true
    left join private.lexical_scores(t.id, q.words, q.lexemes, cardinality(s.ids)) l on true
    cross join private.rank_chunks(t.id, i, s.ids, s.similarities, l.ids, l.bm25, l.matched,
        p_dense_weight, p_limit, now()) r;
end;
comment on function api.match_chunks_primary is
    'The chunks of the caller''s brand that are closest to a question of the primary index''s model. '
    'Without p_question: by cosine alone.';
grant execute on function api.match_chunks_primary to authenticated, service_role;

create function api.match_chunks_fallback(
    p_embedding extensions.vector, p_model text, p_question text default '',
    p_limit integer default 6, p_dense_weight double precision default null)
returns setof api.match
language sql stable rows 6
set search_path = ''
begin atomic
    select r.*
    from private.required_tenant_id() t (id)
    cross join private.embedding_index('fallback', p_model, p_embedding) i
    cross join private.similarities(t.id, i.name, p_embedding) s
    left join private.question_terms(t.id, nullif(p_question, '')) q on true
    left join private.lexical_scores(t.id, q.words, q.lexemes, cardinality(s.ids)) l on true
    cross join private.rank_chunks(t.id, i, s.ids, s.similarities, l.ids, l.bm25, l.matched,
        p_dense_weight, p_limit, now()) r;
end;
comment on function api.match_chunks_fallback is
    'The chunks of the caller''s brand that are closest to a question of the fallback index''s model. '
    'Without p_question: by cosine alone.';
grant execute on function api.match_chunks_fallback to authenticated, service_role;

create function api.match_chunks_local(
    p_embedding extensions.vector, p_model text, p_question text default '',
    p_limit integer default 6, p_dense_weight double precision default null)
returns setof api.match
language sql stable rows 6
set search_path = ''
begin atomic
    select r.*
    from private.required_tenant_id() t (id)
    cross join private.embedding_index('local', p_model, p_embedding) i
    cross join private.similarities(t.id, i.name, p_embedding) s
    left join private.question_terms(t.id, nullif(p_question, '')) q on true
    left join private.lexical_scores(t.id, q.words, q.lexemes, cardinality(s.ids)) l on true
    cross join private.rank_chunks(t.id, i, s.ids, s.similarities, l.ids, l.bm25, l.matched,
        p_dense_weight, p_limit, now()) r;
end;
comment on function api.match_chunks_local is
    'The chunks of the caller''s brand that are closest to a question of the local index''s model. '
    'Without p_question: by cosine alone.';
grant execute on function api.match_chunks_local to authenticated, service_role;
