-- A run that dies leaves what it had finished and nothing else: dead run + the next = one clean run.
-- Random libraries, two versions of each; brand one dies on the way to the second, brand two does not.
begin;
select plan(9);

create function pg_temp.draw(p_sides integer, variadic p_of text[]) returns integer
language sql immutable
return abs(hashtext(array_to_string(p_of, '/'))) % p_sides;
create function pg_temp.library(p_seed text, p_version text)
returns table (key text, contents text[])
language sql
as $$
    -- of six documents some are missing; of the passages some change, some go, and all may move
    select k.key, array_agg(concat('Plan ', k.key, p.n % 5, ' costs ', pg_temp.draw(90, p_seed, k.key,
            (p.n % 5)::text, case when pg_temp.draw(3, p_seed, p_version, k.key, p.n::text) = 0
            then p_version end), ' €')
        order by pg_temp.draw(9, p_seed, p_version, k.key, p.n::text), p.n)
    from unnest('{a,b,c,d,e,f}'::text[]) k (key), generate_series(0, 6) p (n)
    where k.key = 'a' or pg_temp.draw(4, p_seed, p_version, k.key) > 0
        and pg_temp.draw(5, p_seed, p_version, k.key, p.n::text) > 0
    group by k.key
$$;
create function pg_temp.index(p_seed text, p_version text, p_dies_after integer default null)
returns uuid
language plpgsql
as $$
declare
    v_run uuid := test.start_run(true);
    v_done integer := 0;
    v_document record;
begin
    for v_document in select * from pg_temp.library(p_seed, p_version) l order by l.key loop
        begin
            perform test.reindex(v_run, v_document.key, v_document.contents);
            if v_done = p_dies_after then -- in the middle of a transaction
                raise exception using errcode = 'TS000';
            end if;
        exception when sqlstate 'TS000' then
            return v_run;
        end;
        v_done := v_done + 1;
    end loop;
    if p_dies_after is null then
        perform api.finish_reindex(v_run, array(select l.key from pg_temp.library(p_seed, p_version) l));
    end if;
    return v_run;
end
$$;
-- what the brand holds, whichever rows it is in
create function pg_temp.held() returns table (source text)
language sql
as $$
    select concat_ws('|', s.source_type, s.source_key, s.title, s.status, string_agg(
        concat_ws('#', c.heading_path, c.content, encode(c.content_hash, 'hex'), c.occurrence,
            (select count(*) from app.chunk_terms t where t.chunk_id = c.id)), ';' order by o.place))
    from app.sources s
    cross join unnest(s.chunk_ids) with ordinality o (id, place)
    left join app.chunks c on c.tenant_id = s.tenant_id and c.id = o.id
    group by s.tenant_id, s.id
$$;
create function pg_temp.rows() returns table (identity text, row_version text)
language sql
as $$
    select concat_ws('/', s.source_key, encode(c.content_hash, 'hex'), c.occurrence),
        concat_ws('/', c.ctid, c.xmin, c.cmin, c::text)
    from app.chunks c join app.sources s on s.tenant_id = c.tenant_id and s.id = c.source_id
$$;

create temporary table trials (seed text, differs bigint, rewritten bigint, kept bigint,
    unfinished bigint, loose bigint, foreign_generations bigint);
create temporary table snapshot (source text);
create temporary table before (identity text, row_version text);
grant all on trials, snapshot, before to public;
create function pg_temp.try(p_seed text) returns void
language plpgsql
as $$
declare
    v_dead uuid;
begin
    perform test.act_as('dave');
    perform pg_temp.index(p_seed, '1'), pg_temp.index(p_seed, '2');
    delete from snapshot where true;
    insert into snapshot select * from pg_temp.held();
    perform test.act_as('bob');
    perform pg_temp.index(p_seed, '1');
    perform api.verify_chunk(c.id) from app.chunks c where pg_temp.draw(3, p_seed, c.content) = 0;
    delete from before where true;
    insert into before select * from pg_temp.rows();
    v_dead := pg_temp.index(p_seed, '2', pg_temp.draw(6, p_seed));
    update app.reindex_runs set lease_ends_at = now() - interval '1 second' where id = v_dead;
    perform pg_temp.index(p_seed, '2');
    insert into trials
    select p_seed,
        (select count(*) from (
            (select * from snapshot except select * from pg_temp.held())
            union all (select * from pg_temp.held() except select * from snapshot)) d),
        (select count(*) from before b join pg_temp.rows() r using (identity)
            where b.row_version <> r.row_version),
        (select count(*) from before b join pg_temp.rows() r using (identity, row_version)),
        (select count(*) from app.reindex_runs r where r.status = 'running'),
        (select count(*) from app.chunks c join app.sources s
            on s.tenant_id = c.tenant_id and s.id = c.source_id where c.id <> all (s.chunk_ids)),
        -- D5: the newest run that indexed a source knows how many passages it has, and no later run
        -- than that one wrote it
        (select count(*) from app.sources s
            left join lateral (
                select r.generation, d.added + d.kept as chunks from app.reindex_run_sources d
                join app.reindex_runs r on r.tenant_id = d.tenant_id and r.id = d.run_id
                where d.tenant_id = s.tenant_id and d.source_key = s.source_key and d.status <> 'error'
                order by r.generation desc limit 1) n on true
            where n.chunks is distinct from cardinality(s.chunk_ids) or s.generation > n.generation);
end
$$;

select lives_ok(
    format('select pg_temp.try(%L)', s::text), format('library %s is indexed, cut and indexed', s))
from generate_series(1, 1) s;
select pg_temp.try(s::text) from generate_series(2, 8) s;

select is((select count(*) from trials), 8::bigint, 'eight libraries');
select is_empty('select seed from trials where differs > 0',
    'after the next run the brand holds what a run that never died would have left');
select is_empty('select seed from trials where rewritten > 0',
    'what is in both versions was not written, not by the dead run and not by the next'); -- O38
select cmp_ok((select sum(kept) from trials), '>', 50::numeric, 'which concerns many passages');
select is_empty('select seed from trials where unfinished > 0', 'no run looks alive'); -- O105
select is_empty('select seed from trials where loose > 0', 'no passage is outside of its source');
select is_empty('select seed from trials where foreign_generations > 0',
    'each source is what its newest run left');
select test.act_as('bob');
select is(
    (select count(*) from app.reindex_runs where status = 'failed' and reason = 'abandoned'),
    8::bigint, 'the dead runs say so');

select * from finish();
rollback;
