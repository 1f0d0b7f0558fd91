-- Seals the gate that is open in this transaction and moves its run, or returns why not. The second survey must show
-- the gate's declared effect and nothing else. The closeout asks for the report of each gate, so it must be named.
create or replace function cutter_governance.fn_gate_close(p_run_id text, p_gate text, p_attempt integer, p_result jsonb,
    p_kb_id text default null) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    step cutter_governance.gate_catalogue;
    receipt cutter_governance.gate_receipt;
    v_run cutter_governance.run;
    v_survey jsonb;
    v_drift jsonb;
    v_refusal text;
begin
    select * into step from cutter_governance.gate_catalogue where gate = p_gate;
    select * into receipt from cutter_governance.gate_receipt where run_id = p_run_id and gate = p_gate;
    -- a claim whose opening was refused has no previous hash
    if receipt.opened_xid is distinct from pg_current_xact_id() or receipt.sealed_at is not null or receipt.prev_hash = ''
    then
        return jsonb_build_object('status', 'refused', 'code', 'not_open_here');
    end if;
    if p_attempt is distinct from receipt.attempt or p_attempt is distinct from (
        select max(n) from cutter_governance.gate_attempt where run_id = p_run_id and gate = p_gate)
    then
        return jsonb_build_object('status', 'refused', 'code', 'stale_attempt');
    end if;
    select * into v_run from cutter_governance.run where run_id = p_run_id for update;
    v_refusal := case when v_run.ended_at is not null then 'run_ended'
        else coalesce(cutter_governance.fn_pins_refusal(v_run, step, p_result -> 'pins'),
            case when p_kb_id is null and not receipt.rehearsal then 'report_not_named' end) end;
    if v_refusal is not null then
        return jsonb_build_object('status', 'refused', 'code', v_refusal);
    end if;
    if step.pins_source then
        update cutter_governance.run r
        set docprefix = p_result -> 'pins' ->> 'docprefix', source_document_id = (p_result -> 'pins' ->> 'source_document_id')::uuid,
            source_version_id = (p_result -> 'pins' ->> 'source_version_id')::uuid,
            operation_kind = coalesce(p_result -> 'pins' ->> 'operation_kind', 'first_cut'),
            base_run_id = p_result -> 'pins' ->> 'base_run_id',
            base_source_version_id = (p_result -> 'pins' ->> 'base_source_version_id')::uuid,
            base_receipt_hash = p_result -> 'pins' ->> 'base_receipt_hash'
        where r.run_id = p_run_id
        returning * into v_run;
    end if;
    v_drift := cutter_governance.fn_receipts_drift(p_run_id);
    if v_drift is not null then
        return jsonb_build_object('status', 'drift', 'drift', v_drift);
    end if;
    v_survey := cutter_governance.fn_survey_after(v_run, receipt.before_pins);
    v_drift := cutter_governance.fn_drift(
        cutter_governance.fn_effect_pins(step.effect, receipt.before_pins, p_result), v_survey);
    if v_drift is not null then
        return jsonb_build_object('status', 'drift', 'drift', v_drift || jsonb_build_object('fingerprint',
            -- of the survey after the rollback, which is what a person acknowledges
            cutter_governance.fn_digest(((receipt.before_pins - array['row_content_enacted', 'row_versions'])
                || (v_survey - array['row_count', 'row_content', 'review_decision', 'row_versions']))::text)));
    end if;
    receipt := cutter_governance.fn_receipt_seal(receipt, p_result, v_survey);
    if p_kb_id is not null then
        insert into cutter_governance.outbox (run_id, kind, subject, kb_id) values (p_run_id, 'gate_report', p_gate, p_kb_id);
    end if;
    if not receipt.rehearsal then
        perform cutter_governance.fn_run_move(p_run_id, step.to_state, p_gate, 'info', jsonb_build_object(
            'receipt_hash', receipt.receipt_hash, 'attempt', p_attempt));
    end if;
    return jsonb_build_object('status', 'sealed', 'receipt', cutter_governance.fn_receipt_view(receipt));
end
$$;
