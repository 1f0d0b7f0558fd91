-- Consumes an offered approval, which has the challenge that the writing worker verified. Returns null or a code.
create or replace function cutter_governance.fn_approval_consume_one(
    p_run cutter_governance.run, p_request cutter_governance.approval_request, p_epoch cutter_governance.policy_epoch,
    p_slot integer, p_offered jsonb) returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    verdict cutter_governance.approval_verdict;
    v_refusal text;
    v_now timestamptz;
begin
    select * into verdict from cutter_governance.approval_verdict v
    where v.run_id = p_run.run_id and v.gate = p_request.gate and v.accepted
        and v.approval_sha256 = p_offered ->> 'approval_sha256';
    if not found then
        return 'no_accepted_verdict';
    end if;
    v_refusal := case
        when verdict.decision <> 'approve' then 'not_an_approval'
        when (case when verdict.statement ->> 'binding' = 'tuple'
                then not cutter_governance.fn_tuple_covers(verdict.statement, p_run, p_request)
                else verdict.challenge is distinct from p_request.challenge
                    or verdict.challenge is distinct from p_offered ->> 'challenge' end)
            or verdict.writer_digest is distinct from p_request.tuple ->> 'writer_digest'
            or verdict.review_decision_id is distinct from p_request.review_decision_id then 'approval_of_other_tuple'
        when verdict.policy_sha256 <> p_epoch.sha256 then 'approval_of_other_epoch' end;
    if v_refusal is not null then
        return v_refusal;
    end if;
    perform pg_advisory_xact_lock(hashtextextended(verdict.approval_sha256, 0));
    -- The moment that is judged is the one that is recorded: no approval is ever consumed after its end.
    v_now := clock_timestamp();
    if verdict.not_after <= v_now then
        return 'approval_expired';
    end if;
    if exists (select from cutter_governance.approval_revocation r where r.approval_sha256 = verdict.approval_sha256) then
        return 'approval_revoked';
    end if;
    if exists (select from cutter_governance.approval_consumption c
               where c.approval_sha256 = verdict.approval_sha256
                   or (c.run_id = p_run.run_id and c.gate = p_request.gate
                       and (c.slot = p_slot or c.approver = verdict.approver or c.fingerprint = verdict.fingerprint))
                   or (p_request.review_decision_id is not null
                       and c.review_decision_id = p_request.review_decision_id and c.slot = p_slot))
    then
        return 'approval_consumed_before';
    end if;
    insert into cutter_governance.approval_consumption (
        approval_sha256, run_id, gate, slot, request_id, approver, fingerprint, document_id, source_version_id,
        writer_digest, candidate_count, challenge, review_decision_id, policy_sha256, consumed_at)
    values (
        verdict.approval_sha256, p_run.run_id, p_request.gate, p_slot, p_request.request_id, verdict.approver,
        verdict.fingerprint, p_run.document_id, p_run.source_version_id, p_request.tuple ->> 'writer_digest',
        (p_request.tuple ->> 'candidate_count')::integer, p_request.challenge, p_request.review_decision_id,
        p_epoch.sha256, v_now);
    return null;
end
$$;
