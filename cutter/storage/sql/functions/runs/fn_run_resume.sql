-- Resumes a stopped run and returns a status. A latched stop, drift and the hard cap consume an accepted statement that
-- was judged after the stop; a policy's stop needs enough approvals. An acknowledgement of drift lifts no stop.
create or replace function cutter_governance.fn_run_resume(p_run_id text, p_statement_sha256 text default null) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run cutter_governance.run;
    latch cutter_governance.stop_latch;
    verdict cutter_governance.approval_verdict;
    v_stop jsonb;
    v_after jsonb;
    v_survey jsonb;
    v_needed text;
    v_reached text;
begin
    select * into latch from cutter_governance.stop_latch where run_id = p_run_id for update;
    select * into v_run from cutter_governance.run where run_id = p_run_id for update;
    if v_run.state is null or v_run.state not like 'stopped\_%' then
        return jsonb_build_object('status', 'not_stopped', 'state', v_run.state);
    end if;
    v_stop := cutter_governance.fn_policy_stop(p_run_id);
    if (latch.stopped or cutter_governance.fn_stop_is_signed(v_run.state))
        and not coalesce(p_statement_sha256 is null and not latch.stopped
            and (v_stop -> 'have')::integer >= (v_stop -> 'needed')::integer, false)
    then
        v_needed := case when v_run.state like 'stopped\_drift\_%' then 'acknowledge_drift' else 'resume' end;
        verdict := cutter_governance.fn_resume_verdict(v_run, latch, p_statement_sha256, v_needed);
        if verdict.approval_sha256 is null then
            return jsonb_build_object('status', 'refused', 'code', 'signed_statement_needed', 'decision', v_needed);
        end if;
        if v_needed = 'acknowledge_drift' then
            v_survey := cutter_governance.fn_survey(p_run_id, coalesce(v_run.docprefix, ''));
            if cutter_governance.fn_digest(v_survey::text) is distinct from verdict.statement ->> 'fingerprint' then
                perform cutter_governance.fn_drift_note(p_run_id, v_survey);
                return jsonb_build_object('status', 'refused', 'code', 'not_what_was_acknowledged', 'decision', v_needed);
            end if;
        end if;
        insert into cutter_governance.order_consumption (
            statement_sha256, run_id, decision, approver, fingerprint, stopped_state, stopped_at)
        values (verdict.approval_sha256, p_run_id, verdict.decision, verdict.approver, verdict.fingerprint, v_run.state,
            greatest(v_run.state_at, case when latch.stopped then latch.set_at end));
        v_after := cutter_governance.fn_policy_stop(p_run_id);
        if v_needed = 'resume' and (v_after -> 'have')::integer < (v_after -> 'needed')::integer then
            return v_after || jsonb_build_object('state', v_run.state, 'decision', v_needed)
                || case when v_after -> 'have' = v_stop -> 'have'
                    then jsonb_build_object('status', 'refused', 'code', 'approved_before')
                    else jsonb_build_object('status', 'more_needed', 'code', 'more_needed') end;
        end if;
        if v_needed = 'acknowledge_drift' then
            insert into cutter_governance.drift_acknowledgement (run_id, statement_sha256, after_pins, pin_seq)
            values (p_run_id, verdict.approval_sha256, v_survey, nextval('cutter_governance.pin_seq'));
        else
            update cutter_governance.stop_latch set stopped = false, kind = null where run_id = p_run_id;
        end if;
    end if;
    select coalesce(max(c.to_state), 'pending') into v_reached from (
        select c.to_state from cutter_governance.gate_receipt r
        join cutter_governance.gate_catalogue c on c.gate = r.gate
        where r.run_id = p_run_id and r.sealed_at is not null order by c.ordinal desc limit 1) as c;
    perform cutter_governance.fn_run_move(p_run_id, v_reached, 'resume', 'info',
        jsonb_build_object('statement_sha256', verdict.approval_sha256, 'approver', verdict.approver));
    return jsonb_build_object('status', 'resumed', 'state', v_reached);
end
$$;
