-- For plans_test.go: 20,000 chunks in ten brands of the same size, p0 to p9, each with an admin.

create function pg_temp.vector_of(p_chunk integer, p_dimensions integer) returns extensions.vector
language sql immutable
return array(
    select sin(p_chunk % 97 + i)::real from generate_series(1, p_dimensions) i)::extensions.vector;
create temporary table vectors as
select i as kind, pg_temp.vector_of(i, 384) as small, pg_temp.vector_of(i, 768) as large
from generate_series(0, 96) i;

set local session_replication_role = replica; -- or every row asks for its parents
insert into auth.users (id, email)
select test.id('p' || t), 'p' || t || '@people.example' from generate_series(0, 9) t;
insert into app.tenants (id, slug, name) select test.id('p' || t), 'p' || t || 'x', 'P' from generate_series(0, 9) t;
insert into app.tenant_limits (tenant_id) select test.id('p' || t) from generate_series(0, 9) t;
insert into app.members (tenant_id, user_id, role)
select test.id('p' || t), test.id('p' || t), 'admin' from generate_series(0, 9) t;
insert into app.reindex_runs (tenant_id, id, is_complete)
select test.id('p' || t), test.id('p' || t || '/run'), false from generate_series(0, 9) t;

create temporary table new_chunks as
select test.id('p' || c % 10) as tenant_id, test.id('p/' || c) as id, test.id('s/' || c % 2000) as source_id,
    c as number
from generate_series(0, 19999) c;
insert into app.sources (tenant_id, id, source_type, source_key, title, language, visibility, chunk_ids)
select c.tenant_id, c.source_id, 'faq', c.source_id::text, 'x', 'en', 'tenant', array_agg(c.id)
from new_chunks c group by c.tenant_id, c.source_id;
insert into app.chunks (tenant_id, id, source_id, content, language, verified_at)
select c.tenant_id, c.id, c.source_id, 'Plan ' || c.number || case when c.number % 3 = 0 then ' costs 5 €' else ' suits all' end,
    'en', now() - c.number * interval '10 minutes'
from new_chunks c;
insert into app.chunk_terms (tenant_id, lexeme, chunk_id, frequency)
select c.tenant_id, l.lexeme, c.id, 1
from new_chunks c, unnest(array['plan', 'w' || c.number % 50, 'n' || c.number]) l (lexeme);
insert into app.chunk_embeddings_local
select c.tenant_id, c.id, v.small from new_chunks c join vectors v on v.kind = c.number % 97;
-- a tenth of the others, which have the same function
insert into app.chunk_embeddings_primary
select c.tenant_id, c.id, v.large from new_chunks c join vectors v on v.kind = c.number % 97
where c.number < 2000;
insert into app.chunk_embeddings_fallback select * from app.chunk_embeddings_primary;
insert into app.turns (tenant_id, id, conversation_id, user_id, status, question, finished_at)
select c.tenant_id, c.id, c.id, test.id('p' || (c.number + 1) % 10), 'answered', 'why?', now()
from new_chunks c where c.number < 5000;
set local session_replication_role = origin;
analyze app.sources, app.chunks, app.chunk_terms, app.chunk_embeddings_local, app.chunk_embeddings_primary,
    app.chunk_embeddings_fallback, app.turns, app.members, app.tenants;
