-- The embedding indexes: one registered model each, one narrow table each, one door each
-- (30_retrieval). A vector of another model is refused, never searched.
-- Storage is plain: a vector that is moved out of line (TOAST) costs four times as much per search.
-- No ANN index: an exact scan of one brand holds 20 ms to about 13,000 chunks, and one ANN index
-- over
-- all brands loses most rows of a small one.

create table app.embedding_indexes (
    name text primary key check (name in ('primary', 'fallback', 'local')),
    model text not null unique,
    dimensions integer not null,
    document_task text not null,
    query_task text not null,
    dense_weight double precision not null check (dense_weight between 0 and 10),
    lexical_weight double precision not null check (lexical_weight between 0 and 10),
    threshold double precision not null,
    min_similarity double precision not null check (min_similarity between -1 and 1)
);
comment on table app.embedding_indexes is
    'The registered indexes. Reference data, the same for all brands.';
comment on column app.embedding_indexes.model is 'The one model whose vectors the index holds.';
comment on column app.embedding_indexes.document_task is
    'How the model is told that a text is a document.';
comment on column app.embedding_indexes.dense_weight is
    'Weight of the standard score of the cosine, unless the model judges the question itself.';
comment on column app.embedding_indexes.lexical_weight is
    'Weight of the standard score of BM25; 0 switches the lexical half off.';
comment on column app.embedding_indexes.threshold is
    'A chunk whose evidence score is below it does not answer (see private.rank_chunks).';
comment on column app.embedding_indexes.min_similarity is
    'The same for a search without words, by cosine alone.';
alter table app.embedding_indexes enable row level security;
alter table app.embedding_indexes force row level security;
create policy embedding_indexes_select_all on app.embedding_indexes for select to authenticated
    using ((select private.tenant_id()) is not null);
grant select on app.embedding_indexes to authenticated, service_role;

insert into app.embedding_indexes
    (name, model, dimensions, document_task, query_task,
    dense_weight, lexical_weight, threshold, min_similarity)
values
    ('primary', 'gemini-embedding-001', 768, 'RETRIEVAL_DOCUMENT', 'RETRIEVAL_QUERY', 2, 1, 0.2, 0.55),
    ('fallback', 'gemini-embedding-2', 768, 'RETRIEVAL_DOCUMENT', 'RETRIEVAL_QUERY', 2, 1, 0.2, 0.55),
    ('local', 'all-MiniLM-L6-v2', 384, 'none', 'none', 2, 1, 0, 0.4);

create table app.chunk_embeddings_primary (
    tenant_id uuid not null,
    chunk_id uuid not null,
    embedding extensions.vector(768) not null check (extensions.vector_norm(embedding) > 0),
    primary key (tenant_id, chunk_id),
    foreign key (tenant_id, chunk_id) references app.chunks on delete cascade
);
comment on table app.chunk_embeddings_primary is
    'Vectors of the primary index: 768 numbers, unit length.';
alter table app.chunk_embeddings_primary alter column embedding set storage plain;
alter table app.chunk_embeddings_primary enable row level security;
alter table app.chunk_embeddings_primary force row level security;

create table app.chunk_embeddings_fallback (
    tenant_id uuid not null,
    chunk_id uuid not null,
    embedding extensions.vector(768) not null check (extensions.vector_norm(embedding) > 0),
    primary key (tenant_id, chunk_id),
    foreign key (tenant_id, chunk_id) references app.chunks on delete cascade
);
comment on table app.chunk_embeddings_fallback is
    'Vectors of the fallback index: 768 numbers, unit length.';
alter table app.chunk_embeddings_fallback alter column embedding set storage plain;
alter table app.chunk_embeddings_fallback enable row level security;
alter table app.chunk_embeddings_fallback force row level security;

create table app.chunk_embeddings_local (
    tenant_id uuid not null,
    chunk_id uuid not null,
    embedding extensions.vector(384) not null check (extensions.vector_norm(embedding) > 0),
    primary key (tenant_id, chunk_id),
    foreign key (tenant_id, chunk_id) references app.chunks on delete cascade
);
comment on table app.chunk_embeddings_local is
    'Vectors of the local index: 384 numbers, unit length.';
alter table app.chunk_embeddings_local alter column embedding set storage plain;
alter table app.chunk_embeddings_local enable row level security;
alter table app.chunk_embeddings_local force row level security;

create policy chunk_embeddings_primary_select_member on app.chunk_embeddings_primary
    for select to authenticated using (tenant_id = (select private.tenant_id()));
create policy chunk_embeddings_primary_insert_admin on app.chunk_embeddings_primary
    for insert to authenticated
    with check (tenant_id = (select private.tenant_id()) and (select private.is_admin()));
create policy chunk_embeddings_fallback_select_member on app.chunk_embeddings_fallback
    for select to authenticated using (tenant_id = (select private.tenant_id()));
create policy chunk_embeddings_fallback_insert_admin on app.chunk_embeddings_fallback
    for insert to authenticated
    with check (tenant_id = (select private.tenant_id()) and (select private.is_admin()));
create policy chunk_embeddings_local_select_member on app.chunk_embeddings_local
    for select to authenticated using (tenant_id = (select private.tenant_id()));
create policy chunk_embeddings_local_insert_admin on app.chunk_embeddings_local
    for insert to authenticated
    with check (tenant_id = (select private.tenant_id()) and (select private.is_admin()));
grant select, insert on app.chunk_embeddings_primary, app.chunk_embeddings_fallback,
    app.chunk_embeddings_local to authenticated, service_role;
