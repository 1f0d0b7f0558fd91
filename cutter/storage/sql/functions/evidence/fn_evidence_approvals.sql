-- Returns as evidence what people were asked and decided about a run up to a time, with the epochs.
create or replace function cutter_governance.fn_evidence_approvals(p_run_id text, p_at timestamptz) returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
    with verdict as (
        select v.* from cutter_governance.approval_verdict v where v.run_id = p_run_id and v.recorded_at <= p_at)
    select jsonb_build_object(
        'requests', (
            select coalesce(jsonb_agg(to_jsonb(q) - 'after_pins' order by q.requested_at, q.request_id), '[]')
            from cutter_governance.approval_request q where q.run_id = p_run_id),
        'verdicts', (select coalesce(jsonb_agg(to_jsonb(v) - 'statement' order by v.id), '[]') from verdict v),
        'signed', (
            select coalesce(jsonb_agg(jsonb_build_object('approval_sha256', v.approval_sha256,
                'body', encode(s.body, 'base64'), 'signature', encode(s.signature, 'base64')) order by v.id), '[]')
            from verdict v join cutter_governance.signed_statement s on s.verdict_id = v.id
            -- cutter_read alone can record any number of others
            where v.approval_sha256 in (
                select n.approval_sha256 from cutter_governance.approval_consumption n where n.run_id = p_run_id
                union all (
                    select o.statement_sha256 from cutter_governance.order_consumption o
                    where o.run_id = p_run_id and o.consumed_at <= p_at
                    order by o.consumed_at desc, o.statement_sha256 desc limit 100))),
        'consumptions', (
            select coalesce(jsonb_agg(to_jsonb(n) - 'consumed_xid' order by n.gate, n.slot), '[]')
            from cutter_governance.approval_consumption n where n.run_id = p_run_id),
        'revocations', (
            select coalesce(jsonb_agg(to_jsonb(x) order by x.approval_sha256), '[]')
            from cutter_governance.approval_revocation x
            where x.approval_sha256 in (select v.approval_sha256 from verdict v) and x.recorded_at <= p_at),
        'orders', (
            select coalesce(jsonb_agg(to_jsonb(o) order by o.consumed_at, o.statement_sha256), '[]')
            from cutter_governance.order_consumption o where o.run_id = p_run_id and o.consumed_at <= p_at),
        'acknowledgements', (
            select coalesce(jsonb_agg(to_jsonb(k) - 'after_pins' order by k.id), '[]')
            from cutter_governance.drift_acknowledgement k where k.run_id = p_run_id and k.recorded_at <= p_at),
        'epochs', (
            select coalesce(jsonb_agg(to_jsonb(p) order by p.number), '[]') from cutter_governance.policy_epoch p
            where p.sha256 in (select v.policy_sha256 from verdict v where v.accepted)))
$$;
