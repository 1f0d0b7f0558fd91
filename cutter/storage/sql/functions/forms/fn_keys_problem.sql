-- Returns the first key of a value that is not as declared (key → type), or null; the value must be an object.
create or replace function cutter_governance.fn_keys_problem(p_value jsonb, p_declared jsonb) returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
return case when jsonb_typeof(p_value) is distinct from 'object' then 'is no object' else (
    select format('has a %s that is no %s', key, type)
    from jsonb_each_text(p_declared) as declared (key, type)
    where not cutter_governance.fn_key_is(p_value, key, type) order by key limit 1) end;
