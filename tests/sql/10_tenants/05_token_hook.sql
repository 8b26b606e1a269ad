-- The token hook: what Supabase Auth gets back for the claims of a new token.
begin;
select plan(16);

create function pg_temp.hook(p_name text, p_metadata jsonb default '{"provider":"email"}')
returns jsonb
language plpgsql
as $$
declare
    v_event jsonb := jsonb_build_object('user_id', test.id(p_name), 'authentication_method',
        'password',
        'claims', jsonb_build_object('sub', test.id(p_name), 'role', 'authenticated', 'aal', 'aal1',
            'user_metadata', '{"tenant_id":"forged","name":"A"}'::jsonb, 'app_metadata',
            p_metadata));
    v_answer jsonb;
begin
    perform set_config('role', 'supabase_auth_admin', true);
    v_answer := private.custom_access_token_hook(v_event);
    perform set_config('role', 'none', true);
    if v_answer #- '{claims,app_metadata}' <> v_event #- '{claims,app_metadata}' then
        raise exception 'the hook changed something else';
    end if;
    return v_answer #> '{claims,app_metadata}';
end
$$;

select is(
    pg_temp.hook('alice'),
    jsonb_build_object(
        'provider', 'email', 'tenant_id', test.id('one'), 'tenant', 'one', 'tenant_role', 'rep'),
    'a member gets brand and role beside what was there');
select is(pg_temp.hook('bob') ->> 'tenant_role', 'admin', 'an admin is told so');
select is(pg_temp.hook('eve'), '{"provider":"email"}', 'a person without a brand gets none');
select is(
    pg_temp.hook('pat'), '{"provider":"email","platform_admin":true}',
    'a platform admin is told so');
select is(pg_temp.hook('eve', null), '{}', 'no app_metadata at all is an empty one');
select is(
    pg_temp.hook('eve',
    jsonb_build_object('tenant_id', test.id('one'), 'tenant', 'one', 'tenant_role', 'admin',
        'platform_admin', true, 'provider', 'email')),
    '{"provider":"email"}', 'a stranger loses a forged brand, role and platform');
select is(
    pg_temp.hook('alice',
        jsonb_build_object('tenant_id', test.id('two'), 'tenant_role', 'admin')) - 'tenant',
    jsonb_build_object('tenant_id', test.id('one'), 'tenant_role', 'rep'),
    'a member who forges another brand gets the own one');
select is(
    pg_temp.hook('alice', '{"tenant_id":"''; drop table app.members; --"}') ->> 'tenant', 'one',
    'whatever is written there is data');

-- somebody in two brands
insert into app.members (tenant_id, user_id, role, created_at)
values (test.id('two'), test.id('alice'), 'admin', now() + interval '1 day');
select is(
    pg_temp.hook('alice') ->> 'tenant', 'one', 'of two brands the older membership comes first');
select is(
    pg_temp.hook('alice', jsonb_build_object('tenant_id', test.id('two'))) - 'tenant_id',
    '{"tenant":"two","tenant_role":"admin"}', 'a brand that was chosen stays, with the role there');
update app.tenants set status = 'suspended' where slug = 'two';
select is(
    pg_temp.hook('alice', jsonb_build_object('tenant_id', test.id('two'))) ->> 'tenant', 'one',
    'unless it is suspended');
delete from app.members where user_id = test.id('alice') and tenant_id = test.id('one');
select is(
    pg_temp.hook('alice'), '{"provider":"email"}', 'a member of a suspended brand only gets none');
select is(
    pg_temp.hook('stranger'), '{"provider":"email"}',
    'a user that nobody knows gets a token without a brand');

-- who may call it
select test.act_as('bob');
select throws_ok(
    $$ select private.custom_access_token_hook('{}') $$, '42501', null,
    'a person cannot call the hook');
select test.act_as('service');
select throws_ok(
    $$ select private.custom_access_token_hook('{}') $$, '42501', null, 'nor can the service');
select test.act_as('superuser');
set local role supabase_auth_admin;
select is(
    test.outcome('select from app.members') || test.outcome('select private.tenant_id()'),
    '4250142501',
    'Auth itself reads no members and calls nothing else');
reset role;

select * from finish();
rollback;
