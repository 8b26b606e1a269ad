-- A turn once more: for a reader who lost the answer on the way.

create function private.stored_turn(p_tenant_id uuid, p_user_id uuid, p_turn_id uuid)
returns table (
    status text, answer text, language text, as_of date, index_name text, model text,
    milliseconds jsonb, sources jsonb)
language plpgsql stable
set search_path = ''
as $$
begin
    return query
    select t.status, t.answer, t.language, t.as_of, t.index_name, t.model, t.milliseconds, (
        select coalesce(jsonb_agg(jsonb_build_object(
            'source_id', s.source_id, 'type', s.source_type, 'title', s.title, 'url', s.url,
            'heading', s.heading_path, 'verified_at', s.verified_at) order by s.place), '[]')
        from app.turn_sources s where s.tenant_id = t.tenant_id and s.turn_id = t.id)
    from app.turns t
    where t.tenant_id = p_tenant_id and t.id = p_turn_id and t.user_id = p_user_id;
    if not found then
        raise exception using errcode = 'PT404', message = 'not_found';
    end if;
end
$$;
comment on function private.stored_turn is 'See api.stored_turn.';
grant execute on function private.stored_turn to authenticated;

create function api.stored_turn(p_turn_id uuid)
returns table (
    status text, answer text, language text, as_of date, index_name text, model text,
    milliseconds jsonb, sources jsonb)
language sql stable
set search_path = ''
begin atomic
    select s.* from private.stored_turn(private.required_tenant_id(), private.user_id(), p_turn_id) s;
end;
comment on function api.stored_turn is
    'A turn of the signed-in user as it ended, with the sources that were shown; running: not yet.';
grant execute on function api.stored_turn to authenticated;
