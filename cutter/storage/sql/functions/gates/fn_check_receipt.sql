-- Refuses, at COMMIT, a receipt that is unsealed or a rehearsal, or whose gate did not write what was approved.
create or replace function cutter_governance.fn_check_receipt() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    receipt cutter_governance.gate_receipt;
    v_run cutter_governance.run;
    v_problem text;
begin
    select * into receipt from cutter_governance.gate_receipt where run_id = new.run_id and gate = new.gate;
    if receipt.sealed_at is null then
        raise exception '% of %: not sealed', new.gate, new.run_id using errcode = 'CU009';
    end if;
    if receipt.rehearsal then
        raise exception '% of %: a rehearsal may not be committed', new.gate, new.run_id using errcode = 'CU009';
    end if;
    if receipt.prev_hash is distinct from cutter_governance.fn_prev_hash(new.run_id, new.gate) then
        raise exception '% of %: it was never opened', new.gate, new.run_id using errcode = 'CU009';
    end if;
    select * into v_run from cutter_governance.run where run_id = new.run_id;
    v_problem := case receipt.gate
        when 'IG_cut_leg_a_execute' then cutter_governance.fn_approved_rows_problem(v_run, receipt.gate)
        when 'IG_leg_b_record' then cutter_governance.fn_leg_b_problem(v_run)
        when 'IG_write_verify' then case when not exists (
            select from cutter_governance.verify_result v
            join cutter_governance.cut_change_set c on c.change_set_id = v.change_set_id
            join cutter_governance.dot_pair_signature g on g.signature_id = v.verifier_signature_id
                and g.cross_reference_verify_result_id = v.verify_result_id
            where c.run_id = new.run_id and v.verdict = 'pass' and v.manifest_version = c.manifest_version
                and v.manifest_id = c.manifest_id and v.review_decision_id = c.review_decision_id
                and v.executor_signature_id = c.executor_signature_id
                and v.executor_tool_revision = c.executor_tool_revision
                and v.verifier_tool_revision = c.verifier_tool_revision)
            then 'no passing, signed verify_result for its change set' end
        when 'IG_lifecycle_enact_execute' then cutter_governance.fn_approved_rows_problem(v_run, receipt.gate) end;
    if v_problem is not null then
        raise exception '% of %: %', new.gate, new.run_id, v_problem using errcode = 'CU010';
    end if;
    return null;
end
$$;
