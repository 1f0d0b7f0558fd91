-- Reads the live privileges of these roles: how many `cells` (role, object, verb) there are, their `sha256`, those that
-- are `granted`, and the names of `relations` and `functions`.
create or replace function cutter_governance.fn_grant_matrix_read(p_roles text[], p_verbs text[], p_schemas text[])
returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    with relations as materialized (
        select c.oid, c.relacl, c.relnamespace::regnamespace::text || '.' || c.relname as object from pg_class c
        where c.relkind in ('r', 'p', 'v', 'm', 'f') and c.relnamespace = any (p_schemas::regnamespace[])),
    functions as materialized (
        select p.oid, coalesce(p.proacl, acldefault('f', p.proowner)) as acl,
            p.pronamespace::regnamespace::text || '.' || p.proname as object
        from pg_proc p where p.pronamespace = any (p_schemas::regnamespace[])),
    cells as materialized (
        select r.role, c.object, v.verb, case when r.role = 'PUBLIC'
            then exists (select from aclexplode(c.relacl) a where a.grantee = 0 and a.privilege_type = v.verb)
            else has_table_privilege(r.role, c.oid, v.verb)
                or (v.verb in ('SELECT', 'INSERT', 'UPDATE', 'REFERENCES') and has_any_column_privilege(r.role, c.oid, v.verb))
            end as granted
        from unnest(p_roles) as r (role) cross join relations c cross join unnest(p_verbs) as v (verb)
        union all
        select r.role, f.object, 'EXECUTE', case when r.role = 'PUBLIC'
            then exists (select from aclexplode(f.acl) a where a.grantee = 0 and a.privilege_type = 'EXECUTE')
            else has_function_privilege(r.role, f.oid, 'EXECUTE') end
        from unnest(p_roles) as r (role) cross join functions f)
    select jsonb_build_object('cells', count(*), 'sha256', cutter_governance.fn_digest('[' || coalesce(string_agg(
            concat('[', to_json(role), ',', to_json(object), ',', to_json(verb), ',', to_json(granted), ']'), ','
            order by role collate "C", object collate "C", verb collate "C", granted), '') || ']'),
        'granted', coalesce(jsonb_agg(jsonb_build_array(role, object, verb) order by role collate "C", object collate "C",
            verb collate "C") filter (where granted), '[]'),
        'relations', (select coalesce(jsonb_agg(object order by object collate "C"), '[]') from relations),
        'functions', (select coalesce(jsonb_agg(distinct object), '[]') from functions))
    from cells
$$;
