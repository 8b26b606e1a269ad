-- Two brands with the same document: one text, one key, one address. Nothing that happens to it in
-- one brand happens in the other, and no child hangs on the other brand's parent. T7 T8 T9
begin;
select plan(17);

select test.add_source(b, 'tariff', '{It costs 12 EUR,We open at nine}', '{1,0.5}',
    p_type => 'price', p_verified_at => now() - interval '100 days')
from unnest('{one,two}'::text[]) b;
update app.sources set url = 'https://prices.example/tariff';
select is(
    (select count(*)
    from app.sources s join app.sources o using (source_type, source_key, url, title)
    where s.tenant_id <> o.tenant_id),
    2::bigint, 'key, type, address and title are the same');
select is(
    (select count(*) from app.chunks c join app.chunks o using (content_hash, occurrence)
    where c.tenant_id <> o.tenant_id and c.id <> o.id), 4::bigint,
    'the texts have one hash, and are rows of their own');

create function pg_temp.rows(p_brand text) returns table (row_version text)
language sql
as $$
    select concat_ws('/', 'source', s.ctid, s.xmin, s::text) from app.sources s
    where s.tenant_id = test.id(p_brand)
    union all
    select concat_ws('/', 'chunk', c.ctid, c.xmin, c.cmin, c::text) from app.chunks c
    where c.tenant_id = test.id(p_brand)
    union all
    select concat_ws('/', 'vector', e.ctid, e.chunk_id) from app.chunk_embeddings_local e
    where e.tenant_id = test.id(p_brand)
    union all
    select concat_ws('/', 'term', t.ctid, t::text) from app.chunk_terms t
    where t.tenant_id = test.id(p_brand)
$$;
create temporary table before as select * from pg_temp.rows('one');
create function pg_temp.is_untouched(p_what text) returns text
language plpgsql
as $$
begin
    perform test.act_as('superuser');
    return set_eq('select * from pg_temp.rows(''one'')', 'select * from before', p_what);
end
$$;
grant select on before to public;

-- what the other brand does with its copy
select test.act_as('dave');
select is(
    (select count(*) from api.stale_chunks()), 1::bigint, 'its admin is shown its own stale price');
select lives_ok(
    $$ select api.verify_chunk(test.id('two/tariff/0')) $$, 'and verifies it');
select pg_temp.is_untouched('the same price of the neighbour is as old as before');
select test.act_as('bob');
select is(
    (select count(*) from api.stale_chunks()), 1::bigint, 'and its admin still finds it stale');
select test.act_as('dave');
select results_eq(
    $$ select * from test.reindex(
        test.start_run(), 'tariff', '{It costs 13 EUR}', p_type => 'price') $$,
    $$ values ('ready', 1, 1, 0, 2) $$, 'it changes');
select pg_temp.is_untouched('not the neighbour''s');
select test.act_as('dave');
select is(
    (select retired from api.finish_reindex(test.start_run(true), '{other}')), 1, 'it is retired');
select pg_temp.is_untouched('the neighbour''s is not');
delete from app.tenants where slug = 'two';
select pg_temp.is_untouched('nor when the whole brand goes');

-- no child on another brand's parent; it looks like a parent that nobody has
insert into app.tenants (id, slug, name) values (test.id('two'), 'two', 'Brand Two');
select test.add_source('two', 'other', '{It costs 14 EUR}');
insert into app.turns (tenant_id, id, conversation_id, status, question)
select test.id(b), test.id('turn ' || b), test.id('turn ' || b), 'running', '?'
from unnest('{one,two}'::text[]) b;
insert into app.reindex_runs (tenant_id, id, is_complete)
select test.id(b), test.id('run ' || b), false from unnest('{one,two}'::text[]) b;
create temporary table children (what text, sql text);
insert into children values
    ('a chunk', $$ into app.chunks (tenant_id, source_id, content, language)
        values (test.id('one'), test.id('%s/other'), 'x', 'en') $$),
    ('a vector', $$ into app.chunk_embeddings_local
        values (test.id('one'), test.id('%s/other/0'), test.at_cosine(1)) $$),
    ('a search term', $$ into app.chunk_terms (tenant_id, lexeme, chunk_id, frequency)
        values (test.id('one'), 'x', test.id('%s/other/0'), 1) $$),
    ('a chunk that was used', $$ into app.turn_sources (tenant_id, turn_id, place, chunk_id,
            content_hash, source_type, title, heading_path, similarity)
        values (test.id('one'), test.id('turn one'), 0, test.id('%s/other/0'),
            '\x00', 'faq', 't', '', 1) $$),
    ('what a turn used', $$ into app.turn_sources (tenant_id, turn_id, place,
            content_hash, source_type, title, heading_path, similarity)
        values (test.id('one'), test.id('turn %s'), 0, '\x00', 'faq', 't', '', 1) $$),
    ('what a run did', $$ into app.reindex_run_sources (tenant_id, run_id, source_key, status)
        values (test.id('one'), test.id('run %s'), 'x', 'ready') $$);
select is(
    test.outcome('insert ' || format(c.sql, 'two')) || ' '
        || test.outcome('insert ' || format(c.sql, 'nobody')),
    '23503 23503', c.what || ' on another brand''s parent is refused, even to the superuser')
from children c;

select * from finish();
rollback;
