-- The tenant registry: brands, their words and their limits.
-- Decides which brands exist and what each may spend. Written by api.register_tenant only.

create table app.tenants (
    id uuid primary key default gen_random_uuid(),
    slug text not null unique check (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$' and length(slug) <= 63),
    name text not null check (length(name) between 1 and 200),
    status text not null default 'active' check (status in ('active', 'suspended')),
    language text not null default 'en' check (language ~ '^[a-z]{2}$'),
    time_zone text not null default 'UTC' check (timezone(time_zone, timestamp '2000-01-01') is not null),
    quota_pool text not null default 'shared' check (quota_pool ~ '^[a-z0-9_]{1,30}$'),
    created_at timestamptz not null default now()
);
comment on table app.tenants is 'A brand. Everything else carries its id.';
comment on column app.tenants.slug is 'The name of the brand in commands and requests.';
comment on column app.tenants.time_zone is 'Whose midnight starts a new day of the brand''s cap.';
comment on column app.tenants.quota_pool is
    'Whose key of the model provider it uses. A demo has one of its own, so it cannot use up the others'' quota.';
alter table app.tenants enable row level security;
alter table app.tenants force row level security;

create table app.personas (
    tenant_id uuid not null references app.tenants on delete cascade,
    language text not null check (language ~ '^[a-z]{2}$'),
    persona text not null check (length(persona) <= 4000),
    fallback text not null check (length(fallback) between 1 and 1000),
    primary key (tenant_id, language)
);
comment on table app.personas is
    'How a brand speaks, per language: tone, and the text when nothing matches.';
alter table app.personas enable row level security;
alter table app.personas force row level security;

create table app.tenant_limits (
    tenant_id uuid primary key references app.tenants on delete cascade,
    turns_per_day integer not null default 500 check (turns_per_day between 1 and 1000000),
    turns_per_minute integer not null default 10 check (turns_per_minute between 1 and 1000),
    verified_within_days integer not null default 90 check (verified_within_days between 1 and 3650),
    removal_percent integer not null default 20 check (removal_percent between 0 and 100),
    question_characters integer not null default 2000 check (question_characters between 1 and 8000)
);
comment on table app.tenant_limits is
    'What a brand may spend, and how old a verified price may be.';
comment on column app.tenant_limits.turns_per_day is
    'All users of the brand together, in its time zone.';
comment on column app.tenant_limits.turns_per_minute is 'Each user.';
comment on column app.tenant_limits.verified_within_days is 'A price verified longer ago is stale.';
comment on column app.tenant_limits.removal_percent is
    'The share of its chunks that a reindex may remove without being told to.';
alter table app.tenant_limits enable row level security;
alter table app.tenant_limits force row level security;

create table app.members (
    tenant_id uuid not null references app.tenants on delete cascade,
    user_id uuid not null references auth.users on delete cascade,
    role text not null check (role in ('rep', 'admin')),
    created_at timestamptz not null default now(),
    primary key (tenant_id, user_id)
);
comment on table app.members is
    'Who belongs to a brand. Read on every request: removal works at once.';
create index members_user_id on app.members (user_id);
alter table app.members enable row level security;
alter table app.members force row level security;

create table app.platform_admins (
    user_id uuid primary key references auth.users on delete cascade,
    created_at timestamptz not null default now()
);
comment on table app.platform_admins is 'Who may register brands and act for any of them.';
alter table app.platform_admins enable row level security;
alter table app.platform_admins force row level security;
