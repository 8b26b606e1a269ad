-- Review: prices that nobody has verified within the brand's interval, and the act of verifying.

create function private.stale_chunks(p_tenant_id uuid, p_limit integer, p_now timestamptz)
returns table (
    chunk_id uuid, source_id uuid, source_title text, source_key text, source_url text,
    heading_path text, content text, verified_at timestamptz)
language plpgsql stable rows 100
set search_path = ''
as $$
declare
    -- a value: row-level security keeps an index from conditions that might leak what they see, such
    -- as make_interval of a column
    v_before timestamptz := p_now - make_interval(days => (
        select l.verified_within_days from app.tenant_limits l where l.tenant_id = p_tenant_id));
begin
    return query
    select c.id, s.id, s.title, s.source_key, s.url, c.heading_path, c.content, c.verified_at
    from app.chunks c
    join app.sources s on s.tenant_id = c.tenant_id and s.id = c.source_id
    where c.tenant_id = p_tenant_id and c.is_pricing
        and (c.verified_at is null or c.verified_at < v_before)
    order by c.verified_at nulls first, c.id
    limit least(greatest(p_limit, 1), 500);
end
$$;
comment on function private.stale_chunks is 'See api.stale_chunks.';
grant execute on function private.stale_chunks to authenticated, service_role;

create function api.stale_chunks(p_limit integer default 100)
returns table (
    chunk_id uuid, source_id uuid, source_title text, source_key text, source_url text,
    heading_path text, content text, verified_at timestamptz)
language sql stable
set search_path = ''
begin atomic
    select s.* from private.stale_chunks(private.required_admin_tenant_id(), p_limit, now()) s;
end;
comment on function api.stale_chunks is
    'Prices of the brand that nobody verified within its interval (90 days unless set), oldest first.';
grant execute on function api.stale_chunks to authenticated, service_role;

create function private.verify_chunk(p_tenant_id uuid, p_user_id uuid, p_chunk_id uuid, p_now timestamptz)
returns table (chunk_id uuid, verified_at timestamptz)
language plpgsql
set search_path = ''
as $$
begin
    -- of two people at once the later stays, though its row may have been written first
    return query
    update app.chunks c
    set verified_by = case when c.verified_at > p_now then c.verified_by else p_user_id end,
        verified_at = greatest(c.verified_at, p_now)
    where c.tenant_id = p_tenant_id and c.id = p_chunk_id
    returning c.id, c.verified_at;
    if not found then
        raise exception using errcode = 'PT404', message = 'not_found';
    end if;
end
$$;
comment on function private.verify_chunk is 'See api.verify_chunk.';
grant execute on function private.verify_chunk to authenticated, service_role;

create function api.verify_chunk(p_chunk_id uuid)
returns table (chunk_id uuid, verified_at timestamptz)
language sql
set search_path = ''
begin atomic
    select v.chunk_id, v.verified_at
    from private.verify_chunk(
        private.required_admin_tenant_id(), private.user_id(), p_chunk_id, now()) v;
end;
comment on function api.verify_chunk is 'Says, today and by name, that the chunk is true.';
grant execute on function api.verify_chunk to authenticated, service_role;
