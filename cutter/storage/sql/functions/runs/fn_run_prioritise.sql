-- Sets the priority of a single run that has not begun.
create or replace function cutter_governance.fn_run_prioritise(p_run_id text, p_priority integer) returns void
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
    update cutter_governance.run set priority = p_priority
    where run_id = p_run_id and state = 'pending' and ended_at is null and batch_id is null
$$;
