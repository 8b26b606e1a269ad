-- The last transaction of a question: what became of it, what was used, what it cost.

create function private.is_charged(p_status text, p_attempts jsonb) returns boolean
language sql stable
set search_path = ''
begin atomic
    -- a reader who leaves pays, or reading and leaving would be free; so does a question that the
    -- models or our guards refused
    select p_status = 'aborted' or p_status in ('answered', 'held', 'no_match') and (
        count(*) = 0
        or bool_or(a.outcome in ('ok', 'max_tokens', 'blocked_prompt', 'safety', 'guard')))
    from jsonb_to_recordset(p_attempts) a (model text, outcome text)
    join app.models m on m.name = a.model and m.task = 'generate';
end;
comment on function private.is_charged is
    'Whether a turn that ended so costs one: not when it failed, nor when all models failed.';

create function private.finish_turn(
    p_tenant_id uuid, p_user_id uuid, p_turn_id uuid, p_run integer, p_status text, p_answer text,
    p_language text, p_as_of date, p_index text, p_model text, p_attempts jsonb,
    p_milliseconds jsonb, p_chunk_ids uuid[], p_similarities double precision[], p_now timestamptz)
returns boolean
language plpgsql security definer
set search_path = ''
as $$
begin
    perform private.require_functions();
    update app.turns t
    set status = p_status, answer = p_answer, language = p_language, as_of = p_as_of,
        index_name = p_index, model = p_model, attempts = p_attempts,
        milliseconds = p_milliseconds, finished_at = p_now
    where t.tenant_id = p_tenant_id and t.user_id = p_user_id and t.id = p_turn_id
        -- a run whose lease ended may be followed by another: that one is not its own any more
        and t.run = p_run and t.status = 'running';
    if not found then
        perform private.refuse(404, 'not_found');
    end if;
    -- only chunks of this brand can be noted: the join leaves all others out
    insert into app.turn_sources (tenant_id, turn_id, place, chunk_id, source_id, content_hash,
        source_type, title, url, heading_path, verified_at, similarity)
    select p_tenant_id, p_turn_id, u.place - 1, k.id, k.source_id, c.content_hash, s.source_type,
        s.title, s.url, c.heading_path, c.verified_at, u.similarity
    from unnest(p_chunk_ids, p_similarities) with ordinality u (chunk_id, similarity, place)
    join app.chunks c on c.tenant_id = p_tenant_id and c.id = u.chunk_id
    join app.sources s on s.tenant_id = c.tenant_id and s.id = c.source_id
    -- what a reindex is about to delete is noted as if it were gone: to refer to it would fail, and
    -- to wait for it could be to wait for each other
    left join lateral (
        select l.id, l.source_id
        from app.chunks l join app.sources o on o.tenant_id = l.tenant_id and o.id = l.source_id
        where l.tenant_id = c.tenant_id and l.id = c.id
        for key share skip locked
    ) k on true;

    if private.is_charged(p_status, p_attempts) then
        update private.turn_reservations r set state = 'settled', closed_at = p_now
        where r.tenant_id = p_tenant_id and r.turn_id = p_turn_id and r.run = p_run;
    else
        perform private.refund_turn(p_tenant_id, p_turn_id, p_run, p_now);
    end if;
    perform private.close_calls(p_tenant_id, p_turn_id, p_run, p_attempts, p_now);
    return true;
end
$$;
comment on function private.finish_turn is 'See api.finish_turn.';
grant execute on function private.finish_turn to authenticated;

create function api.finish_turn(
    p_turn_id uuid, p_run integer, p_status text, p_answer text, p_language text, p_as_of date,
    p_index text, p_model text, p_attempts jsonb, p_milliseconds jsonb, p_chunk_ids uuid[],
    p_similarities double precision[])
returns boolean
language sql
set search_path = ''
begin atomic
    select private.finish_turn(private.required_tenant_id(), private.user_id(), p_turn_id, p_run,
        p_status, p_answer, p_language, p_as_of, p_index, p_model, p_attempts, p_milliseconds,
        p_chunk_ids, p_similarities, now());
end;
comment on function api.finish_turn is
    'Closes a running turn of the signed-in user with its answer, the chunks used and the model '
    'calls, and settles or refunds what was reserved for it.';
grant execute on function api.finish_turn to authenticated;
