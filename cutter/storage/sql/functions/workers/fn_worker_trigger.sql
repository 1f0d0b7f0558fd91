-- Returns the trigger of a worker's transition, or null. cutter/lifecycle declares the same table.
create or replace function cutter_governance.fn_worker_trigger(p_from text, p_to text) returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
return case p_from || ' ' || p_to
    when 'initializing idle' then 'registration_complete'
    when 'idle busy' then 'task_assigned'
    when 'busy idle' then 'task_completed'
    when 'idle unresponsive' then 'health_check_timeout'
    when 'busy unresponsive' then 'health_check_timeout'
    when 'unresponsive idle' then 'health_check_recovered'
    when 'unresponsive shutdown' then 'max_timeout_exceeded'
    when 'initializing shutdown' then 'shutdown_requested'
    when 'idle shutdown' then 'shutdown_requested'
    when 'busy shutdown' then 'shutdown_requested'
end;
