-- How text is hashed, recognised as a price, and cut into search terms.
-- Called by generated columns, a trigger and the match functions. All immutable or stable, no
-- tables.

create function private.chunk_hash(p_heading_path text, p_content text) returns bytea
language sql immutable parallel safe strict
set search_path = ''
begin atomic
    -- convert_to is only stable because it knows other encodings; this database is UTF-8
    select pg_catalog.sha256(pg_catalog.convert_to(p_heading_path || e'\n' || p_content, 'UTF8'));
end;
comment on function private.chunk_hash is
    'SHA-256 of heading path, line feed and content in UTF-8. Go computes the same (corpus.Chunk.Hash).';
grant execute on function private.chunk_hash to authenticated, service_role;

create function private.states_price(p_content text) returns boolean
language sql immutable parallel safe strict
set search_path = ''
begin atomic
    -- an amount beside a currency (12,50 € / EUR 12 / 49,– € / 24.9 ct/kWh), or under a column of
    -- one
    select p_content ~* ('([€$£¥\u20a0-\u20cf]|\m(eur|euros?|usd|gbp|chf|dkk|sek|nok|pln|zł|czk|huf))'
            '\s*[-+]?\d')
        or p_content ~* ('\d([.,]\s?[-–]+)?\s*([€$£¥\u20a0-\u20cf元円원]|欧元|يورو|'
            '(eur|euros?|usd|gbp|chf|ct|cents?|pence|kr|dkk|sek|nok|pln|zł|kč|czk|ft|huf)\M)')
        or p_content ~* '([€$£¥]|\m(eur|usd|gbp|chf|ct|sek|nok|dkk|pln)\M)[^:;\n]{0,20}:\s*[-+]?\d'
        -- 45,- and twenty euros
        or p_content ~ '\d[.,][-–](\s|$|[.;])'
        or p_content ~* ('(one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|teen|ty'
            '|hundred|thousand|ein|eins|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf'
            '|zig|ßig|hundert|tausend|un|uno|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez'
            '|once|doce|ce|te|nta|cien|cientos|mil)\s+'
            '(euros?|dollars?|pounds?|pence|cents?|francs?|franken|cents?|céntimos?|dólares?)\M');
end;
comment on function private.states_price is
    'Whether the text states an amount of money. What it accepts has to be verified by a person.';
grant execute on function private.states_price to authenticated, service_role;

create function private.text_search_config(p_language text) returns regconfig
language sql immutable parallel safe strict
set search_path = ''
begin atomic
    select case p_language
        when 'da' then 'pg_catalog.danish'
        when 'de' then 'pg_catalog.german'
        when 'en' then 'pg_catalog.english'
        when 'es' then 'pg_catalog.spanish'
        when 'fi' then 'pg_catalog.finnish'
        when 'fr' then 'pg_catalog.french'
        when 'it' then 'pg_catalog.italian'
        when 'nl' then 'pg_catalog.dutch'
        when 'no' then 'pg_catalog.norwegian'
        when 'pt' then 'pg_catalog.portuguese'
        when 'ru' then 'pg_catalog.russian'
        when 'sv' then 'pg_catalog.swedish'
        else 'pg_catalog.simple' end::regconfig;
end;
comment on function private.text_search_config is
    'The stemmer of an ISO 639-1 language that every Postgres from 15 has; simple for the others.';
grant execute on function private.text_search_config to authenticated, service_role;

create function private.terms(p_text text, p_language text)
returns table (lexeme text, frequency integer, word integer)
language sql immutable parallel safe strict
set search_path = ''
begin atomic
    -- Chinese, Japanese and Korean run without spaces: each pair of neighbours is a lexeme there.
    -- word is the place of the term in the text: equal for all languages, so variants can be
    -- joined.
    select v.lexeme, cardinality(v.positions), v.positions[1]::integer
    from unnest(to_tsvector(
        private.text_search_config(p_language),
        regexp_replace(p_text, '[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+', ' ', 'g'))) v
    union all
    select b.pair, count(*)::integer, 20000 + min(b.place)::integer
    from (
        select substr(r.run[1], i, 2) as pair, r.at * 100 + i as place
        from regexp_matches(p_text, '([\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+)', 'g')
            with ordinality r (run, at),
            generate_series(1, greatest(length(r.run[1]) - 1, 1)) i
    ) b
    group by b.pair;
end;
comment on function private.terms is
    'Search terms of a text in a language: stemmed lexemes (pairs of characters for CJK) with counts.';
grant execute on function private.terms to authenticated, service_role;
