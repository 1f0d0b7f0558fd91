-- Returns why an accepted verdict does not approve this request, or null: its decision, what was signed, its epoch.
-- `p_challenge` is the one that the writing worker verified itself.
create or replace function cutter_governance.fn_approval_mismatch(
    p_run cutter_governance.run, p_request cutter_governance.approval_request, p_epoch cutter_governance.policy_epoch,
    p_verdict cutter_governance.approval_verdict, p_challenge text) returns text
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if p_verdict.decision <> 'approve' then
        return 'not_an_approval';
    end if;
    if (case when p_verdict.statement ->> 'binding' = 'tuple'
            then not cutter_governance.fn_tuple_covers(p_verdict.statement, p_run, p_request)
            else p_verdict.challenge is distinct from p_request.challenge
                or p_verdict.challenge is distinct from p_challenge end)
        or p_verdict.writer_digest is distinct from p_request.tuple ->> 'writer_digest'
        or p_verdict.review_decision_id is distinct from p_request.review_decision_id
    then
        return 'approval_of_other_tuple';
    end if;
    if p_verdict.policy_sha256 <> p_epoch.sha256 then
        return 'approval_of_other_epoch';
    end if;
    return null;
end
$$;
