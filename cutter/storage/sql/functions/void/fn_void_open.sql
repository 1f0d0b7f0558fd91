-- Opens the void of a run by a signed statement in the caller's transaction, or returns why not.
create or replace function cutter_governance.fn_void_open(p_run_id text, p_statement_sha256 text, p_policy jsonb default null)
returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run cutter_governance.run;
    verdict cutter_governance.approval_verdict;
    v_refusal text;
begin
    if session_user <> 'cutter_exec' then
        return jsonb_build_object('status', 'refused', 'code', 'wrong_role');
    end if;
    if current_setting('transaction_isolation') <> 'read committed' then
        return jsonb_build_object('status', 'refused', 'code', 'isolation');
    end if;
    perform from cutter_governance.stop_latch where run_id = p_run_id for share;
    select * into v_run from cutter_governance.run where run_id = p_run_id for update;
    if v_run.state like 'voided\_%' then
        return jsonb_build_object('status', 'voided_before', 'state', v_run.state);
    end if;
    if v_run.run_id is null or exists (
        select from cutter_governance.gate_receipt where run_id = p_run_id and gate = 'IG_lifecycle_enact_execute')
    then
        return jsonb_build_object('status', 'refused', 'code',
            case when v_run.run_id is null then 'unknown_run' else 'enacted_law_is_never_voided' end);
    end if;
    select * into verdict from cutter_governance.approval_verdict
    where run_id = p_run_id and accepted and decision = 'void' and approval_sha256 = p_statement_sha256;
    if not found or verdict.not_after <= clock_timestamp()
        or exists (select from cutter_governance.approval_revocation where approval_sha256 = p_statement_sha256)
        or exists (select from cutter_governance.order_consumption where statement_sha256 = p_statement_sha256)
    then
        return jsonb_build_object('status', 'refused', 'code', 'signed_statement_needed');
    end if;
    select case
        when decision is null then 'policy_not_decided'
        when decision ->> 'verdict' = 'allow' then null
        when decision ->> 'verdict' is distinct from 'needs_approval'
            or coalesce(decision ->> 'tier' not in ('low', 'medium', 'high'), true) then 'policy_denied'
        -- a void carries one signature; how many its tier asks for, the sovereign gate says that the run has before it
        when cutter_governance.fn_approvals_needed(case when exists (
                select from cutter_governance.gate_receipt
                where run_id = p_run_id and gate = 'IG_cut_leg_a_execute' and sealed_at is not null)
            then 'SG_lifecycle_authz' else 'SG_cut_authz' end, decision ->> 'tier') > 1
            then 'policy_approval_missing' end
    into v_refusal from (select (
        select d from jsonb_array_elements(p_policy -> 'decisions') as d
        where d ->> 'connector' = 'database' and d ->> 'operation' = 'withdraw_drafts') as decision) as decided;
    if v_refusal is not null then
        return jsonb_build_object('status', 'refused', 'code', v_refusal);
    end if;
    perform cutter_governance.fn_policy_note(p_policy);
    insert into cutter_governance.order_consumption (statement_sha256, run_id, decision, approver, fingerprint)
    values (verdict.approval_sha256, p_run_id, 'void', verdict.approver, verdict.fingerprint);
    insert into cutter_governance.void_record (run_id, statement_sha256, reason, policy)
    values (p_run_id, verdict.approval_sha256, coalesce(verdict.statement ->> 'reason', 'void'), p_policy - 'text');
    return jsonb_build_object('status', 'opened');
end
$$;
