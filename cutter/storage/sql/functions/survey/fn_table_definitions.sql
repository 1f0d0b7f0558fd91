-- Returns every table and view of the product's schemas by name, with all that decides what it holds.
create or replace function cutter_governance.fn_table_definitions() returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select jsonb_object_agg(c.relname, jsonb_build_object(
        'kind', c.relkind, 'owner', pg_get_userbyid(c.relowner), 'row_security', c.relrowsecurity,
        'forced', c.relforcerowsecurity, 'persistence', c.relpersistence, 'children', c.relhassubclass,
        'options', coalesce(array_to_string(c.reloptions, '; '), ''), 'rules', c.relhasrules,
        'view', case when c.relkind in ('v', 'm') then md5(pg_get_viewdef(c.oid)) end, 'columns', columns.list,
        'constraints', constraints.list, 'indexes', indexes.list))
    from pg_class c
    cross join lateral (
        select string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || ' ' || a.attnotnull || ' '
            || coalesce(pg_get_expr(d.adbin, d.adrelid), ''), '; ' order by a.attnum) as list
        from pg_attribute a
        left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns
    cross join lateral (
        select string_agg(k.conname || ' ' || pg_get_constraintdef(k.oid) || ' ' || k.convalidated, '; '
            order by k.conname) as list
        from pg_constraint k where k.conrelid = c.oid) as constraints
    cross join lateral (
        select string_agg(pg_get_indexdef(i.indexrelid) || ' ' || i.indisvalid, '; ' order by i.indexrelid::regclass::text) as list
        from pg_index i where i.indrelid = c.oid) as indexes
    where c.relkind in ('r', 'p', 'v', 'm', 'f')
        and c.relnamespace in ('public'::regnamespace, 'cutter_governance'::regnamespace, 'api'::regnamespace)
$$;
