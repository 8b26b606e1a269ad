-- Turns: each question with what became of it, refusals included, and the chunks it used.

create table app.turns (
    tenant_id uuid not null references app.tenants on delete cascade,
    id uuid not null,
    conversation_id uuid not null,
    user_id uuid references auth.users on delete set null,
    status text not null check (status in
        ('running', 'answered', 'held', 'no_match', 'refused', 'failed', 'aborted')),
    refusal text,
    run integer not null default 1 check (run > 0),
    question text not null check (length(question) <= 8000),
    answer text,
    language text check (language ~ '^[a-z]{2}$'),
    as_of date,
    index_name text references app.embedding_indexes,
    model text,
    attempts jsonb not null default '[]' check (jsonb_typeof(attempts) = 'array'),
    milliseconds jsonb not null default '{}' check (jsonb_typeof(milliseconds) = 'object'),
    created_at timestamptz not null default now(),
    finished_at timestamptz,
    primary key (tenant_id, id),
    check ((status = 'refused') = (refusal is not null)),
    check ((status = 'running') = (finished_at is null))
);
comment on table app.turns is 'A question and what became of it. Kept for the review of the brand.';
comment on column app.turns.status is
    'held: the answer would have been a price that nobody verified in time, so it was not said.';
comment on column app.turns.refusal is 'The code of the limit that refused it.';
comment on column app.turns.run is
    'How often it was begun: one that was refused, failed or aborted may be asked again under its id.';
comment on column app.turns.as_of is 'The oldest verification of a price in the answer.';
comment on column app.turns.model is 'What wrote the answer: a model, or extractive.';
comment on column app.turns.attempts is
    'Calls of models: [{model, outcome, ms, input_tokens, output_tokens}].';
create index turns_conversation on app.turns (tenant_id, user_id, conversation_id, created_at);
create index turns_user on app.turns (user_id);
create index turns_index_name on app.turns (index_name);
alter table app.turns enable row level security;
alter table app.turns force row level security;
create policy turns_select_own_or_admin on app.turns for select to authenticated
    using (
        tenant_id = (select private.tenant_id())
        and (user_id = (select private.user_id()) or (select private.is_admin()))
    );
grant select on app.turns to authenticated, service_role;

create table app.turn_sources (
    tenant_id uuid not null,
    turn_id uuid not null,
    place integer not null check (place >= 0),
    chunk_id uuid,
    source_id uuid,
    content_hash bytea not null,
    source_type text not null,
    title text not null,
    url text,
    heading_path text not null,
    verified_at timestamptz,
    similarity double precision not null,
    primary key (tenant_id, turn_id, place),
    foreign key (tenant_id, turn_id) references app.turns on delete cascade,
    foreign key (tenant_id, chunk_id) references app.chunks on delete set null (chunk_id),
    foreign key (tenant_id, source_id) references app.sources on delete set null (source_id)
);
comment on table app.turn_sources is 'The chunks that an answer was made from, best first.';
comment on column app.turn_sources.content_hash is
    'Which text it was, also after the chunk is gone.';
comment on column app.turn_sources.title is
    'Title, URL and heading as they were shown, also after the source has changed.';
comment on column app.turn_sources.verified_at is 'How fresh it was when it was used.';
create index turn_sources_chunk on app.turn_sources (tenant_id, chunk_id);
create index turn_sources_source on app.turn_sources (tenant_id, source_id);
alter table app.turn_sources enable row level security;
alter table app.turn_sources force row level security;
create policy turn_sources_select_with_turn on app.turn_sources for select to authenticated
    using (
        tenant_id = (select private.tenant_id())
        and exists (
            select from app.turns t
            where t.tenant_id = turn_sources.tenant_id and t.id = turn_sources.turn_id)
    );
grant select on app.turn_sources to authenticated, service_role;
