-- Opens a gate in the caller's transaction, or returns why not. One leg A and one enactment run at a time. An older
-- snapshot would not see a revocation, a newer attempt or a stop. The caller must roll back on every status but
-- 'opened', and COMMIT refuses the others anyway.
create or replace function cutter_governance.fn_gate_open(
    p_run_id text, p_gate text, p_attempt integer, p_payload_sha256 text, p_approvals jsonb default '[]',
    p_rehearse boolean default false, p_policy jsonb default null) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    step cutter_governance.gate_catalogue;
    v_run cutter_governance.run;
    latch cutter_governance.stop_latch;
    v_answer jsonb;
    v_prev text;
    v_refusal text;
    v_drift jsonb;
begin
    select * into step from cutter_governance.gate_catalogue where gate = p_gate;
    v_refusal := case when step.role is distinct from session_user then 'wrong_role'
        when current_setting('transaction_isolation') <> 'read committed' then 'isolation' end;
    if v_refusal is not null then
        return jsonb_build_object('status', 'refused', 'code', v_refusal);
    end if;
    if not cutter_governance.fn_lane_take(step.lane, p_run_id) then
        return jsonb_build_object('status', 'lane_busy');
    end if;
    select * into latch from cutter_governance.stop_latch where run_id = p_run_id for share;
    if not found then
        return jsonb_build_object('status', 'refused', 'code', 'unknown_run');
    end if;
    v_answer := cutter_governance.fn_gate_claim(p_run_id, p_gate, p_attempt, p_payload_sha256, p_rehearse, p_policy);
    if v_answer is not null then
        return v_answer;
    end if;
    select * into v_run from cutter_governance.run where run_id = p_run_id;
    v_answer := cutter_governance.fn_stop_answer(v_run, latch);
    if v_answer is not null then
        return v_answer;
    end if;
    v_prev := cutter_governance.fn_prev_hash(p_run_id, p_gate);
    v_refusal := cutter_governance.fn_gate_refusal(v_run, step, p_attempt, v_prev, p_rehearse, p_policy);
    if v_refusal is not null then
        return jsonb_build_object('status', 'refused', 'code', v_refusal);
    end if;
    v_drift := cutter_governance.fn_receipts_drift(p_run_id);
    if v_drift is not null then
        return jsonb_build_object('status', 'drift', 'drift', v_drift);
    end if;
    if step.sovereign is not null and not p_rehearse then
        v_refusal := cutter_governance.fn_approvals_consume(v_run, step.sovereign, p_approvals, p_policy);
        if v_refusal is not null then
            return jsonb_build_object('status', 'approval_refused', 'code', v_refusal);
        end if;
    end if;
    v_answer := cutter_governance.fn_gate_survey(v_run, step);
    if v_answer ->> 'status' = 'opened' then
        -- the claim may have waited for the run's row, and what was recorded meanwhile is before the opening
        update cutter_governance.gate_receipt
        set prev_hash = v_prev, before_pins = v_answer -> 'before_pins', opened_at = clock_timestamp()
        where run_id = p_run_id and gate = p_gate;
        perform cutter_governance.fn_policy_note(p_policy);
    end if;
    return v_answer;
end
$$;
