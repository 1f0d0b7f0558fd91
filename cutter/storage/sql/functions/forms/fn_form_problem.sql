-- Returns why a value is not of the named form, or null. The answer continues a sentence that begins with the column.
create or replace function cutter_governance.fn_form_problem(p_form text, p_value jsonb) returns text
language sql stable parallel safe
set search_path = pg_catalog, pg_temp
return case when p_value is null then null else case p_form
    when 'digest' then case when p_value #>> '{}' !~ '^[0-9a-f]{64}$' then 'is no sha256 of 64 hex characters' end
    when 'document id' then case when p_value #>> '{}' !~ '^([A-Za-z0-9_-][A-Za-z0-9._-]*/)*[A-Za-z0-9_-][A-Za-z0-9._-]*\.md$'
        or length(p_value #>> '{}') > 512 then 'is no name of a document' end
    when 'name' then case when length(p_value #>> '{}') > 100 then 'is longer than 100 characters' end
    when 'line' then case when length(p_value #>> '{}') > 512 then 'is longer than 512 characters' end
    when 'target' then case when length(p_value #>> '{}') > 2048 then 'is longer than 2048 characters' end
    when 'rules' then case when octet_length(p_value #>> '{}') > 65536 then 'is longer than 64 KiB' end
    when 'document' then case when octet_length(p_value #>> '{}') > 16777216 then 'is longer than 16 MiB' end
    when 'statement' then coalesce(
        cutter_governance.fn_json_problem(p_value, 131072), cutter_governance.fn_keys_problem(p_value, '{}'))
    when 'findings' then coalesce(cutter_governance.fn_json_problem(p_value, 262144),
        case when jsonb_typeof(p_value) <> 'array' then 'is no array' end)
    when 'error' then coalesce(cutter_governance.fn_json_problem(p_value, 524288), cutter_governance.fn_keys_problem(
        p_value, '{"gate": "line", "outcome": "line", "reason": "line", "at": "line", "report": "object"}'))
    when 'caps' then coalesce(cutter_governance.fn_json_problem(p_value, 16384),
        cutter_governance.fn_keys_problem(p_value, '{"soft_seconds": "object", "retry_delays_seconds": "array"}'), (
        select format('has a %s that is no number', key) from jsonb_each(p_value) as cap (key, value)
        where key not in ('soft_seconds', 'retry_delays_seconds')
            and jsonb_typeof(value) not in ('number', 'boolean', 'null') limit 1))
    when 'queues' then coalesce(cutter_governance.fn_json_problem(p_value, 16384),
        case when jsonb_typeof(p_value) <> 'array' then 'is no array' else (
            select 'has an entry that is not queue, slots and used' as problem from jsonb_array_elements(p_value) as one
            where jsonb_typeof(one) <> 'object' or jsonb_typeof(one -> 'queue') is distinct from 'string'
                or one -> 'slots' is null or one -> 'used' is null
                or cutter_governance.fn_keys_problem(one, '{"slots": "count", "used": "count"}') is not null limit 1) end)
    when 'report' then coalesce(
        cutter_governance.fn_json_problem(p_value, 262144),
        cutter_governance.fn_keys_problem(p_value, '{"gate": "line", "invariants": "array", "pins": "object",
            "notes": "array", "approvals": "array", "history": "object", "cpu_ms": "number", "tier": "string",
            "dimension": "string", "fingerprint": "line", "diff": "array"}'),
        (select 'has an invariant that is not name, ok, observed and expected' as problem
         from jsonb_array_elements(p_value -> 'invariants') as one
         where jsonb_typeof(one) <> 'object' or jsonb_typeof(one -> 'name') is distinct from 'string'
            or jsonb_typeof(one -> 'ok') is distinct from 'boolean' or jsonb_typeof(one -> 'observed') is distinct from 'string'
            or jsonb_typeof(one -> 'expected') is distinct from 'string' limit 1),
        (select format('has %s that are no texts', key)
         from unnest(array['notes', 'approvals', 'diff']) as key, jsonb_array_elements(p_value -> key) as one
         where jsonb_typeof(one) <> 'string' limit 1),
        (select format('has a pin %s of another type', key) from jsonb_each(p_value -> 'pins') as pin (key, value)
         where jsonb_typeof(value) <> 'null' and case
            when key ~ '_(sha256|digest|artifact|id)$' then jsonb_typeof(value) <> 'string'
            when key in ('candidate_count', 'units_created', 'units_enacted') then
                not cutter_governance.fn_key_is(p_value -> 'pins', key, 'count')
            else false end limit 1),
        case when p_value ? 'policy' then cutter_governance.fn_policy_problem(p_value -> 'policy') end)
    when 'policy' then coalesce(
        cutter_governance.fn_json_problem(p_value, 262144), cutter_governance.fn_policy_problem(p_value))
    when 'request' then coalesce(cutter_governance.fn_json_problem(p_value, 16384),
        cutter_governance.fn_keys_problem(p_value, '{"kind": "line", "risk": "line", "recipient": "line", "attempts": "count"}'),
        case
            when coalesce(jsonb_typeof(p_value -> 'policy'), 'null') = 'null' then null
            when jsonb_typeof(p_value -> 'policy') <> 'object' then 'has a policy that is no object'
            when p_value -> 'policy' <> '{}' and coalesce(p_value -> 'policy' ->> 'sha256', '') !~ '^[0-9a-f]{64}$'
                then 'has a policy without its sha256'
            else cutter_governance.fn_keys_problem(
                p_value -> 'policy', '{"sha256": "digest", "rule": "line", "line": "count"}') end)
    when 'response' then coalesce(cutter_governance.fn_json_problem(p_value, 16384), cutter_governance.fn_keys_problem(
            p_value, '{"sha256": "digest", "size_bytes": "count", "taken_utc": "line", "message_ts": "line",
                "restore_point": "object"}'),
        case when p_value ->> 'taken_utc' is not null and not pg_input_is_valid(p_value ->> 'taken_utc', 'timestamptz')
            then 'has a taken_utc that is no time' end)
    else 'has an unknown form ' || p_form
end end;
