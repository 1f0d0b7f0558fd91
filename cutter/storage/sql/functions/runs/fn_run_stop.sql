-- Moves a run into stopped_<reason>, or cancels one that has written nothing, and returns its state. A drift stop is
-- accepted only if the database sees the drift too, whose report a signed acknowledgement then names.
create or replace function cutter_governance.fn_run_stop(p_run_id text, p_state text, p_reason text, p_report jsonb default null)
returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run cutter_governance.run;
    v_survey jsonb;
    v_drift jsonb;
    v_wrote boolean := exists (
        select from cutter_governance.gate_receipt where run_id = p_run_id and gate = 'IG_cut_leg_a_execute');
begin
    select * into v_run from cutter_governance.run where run_id = p_run_id for update;
    if v_run.ended_at is not null or v_run.state = p_state or (cutter_governance.fn_stop_is_signed(v_run.state)
        and p_state like 'stopped\_%' and (not cutter_governance.fn_stop_is_signed(p_state)
            -- as a policy's stop it would continue with the approvals that exist already
            or p_state like 'stopped\_policy\_%'))
    then
        return jsonb_build_object('state', v_run.state);
    end if;
    if p_state !~ '^(stopped|failed)_[a-z0-9_]+$' and (p_state <> 'voided_cancelled' or v_wrote
        or not (select stopped and kind = 'cancel' from cutter_governance.stop_latch where run_id = p_run_id))
    then
        raise exception 'run %: % is neither a stop nor a failure', p_run_id, p_state using errcode = 'CU006';
    end if;
    if p_state like 'stopped\_drift\_%' then
        v_survey := cutter_governance.fn_survey(p_run_id, coalesce(v_run.docprefix, ''));
        v_drift := cutter_governance.fn_drift(cutter_governance.fn_expected_pins(p_run_id), v_survey);
        if v_drift is null then
            return jsonb_build_object('state', v_run.state);
        end if;
    end if;
    update cutter_governance.run set last_error = jsonb_build_object('outcome', p_state, 'reason', left(p_reason, 500),
        'report', coalesce(v_drift, p_report), 'at', cutter_governance.fn_utc(clock_timestamp())) where run_id = p_run_id;
    perform cutter_governance.fn_run_move(p_run_id, p_state, 'stop', 'warning', jsonb_build_object('reason', left(p_reason, 500)));
    return jsonb_build_object('state', (select state from cutter_governance.run where run_id = p_run_id));
end
$$;
