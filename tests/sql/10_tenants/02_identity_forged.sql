-- Claims that a person can write, or that only look like the one that counts: none of them moves
-- the caller into another brand. T1 O65
begin;
select plan(16);

create function pg_temp.act(p_name text, p_more jsonb) returns void
language sql
begin atomic
    select test.become('authenticated', (test.claims_of(p_name) || p_more)::text, '');
end;
create function pg_temp.brand() returns text
language sql
as $$ select coalesce((select string_agg(t.slug, ' ') from app.tenants t), 'none') $$;

create temporary table forged (what text, more jsonb);
insert into forged values
    ('user_metadata', jsonb_build_object('user_metadata', jsonb_build_object(
        'tenant_id', test.id('two'), 'tenant_role', 'admin', 'platform_admin', true,
        'app_metadata', jsonb_build_object('tenant_id', test.id('two'))))),
    ('a claim of its own', jsonb_build_object('tenant_id', test.id('two'), 'tenant', 'two')),
    ('raw_app_meta_data', jsonb_build_object(
        'raw_app_meta_data', jsonb_build_object('tenant_id', test.id('two')))),
    ('App_Metadata', jsonb_build_object(
        'App_Metadata', jsonb_build_object('tenant_id', test.id('two')))),
    ('the role of the service', jsonb_build_object('role', 'service_role')),
    ('a platform admin', jsonb_build_object('platform_admin', true)),
    ('an admin', jsonb_build_object('tenant_role', 'admin', 'is_admin', true));
grant select on forged to public;
create function pg_temp.outcome(p_more jsonb) returns text
language plpgsql
as $$
begin
    perform pg_temp.act('alice', p_more);
    return concat_ws(' ', pg_temp.brand(), test.outcome('select api.stale_chunks()'),
        test.outcome('select api.begin_turn(''?'')'), test.outcome('select api.list_tenants()'));
end
$$;
select is(pg_temp.outcome(f.more), 'one PT403 1 PT403', f.what || ' changes nothing')
from forged f;
select test.act_as('superuser');

-- in the place that counts, anything but the id of a brand of one's own is none
select is(
    pg_temp.outcome(jsonb_build_object('app_metadata', m.metadata)), 'none PT403 PT403 PT403',
    'app_metadata ' || left(m.metadata::text, 60))
from (values
    (jsonb_build_object('tenant_id', test.id('two'))),
    (jsonb_build_object('tenant_id', jsonb_build_array(test.id('one'), test.id('two')))),
    (jsonb_build_object('tenant_id', jsonb_build_object('id', test.id('one')))),
    (jsonb_build_object('tenant_id', '{' || test.id('one') || '}')),
    (jsonb_build_object('tenant_id', test.id('one') || ' ')),
    (jsonb_build_object('tenant_id', null)),
    (jsonb_build_object('tenant', 'one', 'Tenant_Id', test.id('one'))),
    (jsonb_build_object('tenant_id', 'x'' or true --'))
) m (metadata);

-- and nothing reads the rest of a request
select is_empty(
    $$ select p.oid::regprocedure from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where n.nspname in ('api', 'app', 'private') and p.prokind = 'f'
        and pg_get_functiondef(p.oid) ~ 'request\.headers?|request\.cookies?|raw_user_meta' $$,
    'no function reads a header, a cookie or user_metadata');

select * from finish();
rollback;
