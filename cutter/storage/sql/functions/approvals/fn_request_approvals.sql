-- Returns the approvals of a request that may open its gate: in force, and not refused by the gate since.
create or replace function cutter_governance.fn_request_approvals(p_request cutter_governance.approval_request)
returns setof cutter_governance.approval_verdict
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select v.* from cutter_governance.approval_verdict v
    where v.run_id = p_request.run_id and v.gate = p_request.gate and v.accepted and v.decision = 'approve'
        and (v.challenge = p_request.challenge or v.statement ->> 'binding' = 'tuple')
        and v.recorded_at >= p_request.requested_at and v.not_after > clock_timestamp()
        and v.policy_sha256 = (select e.sha256 from cutter_governance.policy_epoch e order by e.number desc limit 1)
        and not exists (select from cutter_governance.approval_revocation x where x.approval_sha256 = v.approval_sha256)
        and not exists (
            select from cutter_governance.gate_attempt t
            join cutter_governance.gate_catalogue c on c.gate = t.gate
            where t.run_id = v.run_id and c.sovereign = v.gate and t.outcome = 'approval_refused'
                and t.started_at >= v.recorded_at
                -- a refusal of another approval leaves this one, and too few people is nobody's fault
                and coalesce(t.report ->> 'approval_sha256', v.approval_sha256) = v.approval_sha256
                and t.reason not like 'threshold\_missing:%')
$$;
