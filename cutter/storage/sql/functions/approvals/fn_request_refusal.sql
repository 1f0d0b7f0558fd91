-- Returns the answer to a caller whose run cannot ask for approval at a sovereign gate now, or null.
create or replace function cutter_governance.fn_request_refusal(
    p_run cutter_governance.run, p_latch cutter_governance.stop_latch, p_epoch cutter_governance.policy_epoch,
    p_gate text) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_step cutter_governance.gate_catalogue;
    v_code text;
    v_stop jsonb := cutter_governance.fn_stop_answer(p_run, p_latch);
begin
    v_code := case
        when p_run.run_id is null then 'unknown_run'
        when p_epoch.number is null then 'no_policy_epoch'
        when p_run.ended_at is not null then 'run_ended' end;
    if v_code is null and v_stop is not null then
        return v_stop;
    end if;
    select * into v_step from cutter_governance.gate_catalogue where sovereign = p_gate;
    v_code := coalesce(v_code, case
        when exists (select from cutter_governance.gate_receipt r
                     where r.run_id = p_run.run_id and r.gate = v_step.gate and r.sealed_at is not null)
            then 'gate_sealed_before'
        when cutter_governance.fn_prev_hash(p_run.run_id, v_step.gate) is null then 'predecessor_not_sealed' end);
    return case when v_code is not null then jsonb_build_object('status', 'refused', 'code', v_code) end;
end
$$;
