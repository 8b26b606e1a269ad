-- How text is hashed and recognised as a price.
begin;
select plan(57);

-- The hash: O29 O30 O31. Go reads the same lines (functions/internal/corpus/hash_test.go) ---------

select cmp_ok((select count(*) from test.hashes), '>=', 20::bigint, 'the golden digests are there');
select is_empty(
    $$ select line from test.hashes
    where encode(private.chunk_hash(line ->> 'heading_path', line ->> 'content'), 'hex')
        <> line ->> 'sha256' $$,
    'Postgres makes the digest of every golden text'); -- O31: \ ' " tab, emoji, separators
select throws_ok(
    $$ select 'Ruta C:\temp\precios'::bytea $$, '22P02', null,
    'the cast that people use instead fails on a backslash'); -- O31
select isnt(
    private.chunk_hash('', e'one\r\ntwo'), private.chunk_hash('', e'one\ntwo'),
    'the hash is of the bytes as they are: Go normalises once, before'); -- O29
select isnt(
    private.chunk_hash('', 'caf' || u&'e\0301'), private.chunk_hash('', 'caf' || u&'\00E9'),
    'two spellings differ until somebody normalises'); -- O30
select is(
    private.chunk_hash('', normalize('caf' || u&'e\0301', nfc)),
    private.chunk_hash('', 'caf' || u&'\00E9'),
    'and are one after NFC'); -- O30
select is(
    private.chunk_hash('a', 'b'), sha256('a' || e'\n'::bytea || 'b'),
    'the digest is that of heading, line feed, content');

-- What states a price -----------------------------------------------------------------------------

select is(
    private.states_price(t.content), t.is_price,
    case when t.is_price then 'a price: ' else 'no price: ' end || t.content)
from (values
    ('Home Flex costs 12,50 € a month.', true),
    ('Home Flex costs € 12.50 a month.', true),
    ('From $9 a month', true),
    ('£5', true),
    ('EUR 12', true),
    ('EUR12.50', true),
    ('USD29 a month', true),
    ('Euro 12,50', true),
    ('12,50 Euro', true),
    ('12 euros al mes', true),
    ('24.9 ct/kWh', true),
    ('24,9 Cent je kWh', true),
    ('30 pence per kWh', true),
    ('CHF 1''299', true),
    ('49,- € im Monat', true),
    ('49,– €', true),
    ('Discount: -5 €', true),
    ('Plan: Home Flex; Monthly fee (€): 12,50; Contract: 12 months.', true),
    ('Plan: Home Flex; EUR per month: 12.50.', true),
    ('Price in ct: 31.2', true),
    ('199 kr i måneden', true),
    ('za 49,99 zł miesięcznie', true),
    ('每月 120 元', true),
    ('月額 ¥1,200', true),
    ('₹499', true),
    ('The check costs twenty euros.', true),
    ('It is 45,- for each wall.', true),
    ('Das macht zwanzig Euro im Monat.', true),
    ('Cuesta treinta euros al mes.', true),
    ('We take no euros in cash.', false),
    ('Pages 3,-5 are blank.', false),
    ('We answer in 12 hours.', false),
    ('12 krankheiten', false),
    ('We take €, $ and £.', false),
    ('Call 0800 123456', false),
    ('100 % green since 2019', false),
    ('The centre opens at 9.', false),
    ('12 central offices', false),
    ('Eurostar 9001', false),
    ('', false)
) t (content, is_price);

-- Which stemmer -----------------------------------------------------------------------------------

select is(private.text_search_config('de'), 'pg_catalog.german'::regconfig, 'German has a stemmer');
select is(
    private.text_search_config('es'), 'pg_catalog.spanish'::regconfig, 'Spanish has a stemmer');
select is(private.text_search_config('zh'), 'pg_catalog.simple'::regconfig, 'Chinese has none');
select is(
    private.text_search_config('xx'), 'pg_catalog.simple'::regconfig,
    'nor has an unknown language');
select is_empty(
    $$ select c from unnest('{da,de,en,es,fi,fr,it,nl,no,pt,ru,sv}'::text[]) c
    where private.text_search_config(c) = 'pg_catalog.simple'::regconfig $$,
    'the twelve languages with a stemmer in every Postgres from 15 use it');

-- Terms -------------------------------------------------------------------------------------------

select set_eq(
    $$ select lexeme, frequency from private.terms('The prices, and the price of prices', 'en') $$,
    $$ values ('price', 3) $$, 'a lexeme is counted over its forms, stop words are left out');
select set_eq(
    $$ select lexeme, frequency from private.terms('价格 套餐价格', 'zh') $$,
    $$ values ('价格', 2), ('套餐', 1), ('餐价', 1) $$, 'runs of CJK become pairs of neighbours');
select set_eq(
    $$ select lexeme, frequency from private.terms('A 光 b', 'zh') $$,
    $$ values ('a', 1), ('光', 1), ('b', 1) $$, 'a single character is its own term');
select set_eq(
    $$ select lexeme from private.terms('Router ルーター 라우터 価格', 'en') $$,
    $$ values ('router'), ('ルー'), ('ータ'), ('ター'), ('라우'), ('우터'), ('価格') $$,
    'Japanese and Korean too, beside words in letters');
select is_empty(
    $$ select t.* from unnest('{""," ?! & | :* "}'::text[]) q, private.terms(q, 'en') t $$,
    'no words, no terms; the syntax of tsquery is no syntax here');

select * from finish();
rollback;
