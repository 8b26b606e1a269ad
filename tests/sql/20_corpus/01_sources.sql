-- Sources and chunks: who reads them, and that no row straddles brands.
begin;
select plan(24);

select test.add_source('one', 'faq', '{Lanterns for all}', '{1}');
select test.add_source('one', 'margin', '{The margin is 40 %}', '{1}', p_visibility => 'private');
select test.add_source('one', 'site', '{We sell light}', '{1}', p_visibility => 'public');
select test.add_source('two', 'faq', '{Lanterns for all}', '{1}');
select is(
    (select count(distinct c.content_hash) from app.chunks c where c.content = 'Lanterns for all'),
    1::bigint,
    'two brands may hold the same text under the same key');

-- who reads
select test.act_as('alice');
select set_eq(
    'select source_key from app.sources', '{faq,site}'::text[], 'a rep reads what members read');
select set_eq(
    'select content from app.chunks', array['Lanterns for all', 'We sell light'],
    'and the chunks of it');
select is_empty(
    $$ select from app.chunks where id = test.id('one/margin/0') $$,
    'not a private chunk, even by its id');
select is_empty(
    $$ select from app.chunks where id = test.id('two/faq/0') or tenant_id = test.id('two') $$,
    'nor one of another brand');
select test.act_as('bob');
select set_eq(
    'select source_key from app.sources', '{faq,site,margin}'::text[],
    'an admin reads all sources');
select is((select count(*) from app.chunks), 3::bigint, 'and all chunks of the brand');
select test.act_as('pat', 'two');
select results_eq(
    'select id from app.chunks', array[test.id('two/faq/0')],
    'a platform admin those of the named brand');

-- no row straddles brands
create function pg_temp.add_chunk(p_brand text, p_source uuid) returns text
language sql
return test.outcome(format('insert into app.chunks (tenant_id, source_id, content, language)
    values (%L, %L, ''x'', ''en'')', test.id(p_brand), p_source));
select test.act_as('bob');
select is(
    pg_temp.add_chunk('one', test.id('one/faq')), '1', 'an admin adds to a source of the brand');
select is(
    pg_temp.add_chunk('one', test.id('two/faq')), '23503',
    'a source of another brand is not there');
select is(
    pg_temp.add_chunk('one', test.id('nothing')), '23503', 'just as one that nobody has');
select is(
    pg_temp.add_chunk('two', test.id('two/faq')), '42501',
    'nor may a row be given to another brand');
select test.act_as('alice');
select is(pg_temp.add_chunk('one', test.id('one/faq')), '42501', 'a rep adds nothing');
select test.act_as('superuser');
select is(
    pg_temp.add_chunk('one', test.id('two/faq')), '23503',
    'not even the superuser makes a row that straddles');

-- what never changes
select test.act_as('bob');
select is(
    test.outcome($$ update app.chunks set content = 'y' $$), '42501',
    'the text of a chunk is never changed');
select is(
    test.outcome($$ update app.sources set tenant_id = test.id('two') $$), '42501',
    'a source never moves');
select is(
    test.outcome($$ update app.sources set source_key = 'x' $$), '42501', 'and keeps its key');
select test.act_as('superuser');
select is(
    test.outcome($$ update app.chunks set content_hash = '\x00' $$), '428C9',
    'the hash is made by Postgres');
select is(
    test.outcome($$ update app.chunks set is_pricing = false $$), '428C9',
    'and what is a price too');
select is(
    (select array_agg(a.attname order by a.attname) from pg_attribute a
    where a.attrelid = 'app.chunks'::regclass and a.attgenerated = 's'),
    '{content_hash,is_pricing}'::name[], 'both are stored, on Postgres 18 too');
select is(
    test.outcome($$ insert into app.sources
        (tenant_id, source_type, source_key, title, language, visibility)
    values (test.id('one'), 'faq', 'faq', 't', 'en', 'tenant') $$),
    '23505', 'type and key are the identity');
select is(
    test.outcome($$ insert into app.sources
        (tenant_id, source_type, source_key, title, language, visibility)
    values (test.id('one'), 'price', 'faq', 't', 'en', 'tenant') $$),
    '1', 'another type is another source');
select is(
    test.outcome($$ update app.sources set valid_from = now(), valid_to = now() $$), '23514',
    'what is valid is so for a while');
select is(
    test.outcome($$ update app.sources set visibility = 'everybody' $$), '23514',
    'public, tenant or private');

select * from finish();
rollback;
