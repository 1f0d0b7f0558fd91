-- Returns what is wrong with the report of an attempt, a receipt or a stop, or null: known keys must have their
-- types.
create or replace function cutter_governance.fn_report_problem(p_report jsonb) returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
return coalesce(
    cutter_governance.fn_json_problem(p_report, 262144),
    cutter_governance.fn_keys_problem(p_report, '{"gate": "line", "invariants": "array", "pins": "object",
        "notes": "array", "approvals": "array", "history": "object", "cpu_ms": "number", "tier": "string",
        "dimension": "string", "fingerprint": "line", "diff": "array"}'),
    (select 'has an invariant that is not name, ok, observed and expected' as problem
     from jsonb_array_elements(p_report -> 'invariants') as one
     where jsonb_typeof(one) <> 'object' or jsonb_typeof(one -> 'name') is distinct from 'string'
        or jsonb_typeof(one -> 'ok') is distinct from 'boolean' or jsonb_typeof(one -> 'observed') is distinct from 'string'
        or jsonb_typeof(one -> 'expected') is distinct from 'string' limit 1),
    (select format('has %s that are no texts', key)
     from unnest(array['notes', 'approvals', 'diff']) as key, jsonb_array_elements(p_report -> key) as one
     where jsonb_typeof(one) <> 'string' limit 1),
    (select format('has a pin %s of another type', key) from jsonb_each(p_report -> 'pins') as pin (key, value)
     where jsonb_typeof(value) <> 'null' and case
        when key ~ '_(sha256|digest|artifact|id)$' then jsonb_typeof(value) <> 'string'
        when key in ('candidate_count', 'units_created', 'units_enacted') then
            not cutter_governance.fn_key_is(p_report -> 'pins', key, 'count')
        else false end limit 1),
    case when p_report ? 'policy' then cutter_governance.fn_policy_problem(p_report -> 'policy') end);
