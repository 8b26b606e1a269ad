-- The last transaction of a question: what became of it, what was used, what it cost.

create function private.finish_turn(
    p_tenant_id uuid, p_user_id uuid, p_turn_id uuid, p_status text, p_answer text, p_index text,
    p_model text, p_attempts jsonb, p_milliseconds jsonb, p_chunk_ids uuid[],
    p_similarities double precision[], p_now timestamptz)
returns boolean
language plpgsql security definer
set search_path = ''
as $$
begin
    update app.turns t
    set status = p_status, answer = p_answer, index_name = p_index, model = p_model,
        attempts = p_attempts, milliseconds = p_milliseconds, finished_at = p_now
    where t.tenant_id = p_tenant_id and t.user_id = p_user_id and t.id = p_turn_id
        and t.status = 'running';
    if not found then
        raise exception using errcode = 'PT404', message = 'not_found';
    end if;
    -- only chunks of this brand can be noted: the join leaves all others out
    insert into app.turn_sources
        (tenant_id, turn_id, place, chunk_id, source_id, content_hash, verified_at, similarity)
    select p_tenant_id, p_turn_id, u.place - 1, c.id, c.source_id, c.content_hash, c.verified_at, u.similarity
    from unnest(p_chunk_ids, p_similarities) with ordinality u (chunk_id, similarity, place)
    join app.chunks c on c.tenant_id = p_tenant_id and c.id = u.chunk_id;
    perform private.count_call(a.model, a.outcome, a.wait_seconds, p_now)
    from jsonb_to_recordset(p_attempts) a (model text, outcome text, wait_seconds integer)
    -- over PostgREST a signed-in user calls this too, and must not close a model for everybody
    where session_user <> 'authenticator'
    order by a.model;
    return true;
end
$$;
comment on function private.finish_turn is 'See api.finish_turn.';
grant execute on function private.finish_turn to authenticated;

create function api.finish_turn(
    p_turn_id uuid, p_status text, p_answer text, p_index text, p_model text, p_attempts jsonb,
    p_milliseconds jsonb, p_chunk_ids uuid[], p_similarities double precision[])
returns boolean
language sql
set search_path = ''
begin atomic
    select private.finish_turn(private.required_tenant_id(), private.user_id(), p_turn_id, p_status,
        p_answer, p_index, p_model, p_attempts, p_milliseconds, p_chunk_ids, p_similarities, now());
end;
comment on function api.finish_turn is
    'Closes a running turn of the signed-in user with its answer, the chunks used and the model calls.';
grant execute on function api.finish_turn to authenticated;
