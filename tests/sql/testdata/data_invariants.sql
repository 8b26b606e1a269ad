-- What holds of the rows at all times: each invariant is a query that finds what breaks it, with plants
-- that break it. 00_invariants/data.sql plants them; tests/e2e asks every database that its tests leave.

create schema if not exists test;
create table test.invariants (
    id text not null,
    says text not null,
    finds text not null,
    plants text[] not null check (cardinality(plants) > 0)
);

create function test.count_of(p_query text) returns bigint
language plpgsql
as $$
declare
    v_rows bigint;
begin
    execute format('select count(*) from (%s) q', p_query) into v_rows;
    return v_rows;
end
$$;

create function test.example_of(p_query text) returns text
language plpgsql
as $$
declare
    v_row text;
begin
    execute format('select q::text from (%s) q limit 1', p_query) into v_row;
    return v_row;
end
$$;

insert into test.invariants values
    ('D1', 'what a row refers to is there, in its own brand', $$
        select k.conrelid::regclass, k.conname from pg_constraint k
        where k.contype = 'f' and k.connamespace::regnamespace::text in ('app', 'private')
            and test.count_of((
                select format('select from %s c where (%s) is not null
                    and not exists (select from %s p where (%s) = (%s))', k.conrelid::regclass,
                    string_agg(format('c.%I', a.attname), ', ' order by r.place),
                    k.confrelid::regclass,
                    string_agg(format('p.%I', b.attname), ', ' order by r.place),
                    string_agg(format('c.%I', a.attname), ', ' order by r.place))
                from unnest(k.conkey, k.confkey) with ordinality r (child, parent, place)
                join pg_attribute a on a.attrelid = k.conrelid and a.attnum = r.child
                join pg_attribute b on b.attrelid = k.confrelid and b.attnum = r.parent)) > 0 $$,
        -- triggers look the other way: only so can it be broken
        array[$$ set local session_replication_role = replica;
            update app.chunks set source_id = test.id('two/faq') where id = test.id('one/faq/0') $$,
            $$ set local session_replication_role = replica;
            update app.chunk_embeddings_local set tenant_id = test.id('two') $$,
            $$ set local session_replication_role = replica; delete from app.tenants $$]),
    ('D2', 'a vector has a direction', $$
        select a.attrelid::regclass from pg_attribute a join pg_class c on c.oid = a.attrelid
        where c.relkind = 'r' and c.relnamespace::regnamespace::text in ('app', 'private')
            and a.atttypid = 'extensions.vector'::regtype and test.count_of(format(
                'select from %s where (extensions.vector_norm(%I) > 0) is not true',
                a.attrelid::regclass, a.attname)) > 0 $$,
        array[$$ alter table app.chunk_embeddings_local
                drop constraint chunk_embeddings_local_embedding_check;
            update app.chunk_embeddings_local
            set embedding = array_fill(0, array[384])::extensions.vector $$]),
    ('D3', 'the hash of a chunk is that of its text', $$
        select c.id from app.chunks c
        where c.content_hash <> sha256(convert_to(c.heading_path || e'\n' || c.content, 'UTF8')) $$,
        array[$$ set local session_replication_role = replica;
            alter table app.chunks alter content_hash drop expression;
            update app.chunks set content = 'another text' $$]),
    ('D4', 'a passage is stored once for each time that it stands in its source', $$
        select c.source_id from app.chunks c
        group by c.tenant_id, c.source_id, c.heading_path, c.content, c.occurrence
        having count(*) > 1 $$,
        array[$$ alter table app.chunks
                drop constraint chunks_tenant_id_source_id_content_hash_occurrence_key;
            insert into app.chunks (tenant_id, source_id, content, language)
            select tenant_id, source_id, content, language from app.chunks $$]),
    ('D5', 'a source is of the newest run that wrote it', $$
        select s.id from app.sources s
        where s.generation <> 0 and not exists (
                select from app.reindex_runs r
                where r.tenant_id = s.tenant_id and r.generation = s.generation)
            or s.generation < (
                select max(r.generation) from app.reindex_run_sources d
                join app.reindex_runs r on r.tenant_id = d.tenant_id and r.id = d.run_id
                where d.tenant_id = s.tenant_id and d.source_key = s.source_key
                    and d.source_type = s.source_type and d.status = 'ready') $$,
        array['update app.sources set generation = generation + 1',
            'update app.sources set generation = 0']),
    ('D5', 'a source lists exactly its chunks, so no version is half swapped', $$
        select s.id from app.sources s
        where array(select unnest(s.chunk_ids) order by 1) <> array(
            select c.id from app.chunks c
            where c.tenant_id = s.tenant_id and c.source_id = s.id order by 1) $$,
        array['update app.sources set chunk_ids = chunk_ids[2:]',
            'update app.sources set chunk_ids = chunk_ids || chunk_ids',
            $$ delete from app.chunks where id = test.id('one/faq/0') $$]),
    ('D6', 'each counter is the sum of its ledger, and not above its cap', $$
        select 'user_minutes', concat(m.user_id, r.user_id) from (
            select user_id, minute, count(*) filter (where state <> 'refunded'
                -- what is refunded later stays in a minute that is over
                or closed_at >= minute + interval '1 minute') as turns
            from private.turn_reservations group by user_id, minute) r
        full join private.user_minutes m on m.user_id = r.user_id
        where r.minute is null and m.turns > 0 or m.minute is null or r.minute > m.minute
            or r.minute = m.minute and m.turns <> r.turns
        union all
        select 'tenant_days', concat(d.tenant_id, r.tenant_id, ' ', d.day, r.day) from (
            select tenant_id, day, count(*) filter (where state <> 'refunded') as turns
            from private.turn_reservations group by tenant_id, day) r
        full join private.tenant_days d on d.tenant_id = r.tenant_id and d.day = r.day
        where coalesce(d.turns, -1) <> coalesce(r.turns, 0)
        union all
        select 'installation', i.day::text from private.installation i
        where i.turns <> (select count(*) from private.turn_reservations r
            where r.global_day = i.day and r.state <> 'refunded')
        union all
        select 'model_days', concat(d.pool, r.pool, ' ', d.model, r.model) from (
            select c.pool, c.model, c.day, sum(c.calls) as calls from (
                select pool, model, day, (state <> 'refunded')::integer
                from private.call_reservations union all
                select pool, model, day, calls from private.reindex_calls) c (pool, model, day, calls)
            group by c.pool, c.model, c.day) r
        full join private.model_days d on d.pool = r.pool and d.model = r.model and d.day = r.day
        where coalesce(d.calls, -1) <> coalesce(r.calls, 0)
        union all
        select 'cap of the brand', d.day::text
        from private.tenant_days d join app.tenant_limits l on l.tenant_id = d.tenant_id
        where d.turns > l.turns_per_day
        union all
        select 'cap of the installation', i.day::text from private.installation i
        where i.turns > i.turns_per_day
        union all
        select 'cap of the model', d.model
        from private.model_days d join app.models m on m.name = d.model
        where d.calls > m.calls_per_day
        union all
        select 'cap of the user', m.user_id::text from private.user_minutes m
        where m.turns > (select max(l.turns_per_minute)
            from private.turn_reservations r join app.tenant_limits l on l.tenant_id = r.tenant_id
            where r.user_id = m.user_id and r.minute = m.minute) $$,
        array['update private.user_minutes set turns = turns + 1',
            $$ update private.user_minutes set minute = minute - interval '1 hour' $$,
            'delete from private.user_minutes',
            'update private.tenant_days set turns = turns - 1',
            'update private.tenant_days set day = day - 1',
            'update private.installation set turns = turns + 1',
            'update private.model_days set calls = calls + 1',
            'delete from private.call_reservations', 'delete from private.reindex_calls',
            'update app.tenant_limits set turns_per_day = 1',
            'update app.tenant_limits set turns_per_minute = 1',
            'update private.installation set turns_per_day = 1',
            'update app.models set calls_per_day = 0']),
    ('D7', 'what is reserved is open as long as its turn runs, and no longer than its lease', $$
        select r.turn_id, 'beyond its lease' from private.turn_reservations r
        where r.state = 'open' and r.lease_ends_at < now()
        union all
        select r.turn_id, 'its turn has ended' from private.turn_reservations r
        join app.turns t on t.tenant_id = r.tenant_id and t.id = r.turn_id
        where r.state = 'open' and (t.status <> 'running' or t.run <> r.run)
        union all
        select t.id, 'runs for nothing' from app.turns t
        where t.status = 'running' and not exists (
            select from private.turn_reservations r
            where r.tenant_id = t.tenant_id and r.turn_id = t.id and r.run = t.run
                and r.state = 'open')
        union all
        select c.turn_id, 'a call after its turn' from private.call_reservations c
        join private.turn_reservations r on r.tenant_id = c.tenant_id and r.turn_id = c.turn_id
            and r.run = c.run
        where c.state = 'open' and r.state <> 'open' $$,
        -- the ledger itself lets nobody do so
        array[$$ set local session_replication_role = replica;
            update private.turn_reservations set lease_ends_at = now() - interval '1 second' $$,
            $$ update app.turns set status = 'aborted', finished_at = now()
            where status = 'running' $$,
            $$ update private.turn_reservations set state = 'settled', closed_at = now()
            where state = 'open' $$,
            $$ set local session_replication_role = replica;
            update private.call_reservations set state = 'open', closed_at = null $$]),
    ('D8', 'nothing is open for longer than it may run', $$
        select t.id from app.turns t
        where t.status = 'running' and t.created_at < now() - interval '5 minutes'
        union all
        select r.id from app.reindex_runs r
        where r.status = 'running' and r.lease_ends_at < now() $$,
        array[$$ update app.turns set status = 'running', finished_at = null,
                created_at = now() - interval '6 minutes' $$,
            $$ update app.reindex_runs set status = 'running', finished_at = null,
                lease_ends_at = now() - interval '1 second' $$]),
    ('D9', 'a turn notes chunks of its own brand, with the text that they have', $$
        select s.turn_id, s.place from app.turn_sources s
        left join app.turns t on t.tenant_id = s.tenant_id and t.id = s.turn_id
        left join app.chunks c on c.tenant_id = s.tenant_id and c.id = s.chunk_id
        where t.id is null or s.chunk_id is not null and (c.id is null
            or c.content_hash <> s.content_hash or c.source_id is distinct from s.source_id) $$,
        array[$$ set local session_replication_role = replica;
            update app.turn_sources set chunk_id = test.id('two/faq/0') $$,
            $$ update app.turn_sources set content_hash = '\x00' $$,
            'update app.turn_sources set source_id = null']),
    ('D10', 'no moment lies ahead, and what a person verified was there by then', $$
        select a.attrelid::regclass, a.attname from pg_attribute a
        join pg_class c on c.oid = a.attrelid
        where c.relkind = 'r' and c.relnamespace = 'app'::regnamespace and a.attname ~ '_at$'
            -- what a document declares (a chunk takes no date to come from it), and the end of a lease
            and (c.relname, a.attname) not in (
                ('sources', 'verified_at'), ('reindex_runs', 'lease_ends_at'))
            and test.count_of(format('select from %s where %I > clock_timestamp()',
                a.attrelid::regclass, a.attname)) > 0
        union all
        select 'app.chunks', c.id::text from app.chunks c
        where c.verified_by is not null and (c.verified_at < c.created_at) is not false
        union all
        select 'app.turn_sources', s.turn_id::text from app.turn_sources s
        join app.turns t on t.tenant_id = s.tenant_id and t.id = s.turn_id
        where s.verified_at > t.finished_at $$,
        array[$$ update app.chunks set verified_at = now() + interval '1 hour' $$,
            $$ update app.turns set created_at = now() + interval '1 hour' $$,
            $$ update app.chunks set verified_by = test.id('bob'), verified_at = null $$,
            $$ update app.chunks set verified_by = test.id('bob'),
                verified_at = created_at - interval '1 day' $$,
            $$ update app.turn_sources set verified_at = now() - interval '1 day';
            update app.turns set finished_at = now() - interval '2 days'
            where finished_at is not null $$]),
    -- the model of a vector is that of its index, which is why there is one table for each index
    ('D11', 'each index has its table, and holds vectors of its model''s size only', $$
        select i.name from app.embedding_indexes i
        where to_regclass('app.chunk_embeddings_' || i.name) is null or test.count_of(format(
            'select from app.chunk_embeddings_%s e where extensions.vector_dims(e.embedding) <> %s',
            i.name, i.dimensions)) > 0
        union all
        select c.relname from pg_class c
        where c.relnamespace = 'app'::regnamespace and c.relkind = 'r'
            and c.relname ~ '^chunk_embeddings_' and substr(c.relname, 18) not in (
                select i.name from app.embedding_indexes i) $$,
        array[$$ update app.embedding_indexes set dimensions = 1024 where name = 'local' $$,
            $$ delete from app.embedding_indexes where name = 'fallback' $$,
            $$ alter table app.chunk_embeddings_primary rename to chunk_embeddings_old $$]),
    ('D12', 'no text is one that could not be read', $$
        select x.name from (
            select c.id::text, c.content from app.chunks c union all
            select c.id::text, c.heading_path from app.chunks c union all
            select s.id::text, s.title from app.sources s) x (name, text)
        where (length(x.text) - length(replace(x.text, chr(65533), ''))) * 100 > length(x.text) $$,
        array[$$ insert into app.chunks (tenant_id, source_id, content, language)
                values (test.id('one'), test.id('one/faq'), 'Canone 49 ' || chr(65533), 'it') $$,
            $$ update app.sources set title = repeat(chr(65533), 3) $$]),
    ('D13', 'no session keeps an advisory lock, and none waits inside a transaction', $$
        select l.locktype from pg_locks l
        where l.locktype = 'advisory'
            and l.database = (select oid from pg_database where datname = current_database())
        union all
        select a.state from pg_stat_activity a
        where a.datname = current_database() and a.state like 'idle in transaction%' $$,
        -- TestInvariants_AreSeenToBeBroken plants the other half
        array['select pg_advisory_xact_lock(1)']);
