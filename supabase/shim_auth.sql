-- Plain Postgres only, after shim.sql: what the local Auth server asks of the database. It connects
-- as supabase_auth_admin, which owns the tables, so no function needs rights of its own. Hosted
-- Supabase has its own Auth server and never sees this file. A second run changes nothing.

create or replace function auth.local_create_user(p_email text, p_encrypted_password text)
returns uuid
language plpgsql
set search_path = ''
as $$
declare
    v_email text := lower(btrim(p_email));
    v_id uuid := gen_random_uuid();
begin
    if v_email !~ '^[^@[:space:]]+@[^@[:space:]]+$' or length(v_email) > 255 then
        raise exception using errcode = 'PT400', message = 'bad_request';
    end if;
    -- never let a password itself pass for its hash
    if p_encrypted_password !~ '^\$2[aby]\$[0-9]{2}\$.{53}$' then
        raise exception using errcode = 'PT400', message = 'bad_request';
    end if;
    insert into auth.users as u (
        id, aud, role, email, encrypted_password, email_confirmed_at, raw_app_meta_data,
        raw_user_meta_data, created_at, updated_at)
    values (
        v_id, 'authenticated', 'authenticated', v_email, p_encrypted_password, now(),
        '{"provider": "email", "providers": ["email"]}',
        jsonb_build_object(
            'email', v_email, 'email_verified', true, 'phone_verified', false, 'sub', v_id),
        now(), now())
    on conflict (email) do update
        set encrypted_password = excluded.encrypted_password, updated_at = now()
    returning u.id into v_id;
    return v_id;
end
$$;
comment on function auth.local_create_user(text, text) is
    'A confirmed user with a bcrypt hash; a known address gets the new password and keeps its id.';

create or replace function auth.local_find_user(p_email text) returns setof auth.users
language sql
stable
set search_path = ''
as $$
    select u.* from auth.users u where u.email = lower(p_email) and u.deleted_at is null
$$;
comment on function auth.local_find_user(text) is
    'The user with that address in any case, or no row.';

create or replace function auth.local_open_session(
    p_user_id uuid, p_session_id uuid, p_refresh_token text)
returns setof auth.users
language plpgsql
set search_path = ''
as $$
begin
    insert into auth.sessions (id, user_id, created_at, updated_at)
    values (p_session_id, p_user_id, now(), now());
    insert into auth.refresh_tokens (token, user_id, session_id, revoked, created_at, updated_at)
    values (p_refresh_token, p_user_id, p_session_id, false, now(), now());
    return query
        update auth.users u set last_sign_in_at = now(), updated_at = now()
        where u.id = p_user_id
        returning u.*;
end
$$;
comment on function auth.local_open_session(uuid, uuid, text) is
    'Begins a session with its first refresh token and returns the user.';

create or replace function auth.local_user(p_user_id uuid, p_session_id uuid)
returns setof auth.users
language sql
stable
set search_path = ''
as $$
    select u.*
    from auth.sessions s
    join auth.users u on u.id = s.user_id
    where s.id = p_session_id and s.user_id = p_user_id and u.deleted_at is null
$$;
comment on function auth.local_user(uuid, uuid) is
    'The user of a session that has not ended, or no row.';

create or replace function auth.local_update_user(
    p_user_id uuid, p_session_id uuid, p_metadata jsonb)
returns setof auth.users
language sql
set search_path = ''
as $$
    update auth.users u
    set updated_at = now(),
        raw_user_meta_data = (
            select coalesce(jsonb_object_agg(m.key, m.value), '{}')
            from jsonb_each(coalesce(u.raw_user_meta_data, '{}') || p_metadata) m
            where m.value <> 'null')
    where u.id in (select k.id from auth.local_user(p_user_id, p_session_id) k)
    returning u.*
$$;
comment on function auth.local_update_user(uuid, uuid, jsonb) is
    'Merges what the user says of himself; null takes a name away.';

create or replace function auth.local_refresh(p_refresh_token text, p_next_token text)
returns table (
    outcome text, user_id uuid, session_id uuid, signed_in_at timestamptz, refresh_token text)
language plpgsql
set search_path = ''
as $$
declare
    v_session auth.sessions;
    v_used auth.refresh_tokens;
    v_active auth.refresh_tokens;
begin
    -- the session row serialises all who refresh it; what is read after it is current
    select s.* into v_session
    from auth.sessions s
    where s.id = (select t.session_id from auth.refresh_tokens t where t.token = p_refresh_token)
    for update;
    if not found then
        outcome := 'not_found';
        return next;
        return;
    end if;
    if exists (
        select from auth.users u where u.id = v_session.user_id and u.banned_until > now()
    ) then
        outcome := 'banned';
        return next;
        return;
    end if;
    select t.* into v_used from auth.refresh_tokens t where t.token = p_refresh_token;
    select t.* into v_active from auth.refresh_tokens t
    where t.session_id = v_session.id and not t.revoked
    order by t.id desc limit 1;

    if v_used.revoked and v_active.parent = p_refresh_token then
        null; -- the client lost our last answer: it gets the same token again
    elsif v_used.revoked
        and (v_active.id is null or v_used.updated_at < now() - interval '10 seconds') then
        -- older than two tabs that refresh at once: somebody else has it, so the chain ends
        update auth.refresh_tokens t set revoked = true, updated_at = now()
        where t.session_id = v_session.id and not t.revoked;
        outcome := 'already_used';
        return next;
        return;
    else
        update auth.refresh_tokens t set revoked = true, updated_at = now()
        where t.id = v_used.id and not t.revoked;
        insert into auth.refresh_tokens (
            token, user_id, session_id, parent, revoked, created_at, updated_at)
        values (
            p_next_token, v_session.user_id, v_session.id, p_refresh_token, false, now(), now())
        returning * into v_active;
        update auth.sessions s set updated_at = now() where s.id = v_session.id;
    end if;
    outcome := 'issued';
    user_id := v_session.user_id;
    session_id := v_session.id;
    signed_in_at := v_session.created_at;
    refresh_token := v_active.token;
    return next;
end
$$;
comment on function auth.local_refresh(text, text) is
    'Swaps a refresh token for the next one: issued, or not_found, banned, already_used.';

create or replace function auth.local_close_session(
    p_user_id uuid, p_session_id uuid, p_scope text)
returns void
language sql
set search_path = ''
as $$
    delete from auth.sessions s
    where s.user_id = p_user_id
        and case p_scope
            when 'global' then true
            when 'local' then s.id = p_session_id
            when 'others' then s.id <> p_session_id
        end
$$;
comment on function auth.local_close_session(uuid, uuid, text) is
    'Ends all sessions of the user (global), this one (local) or the others, with their tokens.';

do $$
declare
    v_function regprocedure;
begin
    for v_function in
        select p.oid::regprocedure
        from pg_catalog.pg_proc p
        where p.pronamespace = 'auth'::regnamespace and p.proname like 'local\_%'
    loop
        execute format('alter function %s owner to supabase_auth_admin', v_function);
        execute format('revoke execute on function %s from public', v_function);
    end loop;
end
$$;
grant execute on function auth.local_create_user(text, text) to postgres;
