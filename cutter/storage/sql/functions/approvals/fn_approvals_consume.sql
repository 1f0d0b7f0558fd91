-- Consumes the approvals of a sovereign gate in the transaction that they authorise, and returns null or the code of
-- a refusal.
create or replace function cutter_governance.fn_approvals_consume(
    p_run cutter_governance.run, p_sovereign text, p_approvals jsonb, p_policy jsonb default null) returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    request cutter_governance.approval_request;
    epoch cutter_governance.policy_epoch;
    verdict cutter_governance.approval_verdict;
    offered jsonb;
    v_slot integer := 0;
    v_needed integer;
    v_now timestamptz;
    v_pins jsonb := cutter_governance.fn_run_pins(p_run.run_id);
begin
    perform pg_advisory_xact_lock_shared(hashtext('cutter.policy_epoch'));
    select * into epoch from cutter_governance.policy_epoch order by number desc limit 1;
    if not found then
        return 'no_policy_epoch';
    end if;
    -- locked, so that a rejection comes before or after, never in between
    select * into request from cutter_governance.approval_request
    where run_id = p_run.run_id and gate = p_sovereign and status = 'requested' for update;
    if not found then
        return 'no_open_request';
    end if;
    if request.request_sha256 is null then
        return 'request_without_document';
    end if;
    if request.expires_at <= clock_timestamp() then
        return 'request_expired';
    end if;
    -- as many as either worker's policy asks for: the one that asked people, and the one that is about to write
    select max(cutter_governance.fn_approvals_needed(p_sovereign, asked.tier)) into v_needed from (
        select request.tier union all
        select d ->> 'tier' from jsonb_array_elements(p_policy -> 'decisions') as d) as asked (tier);
    if request.tuple ->> 'writer_digest' is distinct from v_pins ->> 'writer_digest' then
        return 'request_of_other_digest';
    end if;
    for offered in select value from jsonb_array_elements(p_approvals) order by value ->> 'approval_sha256'
    loop
        v_slot := v_slot + 1;
        if v_slot > v_needed then
            return 'more_approvals_than_slots';
        end if;
        select * into verdict from cutter_governance.approval_verdict v
        where v.run_id = p_run.run_id and v.gate = p_sovereign and v.accepted
            and v.approval_sha256 = offered ->> 'approval_sha256';
        if not found then
            return 'no_accepted_verdict';
        end if;
        if verdict.decision <> 'approve' then
            return 'not_an_approval';
        end if;
        if (case when verdict.statement ->> 'binding' = 'tuple'
                then not cutter_governance.fn_tuple_covers(verdict.statement, p_run, request)
                else verdict.challenge is distinct from request.challenge
                    or verdict.challenge is distinct from offered ->> 'challenge' end)
            or verdict.writer_digest is distinct from request.tuple ->> 'writer_digest'
            or verdict.review_decision_id is distinct from request.review_decision_id
        then
            return 'approval_of_other_tuple';
        end if;
        if verdict.policy_sha256 <> epoch.sha256 then
            return 'approval_of_other_epoch';
        end if;
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
                       or (c.run_id = p_run.run_id and c.gate = p_sovereign and (c.slot = v_slot or c.approver = verdict.approver
                           or c.fingerprint = verdict.fingerprint))
                       or (request.review_decision_id is not null and c.review_decision_id = request.review_decision_id
                           and c.slot = v_slot))
        then
            return 'approval_consumed_before';
        end if;
        insert into cutter_governance.approval_consumption (
            approval_sha256, run_id, gate, slot, request_id, approver, fingerprint, document_id, source_version_id,
            writer_digest, candidate_count, challenge, review_decision_id, policy_sha256, consumed_at)
        values (
            verdict.approval_sha256, p_run.run_id, p_sovereign, v_slot, request.request_id, verdict.approver,
            verdict.fingerprint, p_run.document_id, p_run.source_version_id, request.tuple ->> 'writer_digest',
            (request.tuple ->> 'candidate_count')::integer, request.challenge, request.review_decision_id, epoch.sha256,
            v_now);
    end loop;
    if v_slot < v_needed then
        return 'threshold_not_met';
    end if;
    update cutter_governance.approval_request set status = 'approved' where request_id = request.request_id;
    perform cutter_governance.fn_audit(p_run.run_id, 'approvals_consumed', jsonb_build_object('gate', p_sovereign,
        'approvals', (select jsonb_agg(value ->> 'approval_sha256' order by value ->> 'approval_sha256')
                      from jsonb_array_elements(p_approvals))));
    return null;
end
$$;
