-- Returns what is wrong with a record of which policy and which of its rules decided, or null; an empty record names
-- none.
create or replace function cutter_governance.fn_rule_problem(p_rule jsonb) returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
return case
    when jsonb_typeof(p_rule) is distinct from 'object' then 'has a policy that is no object'
    when p_rule <> '{}' and coalesce(p_rule ->> 'sha256', '') !~ '^[0-9a-f]{64}$' then 'has a policy without its sha256'
    else cutter_governance.fn_keys_problem(p_rule, '{"sha256": "digest", "rule": "line", "line": "count"}')
end;
