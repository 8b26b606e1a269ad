-- The first transaction of a question: may it be asked, and with what?
-- Takes the counters, writes the turn, and hands back all that the answer needs to know. A refusal
-- is a row too, so that a brand sees what its people could not ask.

create function private.begin_turn(
    p_tenant_id uuid, p_user_id uuid, p_question text, p_turn_id uuid, p_conversation_id uuid,
    p_language text, p_now timestamptz)
returns table (
    turn_id uuid, conversation_id uuid, refusal text, retry_after_seconds integer, brand text,
    language text, persona text, fallback text, history jsonb, indexes text[], models text[],
    verified_within_days integer)
language plpgsql security definer
set search_path = ''
as $$
declare
    v_limits record;
    v_tomorrow timestamptz;
begin
    select t.name, t.language, t.time_zone, (p_now at time zone t.time_zone)::date as today, l.*
    into strict v_limits
    from app.tenants t join app.tenant_limits l on l.tenant_id = t.id
    where t.id = p_tenant_id;
    turn_id := coalesce(p_turn_id, gen_random_uuid());
    conversation_id := coalesce(p_conversation_id, turn_id);
    -- what a process left open when it died; no turn takes that long
    update app.turns t set status = 'failed', finished_at = p_now
    where t.tenant_id = p_tenant_id and t.user_id = p_user_id and t.status = 'running'
        and t.created_at < p_now - interval '5 minutes';

    v_tomorrow := (v_limits.today + 1)::timestamp at time zone v_limits.time_zone;
    case
        when p_question = '' then
            refusal := 'question_empty';
        when length(p_question) > v_limits.question_characters then
            refusal := 'question_too_long';
        when private.take_user_turn(p_user_id, v_limits.turns_per_minute, p_now) is null then
            refusal := 'rate_limited';
            retry_after_seconds := ceil(60 - extract(second from p_now));
        when private.take_tenant_turn(p_tenant_id, v_limits.turns_per_day, v_limits.today) is null then
            refusal := 'tenant_cap_reached';
            retry_after_seconds := ceil(extract(epoch from v_tomorrow - p_now));
        when private.take_global_turn(p_now) is null then
            refusal := 'global_cap_reached';
            retry_after_seconds := ceil(extract(epoch from
                (date_trunc('day', p_now at time zone 'UTC') + interval '1 day') at time zone 'UTC' - p_now));
            -- the brand gets back what it could not use
            update private.tenant_days d set turns = d.turns - 1
            where d.tenant_id = p_tenant_id and d.day = v_limits.today;
        else
    end case;

    insert into app.turns as t (tenant_id, id, conversation_id, user_id, status, refusal, question,
        created_at, finished_at)
    values (p_tenant_id, begin_turn.turn_id, begin_turn.conversation_id, p_user_id,
        case when begin_turn.refusal is null then 'running' else 'refused' end, begin_turn.refusal,
        left(p_question, v_limits.question_characters), p_now,
        case when begin_turn.refusal is not null then p_now end)
    on conflict do nothing;
    -- told by the insert itself, since the same request may come twice at once
    if not found then
        raise exception using errcode = 'PT409', message = 'turn_id_used';
    end if;

    brand := v_limits.name;
    verified_within_days := v_limits.verified_within_days;
    select p.language, p.persona, p.fallback into begin_turn.language, begin_turn.persona, begin_turn.fallback
    from app.personas p
    where p.tenant_id = p_tenant_id
    -- the language of the question, else the one that the client prefers, else that of the brand
    order by p.language = private.question_language(p_question, p_tenant_id) desc nulls last,
        p.language = p_language desc nulls last, p.language = v_limits.language desc, p.language
    limit 1;
    history := private.conversation(p_tenant_id, p_user_id, begin_turn.conversation_id);
    indexes := private.usable_indexes(p_tenant_id, p_now);
    models := array(select private.open_models('generate', p_now));
    return next;
end
$$;
comment on function private.begin_turn is 'See api.begin_turn.';
grant execute on function private.begin_turn to authenticated;

create function private.question_language(p_question text, p_tenant_id uuid) returns text
language sql stable
set search_path = ''
begin atomic
    with words as (
        select p.language, (
            select coalesce(sum(cardinality(v.positions)), 0)
            from unnest(to_tsvector('pg_catalog.simple', p_question)) v
        ) - (
            select coalesce(sum(cardinality(v.positions)), 0)
            from unnest(to_tsvector(private.text_search_config(p.language), p_question)) v
        ) as small
        from app.personas p where p.tenant_id = p_tenant_id
    )
    select case when count(*) = 1 then min(w.language) end
    from words w
    where w.small > 0 and w.small = (select max(o.small) from words o);
end;
comment on function private.question_language is
    'The language of the brand with the most small words (stop words) in the question, if one leads.';

create function private.conversation(p_tenant_id uuid, p_user_id uuid, p_conversation_id uuid) returns jsonb
language sql stable
set search_path = ''
begin atomic
    select coalesce(jsonb_agg(jsonb_build_object('question', t.question, 'answer', t.answer)
        order by t.created_at), '[]')
    from (
        select t.question, t.answer, t.created_at
        from app.turns t
        where t.tenant_id = p_tenant_id and t.user_id = p_user_id
            and t.conversation_id = p_conversation_id and t.status = 'answered'
        order by t.created_at desc
        limit 10
    ) t;
end;
comment on function private.conversation is
    'The last ten answered turns of the user''s own conversation.';

create function private.usable_indexes(p_tenant_id uuid, p_now timestamptz) returns text[]
language sql stable
set search_path = ''
begin atomic
    select coalesce(array_agg(i.name order by array_position('{primary,fallback,local}', i.name)), '{}')
    from app.embedding_indexes i
    where case i.name
            when 'primary' then
                exists (select from app.chunk_embeddings_primary e where e.tenant_id = p_tenant_id)
            when 'fallback' then
                exists (select from app.chunk_embeddings_fallback e where e.tenant_id = p_tenant_id)
            else exists (select from app.chunk_embeddings_local e where e.tenant_id = p_tenant_id) end
        -- a model without a row has no quota: it runs on this machine
        and (i.model not in (select m.name from app.models m)
            or i.model in (select private.open_models('embed', p_now)));
end;
comment on function private.usable_indexes is
    'The indexes that hold a vector of the brand and whose model may be called now, best first.';

create function api.begin_turn(
    p_question text, p_turn_id uuid default null, p_conversation_id uuid default null,
    p_language text default null)
returns table (
    turn_id uuid, conversation_id uuid, refusal text, retry_after_seconds integer, brand text,
    language text, persona text, fallback text, history jsonb, indexes text[], models text[],
    verified_within_days integer)
language sql
set search_path = ''
begin atomic
    select b.*
    from private.begin_turn(private.required_tenant_id(), private.user_id(), p_question, p_turn_id,
        p_conversation_id, p_language, now()) b;
end;
comment on function api.begin_turn is
    'Opens a turn of the signed-in user. refusal is NULL, or the code of the limit that stands in the way.';
grant execute on function api.begin_turn to authenticated;
