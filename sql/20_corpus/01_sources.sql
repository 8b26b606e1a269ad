-- Typed sources and their chunks.
-- Decides what a brand's documents are, and who may read them. A child carries tenant_id and a
-- composite foreign key, so a row can't straddle brands.

create table app.sources (
    tenant_id uuid not null references app.tenants on delete cascade,
    id uuid not null default gen_random_uuid(),
    source_type text not null
        check (source_type in ('price', 'objection', 'script', 'policy', 'faq', 'article')),
    source_key text not null check (length(source_key) between 1 and 500),
    title text not null check (length(title) between 1 and 500),
    url text check (length(url) <= 2000),
    language text not null check (language ~ '^[a-z]{2}$'),
    visibility text not null check (visibility in ('public', 'tenant', 'private')),
    verified_at timestamptz,
    valid_from timestamptz,
    valid_to timestamptz,
    metadata jsonb not null default '{}' check (jsonb_typeof(metadata) = 'object'),
    chunk_ids uuid[] not null default '{}',
    generation bigint not null default 0 check (generation >= 0),
    status text not null default 'ready' check (status in ('ready', 'error')),
    status_reason text check (length(status_reason) <= 500),
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    primary key (tenant_id, id),
    unique (tenant_id, source_type, source_key),
    check (valid_to is null or valid_from is null or valid_to > valid_from)
);
comment on table app.sources is
    'A document of a brand. (source_type, source_key) is its stable identity.';
comment on column app.sources.visibility is
    'public: visitors too; tenant: members; private: admins.';
comment on column app.sources.verified_at is 'The date that the document itself declares.';
comment on column app.sources.valid_to is
    'Exclusive. Outside [valid_from, valid_to) it is not retrieved.';
comment on column app.sources.chunk_ids is
    'Its chunks in reading order. Kept here, so that a chunk that only moves is not touched.';
comment on column app.sources.generation is
    'Of the reindex run that wrote it last; a run that changed nothing leaves it.';
alter table app.sources enable row level security;
alter table app.sources force row level security;

create policy sources_select_member on app.sources for select to authenticated
    using (
        tenant_id = (select private.tenant_id())
        and (visibility <> 'private' or (select private.is_admin()))
    );
create policy sources_insert_admin on app.sources for insert to authenticated
    with check (tenant_id = (select private.tenant_id()) and (select private.is_admin()));
create policy sources_update_admin on app.sources for update to authenticated
    using (tenant_id = (select private.tenant_id()) and (select private.is_admin()))
    with check (tenant_id = (select private.tenant_id()) and (select private.is_admin()));
create policy sources_delete_admin on app.sources for delete to authenticated
    using (tenant_id = (select private.tenant_id()) and (select private.is_admin()));
grant select, delete on app.sources to authenticated, service_role;
grant insert (tenant_id, source_type, source_key, title, url, language, visibility, verified_at,
    valid_from, valid_to, metadata, generation) on app.sources to authenticated, service_role;
grant update (title, url, language, visibility, verified_at, valid_from, valid_to, metadata,
    chunk_ids, generation, status, status_reason, updated_at) on app.sources to authenticated, service_role;

create table app.chunks (
    tenant_id uuid not null,
    id uuid not null default gen_random_uuid(),
    source_id uuid not null,
    heading_path text not null default ''
        check (length(heading_path) <= 1000 and position(e'\n' in heading_path) = 0),
    content text not null check (length(content) between 1 and 20000),
    content_hash bytea not null
        generated always as (private.chunk_hash(heading_path, content)) stored,
    occurrence integer not null default 0 check (occurrence >= 0),
    language text not null check (language ~ '^[a-z]{2}$'),
    is_pricing boolean not null generated always as (private.states_price(content)) stored,
    verified_at timestamptz,
    verified_by uuid references auth.users on delete set null,
    created_at timestamptz not null default now(),
    primary key (tenant_id, id),
    unique (tenant_id, source_id, content_hash, occurrence),
    foreign key (tenant_id, source_id) references app.sources on delete cascade
);
comment on table app.chunks is
    'A passage of a source. A changed passage is a new row: never updated text.';
comment on column app.chunks.occurrence is 'Counts equal passages of one source: 0, 1, …';
comment on column app.chunks.verified_at is
    'When a person last said that this is true; NULL: never.';
create index chunks_stale on app.chunks (tenant_id, verified_at nulls first) where is_pricing;
create index chunks_verified_by on app.chunks (verified_by) where verified_by is not null;
alter table app.chunks enable row level security;
alter table app.chunks force row level security;

create policy chunks_select_member on app.chunks for select to authenticated
    using (
        tenant_id = (select private.tenant_id())
        -- seen where its source is seen: the policy of sources applies inside
        and exists (
            select from app.sources s
            where s.tenant_id = chunks.tenant_id and s.id = chunks.source_id)
    );
create policy chunks_insert_admin on app.chunks for insert to authenticated
    with check (tenant_id = (select private.tenant_id()) and (select private.is_admin()));
create policy chunks_update_admin on app.chunks for update to authenticated
    using (tenant_id = (select private.tenant_id()) and (select private.is_admin()))
    with check (tenant_id = (select private.tenant_id()) and (select private.is_admin()));
create policy chunks_delete_admin on app.chunks for delete to authenticated
    using (tenant_id = (select private.tenant_id()) and (select private.is_admin()));
grant select, delete on app.chunks to authenticated, service_role;
grant insert (tenant_id, id, source_id, heading_path, content, occurrence, language, verified_at)
    on app.chunks to authenticated, service_role;
grant update (language, verified_at, verified_by) on app.chunks to authenticated, service_role;
