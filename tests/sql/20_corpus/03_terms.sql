-- The search terms of a chunk: filed when it is written, gone when it goes.
begin;
select plan(12);

create function pg_temp.terms(p_chunk text) returns text
language sql
return (select string_agg(t.lexeme || ':' || t.frequency, ' ' order by t.lexeme collate "C")
    from app.chunk_terms t where t.chunk_id = test.id(p_chunk));

select test.add_source('one', 'en', '{"The price of prices","Prices, again"}');
select is(
    pg_temp.terms('one/en/0'), 'price:2', 'English words are filed by their stem, with counts');
select is(pg_temp.terms('one/en/1'), 'price:1', 'each chunk of a statement has its own');
select test.add_source('one', 'de', '{"Die Preise und die Häuser"}', p_language => 'de');
select is(pg_temp.terms('one/de/0'), 'haus:1 preis:1', 'German words by theirs');
select test.add_source('one', 'es', '{"los precios de las casas"}', p_language => 'es');
select is(pg_temp.terms('one/es/0'), 'cas:1 preci:1', 'Spanish words by theirs');
select test.add_source('one', 'zh', '{"家庭套餐 5G"}', p_language => 'zh');
select is(pg_temp.terms('one/zh/0'), '5g:1 套餐:1 家庭:1 庭套:1', 'Chinese as pairs of characters');
select test.add_source('one', 'long', array[repeat('x', 300) || ' lantern']);
select is(
    pg_temp.terms('one/long/0'), 'lantern:1', 'a word that is too long for the index is left out');

select test.act_as('bob');
insert into app.chunks (tenant_id, id, source_id, heading_path, content, language)
values (test.id('one'), test.id('new'), test.id('one/en'), 'Fees › Homes', 'lanterns', 'en');
select is(
    pg_temp.terms('new'), 'fee:1 home:1 lantern:1', 'the headings above a passage are found too');
select is(
    test.outcome($$ insert into app.chunk_terms
        values (test.id('one'), 'free', test.id('new'), 1) $$), '42501',
    'nobody files a term by hand');
delete from app.chunks where id = test.id('new');
select is(pg_temp.terms('new'), null, 'the terms go with the chunk');

-- a document whose language was wrong
select test.act_as('bob');
select test.reindex(test.start_run(), 'tongue', '{"Die Preise"}');
create function pg_temp.tongue() returns text
language sql
return (select string_agg(t.lexeme, ' ' order by t.lexeme collate "C") from app.chunk_terms t
    join app.chunks c on c.id = t.chunk_id join app.sources s on s.id = c.source_id
    where s.source_key = 'tongue');
select is(pg_temp.tongue(), 'die preis', 'is filed in the language that it says');
select test.reindex(test.start_run(), 'tongue', '{"Die Preise"}', '{"language": "de"}');
select is(pg_temp.tongue(), 'preis', 'and filed anew when it says another, the chunk being kept');
select test.act_as('carol');
select is_empty('select lexeme from app.chunk_terms', 'another brand sees none');

select * from finish();
rollback;
