-- Who may execute what: the whole list. A new function belongs here before it belongs to anybody.
begin;
select plan(3);

create temporary table expected (who text, schema text, names text[]);
insert into expected values
    -- a turn has a user: the service asks nothing
    ('authenticated', 'api', '{
        begin_turn, check_login, finish_turn, reserve_call, stored_turn}'),
    -- the other doors
    ('authenticated,service_role', 'api', '{
        add_member, add_platform_admin, apply_reindex, embedding_quota, fail_source,
        finish_reindex, get_reindex, index_coverage, list_tenants, match_chunks_fallback,
        match_chunks_local, match_chunks_primary, plan_reindex, preview_listing,
        preview_source, put_embeddings, register_tenant, renew_reindex, stale_chunks, start_reindex, take_reindex_call,
        verify_chunk}'),
    -- what those doors call; there is no USAGE on private, so nobody names it
    ('authenticated', 'private', '{
        begin_turn, finish_turn, reserve_call, stored_turn}'),
    ('authenticated,service_role', 'private', '{
        abandon_reindexes, add_member, add_platform_admin, chunk_hash, claim_source, claims,
        diff_source, embedding_index, embedding_quota, fail_source, finish_reindex, index_chunk_ids, index_coverage, is_admin,
        is_service, is_superseded, lexical_scores, list_tenants, lock_source, lock_sources,
        plan_reindex, put_embeddings, question_terms, rank_chunks, register_tenant,
        reindex_summary, removal, removal_limit, renew_reindex, require_functions, require_newest, require_run,
        required_admin_tenant_id, required_tenant_id, similarities, stale_chunks, start_reindex,
        states_price, take_reindex_call, tenant_id, terms, text_search_config, user_id,
        vanished, verify_chunk, write_chunks, write_source}'),
    -- Supabase Auth, which has USAGE on private, finds one function there
    ('supabase_auth_admin', 'private', '{
        custom_access_token_hook}'),
    -- nobody but the owner
    ('', 'private', '{
        close_calls, close_model, conversation, definers, drop_chunk_terms, is_charged,
        keep_chunk_text, keep_ledger, open_models, open_turn, question_language, refund_turn,
        refuse, require_platform_admin, reserve_first_calls, reserve_turn, return_expired,
        return_turn, take_call, take_global_turn, take_reserved_call, take_tenant_turn,
        take_user_turn, usable_indexes, write_chunk_terms}');

create temporary view actual as
select (n.nspname || '.' || p.proname) collate "default" as name, coalesce((
        select string_agg(case a.grantee when 0 then 'public' else a.grantee::regrole::text end, ','
            order by a.grantee::regrole::text)
        from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
        where a.grantee <> p.proowner), '') as who
from pg_proc p join pg_namespace n on n.oid = p.pronamespace
where n.nspname in ('api', 'app', 'private');

select set_eq(
    'select name, who from actual',
    'select e.schema || ''.'' || n.name, e.who from expected e, unnest(e.names) n (name)',
    'exactly these may execute exactly this');

-- Works are out of reach by name, whatever may be executed through a door
select test.act_as('bob');
select throws_ok(
    $$ select private.stale_chunks(test.id('two'), 100, now()) $$, '42501', null,
    'an admin cannot call the works with a brand of their choice');
select test.act_as('service');
select throws_ok(
    $$ select private.open_models('generate', now()) $$, '42501', null,
    'nor can the service choose a time');

select * from finish();
rollback;
