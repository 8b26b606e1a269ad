-- The first transaction of a question: may it be asked, and with what?
-- Takes the counters, writes the turn, and hands back all that the answer needs to know. A refusal
-- is a row too, so that a brand sees what its people could not ask. The same turn may come again: it
-- is answered once, and begun anew only when it was refused, failed or aborted.

create function private.open_turn(
    p_tenant_id uuid, p_user_id uuid, p_turn_id uuid, p_conversation_id uuid, p_question text,
    p_now timestamptz, out state text, out run integer)
language plpgsql
set search_path = ''
as $$
declare
    v_turn app.turns;
begin
    -- told by the insert itself, since the same request may come twice at once
    insert into app.turns (tenant_id, id, conversation_id, user_id, status, question, created_at)
    values (p_tenant_id, p_turn_id, p_conversation_id, p_user_id, 'running', p_question, p_now)
    on conflict do nothing;
    if found then
        state := 'begun';
        run := 1;
        return;
    end if;
    select t.* into v_turn from app.turns t
    where t.tenant_id = p_tenant_id and t.id = p_turn_id for update;
    if v_turn.user_id is distinct from p_user_id or v_turn.question <> p_question then
        perform private.refuse(409, 'turn_id_used');
    end if;
    state := case
        when v_turn.status = 'running' then 'running'
        when v_turn.status in ('answered', 'held', 'no_match') then 'finished'
        else 'begun' end;
    run := v_turn.run;
    if state = 'begun' then
        run := run + 1;
        update app.turns t
        set status = 'running', refusal = null, run = open_turn.run, answer = null, attempts = '[]',
            created_at = p_now, finished_at = null
        where t.tenant_id = p_tenant_id and t.id = p_turn_id;
    end if;
end
$$;
comment on function private.open_turn is
    'begun: the caller answers it. running: another request does. finished: the answer is there.';

create function private.begin_turn(
    p_tenant_id uuid, p_user_id uuid, p_question text, p_turn_id uuid, p_conversation_id uuid,
    p_language text, p_pools text[], p_now timestamptz)
returns table (
    turn_id uuid, run integer, state text, conversation_id uuid, refusal text,
    retry_after_seconds integer, brand text, language text, persona text, fallback text,
    history jsonb, pool text, indexes text[], models text[], verified_within_days integer,
    has_documents boolean)
language plpgsql security definer
set search_path = ''
as $$
declare
    v_limits record;
begin
    perform private.require_functions();
    select t.name, t.language, t.quota_pool, l.question_characters, l.verified_within_days
    into strict v_limits
    from app.tenants t join app.tenant_limits l on l.tenant_id = t.id where t.id = p_tenant_id;
    turn_id := coalesce(p_turn_id, gen_random_uuid());
    conversation_id := coalesce(p_conversation_id, turn_id);
    select o.state, o.run into begin_turn.state, begin_turn.run
    from private.open_turn(p_tenant_id, p_user_id, begin_turn.turn_id, begin_turn.conversation_id,
        left(p_question, v_limits.question_characters), p_now) o;
    if state = 'begun' then
        if p_question = '' then
            refusal := 'question_empty';
        elsif length(p_question) > v_limits.question_characters then
            refusal := 'question_too_long';
        else
            select r.refusal, r.retry_after_seconds
            into begin_turn.refusal, begin_turn.retry_after_seconds
            from private.reserve_turn(p_tenant_id, p_user_id, begin_turn.turn_id, begin_turn.run, p_now) r;
        end if;
    end if;
    if refusal is not null then
        state := 'refused';
        update app.turns t set status = 'refused', refusal = begin_turn.refusal, finished_at = p_now
        where t.tenant_id = p_tenant_id and t.id = begin_turn.turn_id;
    elsif state = 'begun' then
        brand := v_limits.name;
        verified_within_days := v_limits.verified_within_days;
        has_documents := exists (select from app.chunks c where c.tenant_id = p_tenant_id);
        select p.language, p.persona, p.fallback
        into begin_turn.language, begin_turn.persona, begin_turn.fallback
        from app.personas p
        where p.tenant_id = p_tenant_id
        -- the language of the question, else the one that the client prefers, else that of the brand
        order by p.language = private.question_language(p_question, p_tenant_id) desc nulls last,
            p.language = p_language desc nulls last, p.language = v_limits.language desc, p.language
        limit 1;
        history := private.conversation(p_tenant_id, p_user_id, begin_turn.conversation_id);
        -- a pool for which the caller has no key has no models
        pool := (select v_limits.quota_pool where v_limits.quota_pool = any (p_pools));
        select f.indexes, f.models into begin_turn.indexes, begin_turn.models
        from private.reserve_first_calls(p_tenant_id, begin_turn.turn_id, begin_turn.run,
            begin_turn.pool, p_now) f;
    end if;
    perform private.return_expired(p_now);
    perform private.abandon_reindexes(null, null, p_now);
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

create function private.usable_indexes(p_tenant_id uuid, p_pool text, p_now timestamptz)
returns text[]
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
            or i.model in (select private.open_models(p_pool, 'embed', p_now)));
end;
comment on function private.usable_indexes is
    'The indexes that hold a vector of the brand and whose model may be called now, best first.';

create function api.begin_turn(
    p_question text, p_turn_id uuid default null, p_conversation_id uuid default null,
    p_language text default null, p_pools text[] default '{}')
returns table (
    turn_id uuid, run integer, state text, conversation_id uuid, refusal text,
    retry_after_seconds integer, brand text, language text, persona text, fallback text,
    history jsonb, pool text, indexes text[], models text[], verified_within_days integer,
    has_documents boolean)
language sql
set search_path = ''
begin atomic
    select b.*
    from private.begin_turn(private.required_tenant_id(), private.user_id(), p_question, p_turn_id,
        p_conversation_id, p_language, p_pools, now()) b;
end;
comment on function api.begin_turn is
    'Opens a turn of the signed-in user. state: begun, refused (then refusal is the code of the limit), '
    'or running and finished when the same turn was asked before. p_pools: the quota pools for which '
    'the caller has a key. One call each of the first index''s and the first generation model is reserved.';
grant execute on function api.begin_turn to authenticated;
