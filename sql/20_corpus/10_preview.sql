-- What a reindex would do, for a person who wants to know before. Reads only, and needs no run.

create function api.preview_source(
    p_type text, p_key text, p_hashes bytea[], p_headings text[], p_indexes text[])
returns table (new_places integer[], changed integer, kept integer, removed integer, missing jsonb)
language sql stable
set search_path = ''
begin atomic
    select p.new_places, p.changed, p.kept, p.removed, p.missing
    from private.required_admin_tenant_id() t (id)
    cross join private.plan_reindex(t.id, p_type, p_key, p_hashes, p_headings, p_indexes) p;
end;
comment on function api.preview_source is
    'As api.plan_reindex, of a run that starts now and has not removed anything.';
grant execute on function api.preview_source to authenticated, service_role;

create function api.preview_listing(p_listing text[])
returns table (pool text, chunks bigint, retired integer, lost integer, removal_limit integer)
language sql stable
set search_path = ''
begin atomic
    select b.quota_pool, (select count(*) from app.chunks c where c.tenant_id = t.id),
        cardinality(v.ids), v.lost, private.removal_limit(t.id)
    from private.required_admin_tenant_id() t (id)
    join app.tenants b on b.id = t.id
    cross join private.vanished(t.id, null, p_listing) v;
end;
comment on function api.preview_listing is
    'The brand''s quota pool and chunks; the sources that a complete listing lacks, the chunks that are '
    'lost with them, and how many a run may remove without being told to (NULL: as many as there are).';
grant execute on function api.preview_listing to authenticated, service_role;
