-- Returns one line for each difference of one dimension: object, attribute, before and after.
create or replace function cutter_governance.fn_drift_diff(p_expected jsonb, p_observed jsonb) returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select coalesce(jsonb_agg(line), '[]') from (
        select name || ': ' || case
            when before is null then 'appeared'
            when after is null then 'disappeared'
            when jsonb_typeof(before) = 'object' and jsonb_typeof(after) = 'object' then (
                select string_agg(key || ' ' || left(coalesce(before ->> key, '(none)'), 200) || ' → '
                    || left(coalesce(after ->> key, '(none)'), 200), ', ' order by key)
                from (select jsonb_object_keys(before) as key union select jsonb_object_keys(after)) as keys
                where before -> key is distinct from after -> key)
            else left(before #>> '{}', 200) || ' → ' || left(after #>> '{}', 200) end as line
        from (
            select coalesce(b.key, a.key) as name, b.value as before, a.value as after
            from jsonb_each(case jsonb_typeof(p_expected) when 'object' then p_expected else jsonb_build_object('value', p_expected) end) as b
            full join jsonb_each(case jsonb_typeof(p_observed) when 'object' then p_observed else jsonb_build_object('value', p_observed) end) as a
                on a.key = b.key
            where a.value is distinct from b.value
            order by 1 limit 40) as differing) as lines
$$;
