-- Records each end of a request on the run's chain as an approval's transition (seed 003).
create or replace function cutter_governance.fn_approval_moved() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform cutter_governance.fn_audit(new.run_id, 'approval_transition', jsonb_build_object(
        'timestamp', cutter_governance.fn_utc(clock_timestamp()), 'event_type', 'approval_state_transition',
        'severity', case new.status when 'approved' then 'info' else 'warning' end, 'entity_id', new.request_id,
        'from_state', old.status, 'to_state', new.status, 'trigger', new.status,
        'metadata', jsonb_build_object('run_id', new.run_id, 'gate', new.gate, 'n', new.n)));
    return null;
end
$$;
