-- Reconciliation, second half: the stored source becomes the new version, and what stays is not
-- touched at all.
begin;
select plan(26);

-- which row it is and which version of it: nothing was written when both stay equal
create function pg_temp.rows(p_key text) returns table (content text, row_version text)
language sql
as $$
    select c.content, concat_ws('/', c.ctid, c.xmin, c.cmin, c.id, c.verified_at, c.created_at)
    from app.chunks c join app.sources s using (tenant_id)
    where s.id = c.source_id and s.source_key = p_key
$$;
create function pg_temp.texts(p_key text) returns text[]
language sql
as $$
    select array_agg(c.content order by o.place)
    from app.sources s, unnest(s.chunk_ids) with ordinality o (id, place)
    join app.chunks c on c.id = o.id
    where s.source_key = p_key
$$;

select test.act_as('bob');
select results_eq(
    $$ select * from test.reindex(test.start_run(), 'faq', '{a,b,c,d}') $$,
    $$ values ('ready', 4, 0, 0, 0) $$, 'a new source: all added');
select is(pg_temp.texts('faq'), '{a,b,c,d}', 'in reading order');
create temporary table before as select * from pg_temp.rows('faq');
create temporary table source_before as select s.ctid::text as at, s.* from app.sources s;

select results_eq(
    $$ select * from test.reindex(test.start_run(), 'faq', '{a,b,c,d}') $$,
    $$ values ('unchanged', 0, 0, 4, 0) $$, 'the same again: unchanged');
select set_eq('select * from pg_temp.rows(''faq'')', 'select * from before',
    'no chunk was written'); -- O38
select results_eq(
    'select s.ctid::text, s.* from app.sources s', 'select * from source_before',
    'nor the source'); -- O29

select results_eq(
    $$ select * from test.reindex(test.start_run(), 'faq', '{a,B,c,d,e}') $$,
    $$ values ('ready', 2, 2, 3, 1) $$,
    'one passage for another and one more under the same heading');
select is(pg_temp.texts('faq'), '{a,B,c,d,e}', 'the text is the new one');
select set_eq(
    $$ select * from pg_temp.rows('faq') where content in ('a', 'c', 'd') $$,
    $$ select * from before where content <> 'b' $$, 'the kept chunks were not written'); -- O38
select is(
    (select updated_at from app.sources), now(), 'the source says that it changed');

select results_eq(
    $$ select * from test.reindex(test.start_run(), 'faq', '{d,c,a,B,e}') $$,
    $$ values ('ready', 0, 0, 5, 0) $$, 'another order keeps all');
select is(pg_temp.texts('faq'), '{d,c,a,B,e}', 'in the new order');
select set_eq(
    $$ select * from pg_temp.rows('faq') where content in ('a', 'c', 'd') $$,
    $$ select * from before where content <> 'b' $$, 'a chunk that only moved was not written');

-- O28: a shorter page leaves nothing behind
select test.reindex(test.start_run(), 'plans', '{p0,p1,p2,p3,p4,p5,"Old plan: 99 €",p7}');
select results_eq(
    $$ select * from test.reindex(test.start_run(), 'plans', '{p0,p1,p2}') $$,
    $$ values ('ready', 0, 0, 3, 5) $$, 'eight passages become three');
select is(
    (select count(*) from pg_temp.rows('plans')), 3::bigint, 'exactly three are stored');
select is_empty(
    $$ select from app.chunks where content ~ '99'
    union all select from app.chunk_terms where lexeme = '99' $$,
    'the old price is gone, and its search terms');
select results_eq(
    $$ select * from test.reindex(test.start_run(), 'plans', '{}') $$,
    $$ values ('ready', 0, 0, 0, 3) $$, 'an empty document has no chunks');
select is(
    (select cardinality(chunk_ids) from app.sources where source_key = 'plans'), 0,
    'and lists none');

-- O37: the same paragraph twice
select results_eq(
    $$ select *
    from test.reindex(test.start_run(), 'legal', '{L,x,L}', '{}', '{Homes,Homes,Offices}') $$,
    $$ values ('ready', 3, 0, 0, 0) $$, 'a paragraph under two headings is stored under both');
select results_eq(
    $$ select * from test.reindex(
        test.start_run(), 'legal', '{L,x,L,L}', '{}', '{Homes,Homes,Offices,Homes}') $$,
    $$ values ('ready', 1, 0, 3, 0) $$, 'and twice under one of them');
select results_eq(
    $$ select heading_path, occurrence from app.chunks where content = 'L' order by 1, 2 $$,
    $$ values ('Homes', 0), ('Homes', 1), ('Offices', 0) $$, 'told apart by their number');
select results_eq(
    $$ select * from test.reindex(test.start_run(), 'legal', '{L,x}', '{}', '{Homes,Homes}') $$,
    $$ values ('ready', 0, 0, 2, 2) $$, 'and gone when they are gone');

-- what does not fit is refused as a whole
select throws_ok(
    $$ select api.apply_reindex(test.start_run(), 0, 'faq', 'bad',
        '{"title":"t","language":"en","visibility":"tenant"}',
        test.hashes('{""}', '{a}'), '{""}', '{other}') $$,
    'PT400', 'bad_request', 'a text that is not what the hash says is refused');
select throws_ok(
    $$ select api.apply_reindex(test.start_run(), 0, 'faq', 'bad',
        '{"title":"t","language":"en","visibility":"tenant"}',
        test.hashes('{""}', '{a}'), '{""}', array[null::text]) $$,
    'PT409', 'reindex_running',
    'a text that was not sent, since it was there at the plan, is asked for again');
select is_empty(
    $$ select from app.sources where source_key = 'bad' $$, 'and leaves nothing behind'); -- O35
create temporary table run_of_one as select test.start_run() as id;
grant select on run_of_one to public;
select test.act_as('alice');
select throws_ok(
    $$ select api.apply_reindex(test.id('x'), 0, 'faq', 'faq', '{}', '{}', '{}', '{}') $$,
    'PT403', 'not_an_admin', 'a rep writes nothing');
select test.act_as('dave');
select throws_ok(
    $$ select api.apply_reindex(r.id, 0, 'faq', 'faq', '{}', '{}', '{}', '{}') from run_of_one r $$,
    'PT404', 'not_found', 'nor does the admin of another brand in this run');

select * from finish();
rollback;
