-- name: live_grants
-- Returns every cell of the live privileges: role, object, verb, granted.
select role, object, verb, granted from (
    select r.role, c.relnamespace::regnamespace::text || '.' || c.relname as object, v.verb,
        case when r.role = 'PUBLIC'
            then exists (select from aclexplode(c.relacl) a where a.grantee = 0 and a.privilege_type = v.verb)
            else has_table_privilege(r.role, c.oid, v.verb)
                or (v.verb in ('SELECT', 'INSERT', 'UPDATE', 'REFERENCES') and has_any_column_privilege(r.role, c.oid, v.verb)) end as granted
    from unnest(%(roles)s::text[]) as r (role)
    cross join pg_class c
    cross join unnest(%(verbs)s::text[]) as v (verb)
    where c.relkind in ('r', 'p', 'v', 'm', 'f') and c.relnamespace = any (%(schemas)s::regnamespace[])
    union all
    select r.role, p.pronamespace::regnamespace::text || '.' || p.proname, 'EXECUTE',
        case when r.role = 'PUBLIC'
            then exists (select from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
                         where a.grantee = 0 and a.privilege_type = 'EXECUTE')
            else has_function_privilege(r.role, p.oid, 'EXECUTE') end
    from unnest(%(roles)s::text[]) as r (role)
    cross join pg_proc p
    where p.pronamespace = any (%(schemas)s::regnamespace[])) as cells
order by role collate "C", object collate "C", verb collate "C"
