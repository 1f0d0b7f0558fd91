-- Appends one event to the chain of a run. Lock order: the chain's head is locked last.
create or replace function cutter_governance.fn_audit(p_run_id text, p_kind text, p_event jsonb) returns text
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
    select cutter_governance.fn_audit_append(p_run_id, p_run_id, p_kind, p_event)
$$;
