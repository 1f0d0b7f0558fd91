-- Opens a gate in the caller's transaction, or returns why not. The checks are: role, lane, stop latch, claim, state,
-- predecessor, fence, mode, policy, receipts, approvals, survey. The caller must roll back on every status but
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
    receipt cutter_governance.gate_receipt;
    v_prev text;
    v_docprefix text;
    v_refusal text;
    v_survey jsonb;
    v_drift jsonb;
    v_has_lane boolean := false;
begin
    select * into step from cutter_governance.gate_catalogue where gate = p_gate;
    if not found or step.role <> session_user then
        return jsonb_build_object('status', 'refused', 'code', 'wrong_role');
    end if;
    if current_setting('transaction_isolation') <> 'read committed' then
        -- an older snapshot would not see a revocation, a newer attempt or a stop
        return jsonb_build_object('status', 'refused', 'code', 'isolation');
    end if;
    -- one leg A and one enactment at a time, across all runs and workers; an enactment is short enough to wait for
    if step.lane is not null then
        -- `fn_lanes` reads from this name which run holds the lane
        perform set_config('application_name', left(p_run_id, 63), true);
    end if;
    if step.lane = 'write' then
        perform from cutter_governance.lane where name = 'write' for update skip locked;
        if not found then
            return jsonb_build_object('status', 'lane_busy');
        end if;
    elsif step.lane = 'enact' then
        -- only a lock of the transaction itself names its process: one that was waited for is let go and taken again
        for v_try in 1 .. 20 loop
            perform from cutter_governance.lane where name = 'enact' for update skip locked;
            v_has_lane := found;
            exit when v_has_lane;
            begin
                perform from cutter_governance.lane where name = 'enact' for update;
                raise exception 'the lane is free';
            exception
                when lock_not_available then
                    exit;
                when raise_exception then
                    null;
            end;
        end loop;
        if not v_has_lane then
            return jsonb_build_object('status', 'lane_busy');
        end if;
    end if;
    select * into latch from cutter_governance.stop_latch where run_id = p_run_id for share;
    if not found then
        return jsonb_build_object('status', 'refused', 'code', 'unknown_run');
    end if;
    insert into cutter_governance.gate_receipt (
        run_id, gate, attempt, role, rehearsal, payload_sha256, prev_hash, before_pins, policy)
    values (p_run_id, p_gate, p_attempt, session_user, p_rehearse, p_payload_sha256, '', '{}', p_policy - 'text')
    on conflict (run_id, gate) do nothing;
    if not found then
        select * into receipt from cutter_governance.gate_receipt where run_id = p_run_id and gate = p_gate;
        if receipt.sealed_at is null then
            return jsonb_build_object('status', 'refused', 'code', 'open_already');
        end if;
        return jsonb_build_object('receipt', cutter_governance.fn_receipt_view(receipt), 'status',
            case when receipt.payload_sha256 = p_payload_sha256 then 'sealed' else 'conflict' end);
    end if;
    select * into v_run from cutter_governance.run where run_id = p_run_id;
    if latch.stopped then
        return jsonb_build_object('status', 'stopped', 'kind', latch.kind, 'reason', latch.reason);
    end if;
    if v_run.state like 'stopped\_%' then
        return jsonb_build_object('status', 'stopped', 'kind', substr(v_run.state, 9),
            'reason', 'the run is ' || v_run.state || ' and was not resumed');
    end if;
    v_prev := cutter_governance.fn_prev_hash(p_run_id, p_gate);
    v_refusal := case
        when v_run.ended_at is not null then 'run_ended'
        when v_prev is null then 'predecessor_not_sealed'
        when p_attempt is distinct from (select max(n) from cutter_governance.gate_attempt
                                         where run_id = p_run_id and gate = p_gate) then 'stale_attempt'
        when p_rehearse and (v_run.mode <> 'dryrun' or not step.rehearsable) then 'mode_forbids_rehearsal'
        when not p_rehearse and v_run.mode = 'dryrun' and exists (
            select from cutter_governance.gate_catalogue g where g.rehearsable and g.ordinal <= step.ordinal)
            then 'mode_forbids_write'
        else cutter_governance.fn_policy_refusal(p_run_id, step, p_policy) end;
    if v_refusal is not null then
        return jsonb_build_object('status', 'refused', 'code', v_refusal);
    end if;
    v_drift := cutter_governance.fn_receipts_drift(p_run_id);
    if v_drift is not null then
        return jsonb_build_object('status', 'drift', 'drift', v_drift);
    end if;
    if step.sovereign is not null and not p_rehearse then
        -- shared by all gates that consume approvals; `fn_policy_install` waits for them and they for it
        perform from cutter_governance.lane where name = 'policy_epoch' for share;
        v_refusal := cutter_governance.fn_approvals_consume(v_run, step.sovereign, p_approvals, p_policy);
        if v_refusal is not null then
            return jsonb_build_object('status', 'approval_refused', 'code', v_refusal);
        end if;
    end if;
    v_docprefix := coalesce(v_run.docprefix,
        (select address_docprefix from public.source_document where doc_code = v_run.document_id), '');
    v_survey := cutter_governance.fn_survey(p_run_id, v_docprefix);
    v_drift := cutter_governance.fn_drift(cutter_governance.fn_expected_pins(p_run_id), v_survey);
    if v_drift is not null then
        return jsonb_build_object('status', 'drift', 'drift', v_drift);
    end if;
    if step.effect = 'units_enacted' then
        v_survey := v_survey || jsonb_build_object('row_content_enacted',
            cutter_governance.fn_rows_fingerprint(v_docprefix, 'enacted') -> 'fingerprint');
    end if;
    update cutter_governance.gate_receipt set prev_hash = v_prev, before_pins = v_survey
    where run_id = p_run_id and gate = p_gate;
    perform cutter_governance.fn_policy_note(p_policy);
    return jsonb_build_object('status', 'opened', 'before_pins', v_survey, 'docprefix', v_docprefix,
        'now', cutter_governance.fn_utc(clock_timestamp()));
end
$$;
