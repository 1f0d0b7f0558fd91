-- Returns how many people have approved what a gate of a run asks for since the given time, and can still open it. Their
-- approvals are of the newest epoch, valid, not revoked, and not refused by the gate since.
create or replace function cutter_governance.fn_people_signed(p_run_id text, p_gate text, p_since timestamptz) returns bigint
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select least(count(distinct v.fingerprint), count(distinct v.approver))
    from cutter_governance.approval_verdict v
    where v.run_id = p_run_id and v.gate = p_gate and v.accepted and v.decision = 'approve'
        and v.recorded_at >= p_since and v.not_after > clock_timestamp()
        and v.policy_sha256 = (select e.sha256 from cutter_governance.policy_epoch e order by e.number desc limit 1)
        and not exists (select from cutter_governance.approval_revocation x where x.approval_sha256 = v.approval_sha256)
        and not exists (
            select from cutter_governance.gate_attempt t
            join cutter_governance.gate_catalogue c on c.gate = t.gate
            where t.run_id = p_run_id and c.sovereign = p_gate and t.outcome = 'approval_refused'
                and t.started_at >= v.recorded_at
                -- too few people is nobody's fault
                and t.reason not like 'threshold\_missing:%')
$$;
