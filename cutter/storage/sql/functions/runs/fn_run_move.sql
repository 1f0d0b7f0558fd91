-- Moves a run to a state and records the transition with seed 004's fields; every change of a run's state goes
-- through here. A stop that only a signature resumes is not replaced by one that any operator resumes.
create or replace function cutter_governance.fn_run_move(
    p_run_id text, p_to text, p_trigger text, p_severity text default 'info', p_metadata jsonb default '{}')
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_from text;
    v_ended boolean := p_to in ('closeout_reported', 'skipped') or p_to like 'failed\_%' or p_to like 'voided\_%';
begin
    select state into v_from from cutter_governance.run where run_id = p_run_id for update;
    if v_from = p_to or (cutter_governance.fn_stop_is_signed(v_from) and p_to like 'stopped\_%'
        and not cutter_governance.fn_stop_is_signed(p_to))
    then
        return;
    end if;
    update cutter_governance.run
    set state = p_to, state_at = clock_timestamp(), ended_at = case when v_ended then clock_timestamp() end
    where run_id = p_run_id;
    perform cutter_governance.fn_audit(p_run_id, 'transition', jsonb_build_object(
        'timestamp', cutter_governance.fn_utc(clock_timestamp()), 'event_type', 'document_run_state_transition',
        'severity', case when p_to like 'failed\_%' then 'error' else p_severity end, 'entity_id', p_run_id,
        'from_state', v_from, 'to_state', p_to, 'trigger', p_trigger, 'metadata', p_metadata));
    if v_ended then
        perform cutter_governance.fn_audit_anchor(p_run_id, 'run_ended');
    end if;
end
$$;
