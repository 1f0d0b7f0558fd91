-- Returns the accepted verdict in force on an unused statement that lifts a run's stop; an empty row without one.
create or replace function cutter_governance.fn_resume_verdict(
    p_run cutter_governance.run, p_latch cutter_governance.stop_latch, p_statement_sha256 text, p_needed text)
returns cutter_governance.approval_verdict
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    verdict cutter_governance.approval_verdict;
begin
    select * into verdict from cutter_governance.approval_verdict v
    where v.run_id = p_run.run_id and v.accepted and v.approval_sha256 = p_statement_sha256 and v.decision = p_needed;
    if not found or verdict.not_after <= clock_timestamp()
        or verdict.recorded_at <= greatest(p_run.state_at,
            case when p_needed = 'resume' and p_latch.stopped then p_latch.set_at end)
        or exists (select from cutter_governance.approval_revocation where approval_sha256 = p_statement_sha256)
        or exists (select from cutter_governance.order_consumption where statement_sha256 = p_statement_sha256)
    then
        return null;
    end if;
    return verdict;
end
$$;
