-- Returns what is wrong with a policy's decisions on a gate, or null. Without a policy file the sha256 is empty.
create or replace function cutter_governance.fn_policy_problem(p_policy jsonb) returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
return case
    when jsonb_typeof(p_policy) is distinct from 'object' then 'has a policy that is no object'
    when exists (select from jsonb_object_keys(p_policy) as key where key not in ('sha256', 'decisions'))
        then 'has a policy with other keys than sha256 and decisions'
    when jsonb_typeof(p_policy -> 'sha256') is distinct from 'string' or p_policy ->> 'sha256' !~ '^([0-9a-f]{64})?$'
        then 'has a policy whose sha256 is not 64 hex characters'
    when jsonb_typeof(p_policy -> 'decisions') is distinct from 'array' then 'has a policy whose decisions are no array'
    when jsonb_array_length(p_policy -> 'decisions') > 100 then 'has a policy with more than 100 decisions'
    else (
        select format('has decision %s of its policy, which %s', number, problem)
        from jsonb_array_elements(p_policy -> 'decisions') with ordinality as one (decision, number), lateral (select case
            when jsonb_typeof(decision) <> 'object' then 'is no object'
            when exists (select from jsonb_object_keys(decision) as key where key not in (
                'connector', 'operation', 'verdict', 'tier', 'rule', 'line', 'why')) then 'has unknown keys'
            when decision ->> 'connector' is null or decision ->> 'operation' is null
                then 'lacks its connector or operation'
            else cutter_governance.fn_keys_problem(decision, '{"connector": "line", "operation": "line",
                "verdict": "line", "tier": "line", "rule": "line", "line": "count", "why": "string"}')
            end as problem) as judged
        where problem is not null order by number limit 1)
end;
