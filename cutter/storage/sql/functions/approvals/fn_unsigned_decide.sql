-- Records what a person decides about a policy's stop without a signature; `p_account` identified the person, such as a
-- Slack user. A second answer changes nothing. A rejection cancels the run.
create or replace function cutter_governance.fn_unsigned_decide(
    p_run_id text, p_stop text, p_decision text, p_approver text, p_account text) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run cutter_governance.run;
    v_stop jsonb;
    mine cutter_governance.unsigned_decision;
begin
    perform from cutter_governance.stop_latch where run_id = p_run_id for update;
    select * into v_run from cutter_governance.run where run_id = p_run_id for update;
    v_stop := cutter_governance.fn_policy_stop(p_run_id);
    select * into mine from cutter_governance.unsigned_decision
    where stop = p_stop and (approver = p_approver or account = p_account) order by id limit 1;
    if mine.id is null then
        if v_stop ->> 'stop' is distinct from p_stop then
            return jsonb_build_object('status', 'refused', 'code', 'decided_already');
        end if;
        if not (v_stop -> 'unsigned')::boolean then
            return jsonb_build_object('status', 'refused', 'code', 'signature_needed');
        end if;
        if p_approver = v_run.starter then
            return jsonb_build_object('status', 'refused', 'code', 'approver_is_starter');
        end if;
        insert into cutter_governance.unsigned_decision (run_id, gate, stop, tier, decision, approver, account)
        values (p_run_id, v_stop ->> 'gate', p_stop, v_stop ->> 'tier', p_decision, p_approver, p_account)
        returning * into mine;
        perform cutter_governance.fn_audit(p_run_id, 'unsigned_decision', to_jsonb(mine) - 'id');
        if p_decision = 'reject' then
            perform cutter_governance.fn_stop_set(p_run_id, 'cancel', 'rejected by ' || p_approver, p_approver);
        end if;
    elsif (mine.approver, mine.account, mine.decision) <> (p_approver, p_account, p_decision) then
        return jsonb_build_object('status', 'refused', 'code', 'same_person');
    end if;
    return jsonb_build_object('status', 'recorded',
        'have', cutter_governance.fn_gate_approvers(p_run_id, mine.gate) -> mine.tier,
        'needed', cutter_governance.fn_gate_needs(mine.gate) -> mine.tier);
end
$$;
