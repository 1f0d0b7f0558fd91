-- Returns what makes a JSON value unreadable for other programs, or null: size, depth, or a huge number.
create or replace function cutter_governance.fn_json_problem(p_value jsonb, p_bytes integer) returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
return case
    when octet_length(p_value::text) > p_bytes then format('is longer than %s bytes', p_bytes)
    when jsonb_path_exists(p_value, 'strict $.**{16 to last}') then 'is nested more than 15 deep'
    when jsonb_path_exists(p_value, 'strict $.** ? (@.type() == "number" && (@ > 9007199254740991 || @ < -9007199254740991))')
        then 'has a number beyond 2^53'
end;
