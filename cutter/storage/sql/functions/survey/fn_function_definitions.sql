-- Returns every function of the product's schemas by signature, with all that decides what it does.
create or replace function cutter_governance.fn_function_definitions() returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select jsonb_object_agg(p.oid::regprocedure::text, jsonb_build_object(
        'source_md5', md5(coalesce(p.prosrc, '') || coalesce(pg_get_function_sqlbody(p.oid), '')),
        'owner', pg_get_userbyid(p.proowner), 'security_definer', p.prosecdef,
        'settings', array_to_string(p.proconfig, '; '), 'language', l.lanname, 'volatility', p.provolatile,
        'strict', p.proisstrict, 'arguments', coalesce(pg_get_function_arguments(p.oid), ''),
        'result', p.prorettype::regtype::text,
        'acl', (select string_agg(one::text, ',' order by one::text collate "C")
                from unnest(coalesce(p.proacl, acldefault('f', p.proowner))) as one)))
    from pg_proc p
    join pg_language l on l.oid = p.prolang
    where p.pronamespace in ('public'::regnamespace, 'cutter_governance'::regnamespace, 'api'::regnamespace)
$$;
