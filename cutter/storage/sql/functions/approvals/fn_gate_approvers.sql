-- Returns for each tier how many different people approved what a gate does. They signed for its sovereign gate, or a
-- resume after the policy stopped the run here, or approved without a signature. Two keys of a person count once.
create or replace function cutter_governance.fn_gate_approvers(p_run_id text, p_gate text) returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    with signed as (
        select n.fingerprint, n.approver from cutter_governance.gate_catalogue g
        join cutter_governance.gate_catalogue s on s.sovereign is not null and s.ordinal <= g.ordinal
            and s.sovereign = cutter_governance.fn_gate_sovereign(g.gate)
        join cutter_governance.approval_consumption n on n.run_id = p_run_id and n.gate = s.sovereign
        where g.gate = p_gate
        union
        select o.fingerprint, o.approver from cutter_governance.gate_catalogue g
        join cutter_governance.order_consumption o on o.run_id = p_run_id and o.decision = 'resume'
        join cutter_governance.approval_verdict v on v.run_id = o.run_id and v.accepted
            and v.approval_sha256 = o.statement_sha256 and v.statement ->> 'stopped_state' = 'stopped_policy_' || g.phase
        where g.gate = p_gate),
    unsigned as (
        select least(count(distinct u.approver), count(distinct u.account)) as people
        from cutter_governance.unsigned_decision u
        where u.run_id = p_run_id and u.gate = p_gate and u.decision = 'approve'
            and u.approver not in (select approver from signed))
    select jsonb_object_agg(tier, (select least(count(distinct fingerprint), count(distinct approver)) from signed)
        + case when cutter_governance.fn_unsigned_may(r.mode, tier) then (select people from unsigned) else 0 end)
    from unnest(array['low', 'medium', 'high']) as tier, cutter_governance.run r where r.run_id = p_run_id
$$;
