-- Returns every privilege of the product's objects, its roles, and the role settings that could affect a write. Lists
-- are sorted and defaults written out, because a restored dump keeps neither.
create or replace function cutter_governance.fn_grant_definitions() returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select jsonb_object_agg(name, said) from (
        select name, (select string_agg(one::text, ',' order by one::text collate "C") from unnest(acl) as one) as said
        from (
            select 'table ' || c.relname as name,
                coalesce(c.relacl, acldefault(case c.relkind when 'S' then 's' else 'r' end::"char", c.relowner)) as acl
            from pg_class c
            where c.relkind in ('r', 'p', 'v', 'm', 'f', 'S')
                and c.relnamespace in ('public'::regnamespace, 'cutter_governance'::regnamespace, 'api'::regnamespace)
            union all
            select 'column ' || c.relname || '.' || a.attname, a.attacl
            from pg_attribute a join pg_class c on c.oid = a.attrelid
            where a.attacl is not null
                and c.relnamespace in ('public'::regnamespace, 'cutter_governance'::regnamespace, 'api'::regnamespace)
            union all
            select 'schema ' || n.nspname, coalesce(n.nspacl, acldefault('n', n.nspowner))
            from pg_namespace n where n.nspname in ('public', 'cutter_governance', 'api')
            union all
            select 'database', coalesce(d.datacl, acldefault('d', d.datdba))
            from pg_database d where d.datname = current_database()
            union all
            select 'default of ' || pg_get_userbyid(a.defaclrole) || ' ' || a.defaclobjtype::text || ' '
                || coalesce(n.nspname, 'everywhere'), a.defaclacl
            from pg_default_acl a left join pg_namespace n on n.oid = a.defaclnamespace
        ) as lists
        union all
        select 'role ' || r.rolname, concat_ws(' ', r.rolsuper, r.rolinherit, r.rolcreaterole, r.rolcreatedb,
            r.rolreplication, r.rolbypassrls,
            (select string_agg(g.rolname, ',' order by g.rolname) from pg_auth_members m
             join pg_roles g on g.oid = m.roleid where m.member = r.oid),
            'held by ' || (select string_agg(g.rolname, ',' order by g.rolname) from pg_auth_members m
             join pg_roles g on g.oid = m.member where m.roleid = r.oid))
        from pg_roles r
        where r.rolname in ('cutter_owner', 'cutter_read', 'cutter_backup', 'cutter_exec', 'cutter_verify',
            'cutter_operator', 'directus', 'cutter_api', 'cutter_desk')
        union all
        select name, settings from (
            select 'settings of ' || coalesce(r.rolname, 'everyone')
                    || case s.setdatabase when 0 then '' else ' here' end as name,
                -- Settings that only name, log, time, plan or give memory are left out: a role may change most of them for
                -- itself, and at worst a statement fails. A setting that this list does not know counts.
                (select string_agg(setting, '; ' order by setting collate "C") from unnest(s.setconfig) as setting
                 where lower(split_part(setting, '=', 1)) !~ ('^(application_name|client_min_messages|[a-z_]*timeout'
                    || '|client_connection_check_interval|temp_file_limit|[a-z_]*work_mem|hash_mem_multiplier|temp_buffers'
                    || '|(log|track|tcp|enable|cpu|geqo|jit|max_parallel|min_parallel|vacuum)(_[a-z_]*)?'
                    || '|(seq|random)_page_cost|effective_[a-z_]*|(from|join)_collapse_limit|plan_cache_mode)$')
                ) as settings
            from pg_db_role_setting s
            left join pg_roles r on r.oid = s.setrole
            where s.setdatabase in (0, (select oid from pg_database where datname = current_database()))
                and (s.setrole = 0 or r.rolname in ('cutter_owner', 'cutter_exec'))) as set_for_writers
        where settings is not null
    ) as grants
$$;
