-- Returns what is wrong with a worker's list of task queues, or null. Its form is [{queue, slots, used}].
create or replace function cutter_governance.fn_queues_problem(p_queues jsonb) returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
return case when jsonb_typeof(p_queues) is distinct from 'array' then 'is no array' else (
    select 'has an entry that is not queue, slots and used' as problem from jsonb_array_elements(p_queues) as one
    where jsonb_typeof(one) <> 'object' or jsonb_typeof(one -> 'queue') is distinct from 'string'
        or one -> 'slots' is null or one -> 'used' is null
        or cutter_governance.fn_keys_problem(one, '{"slots": "count", "used": "count"}') is not null limit 1) end;
