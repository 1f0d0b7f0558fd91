-- Returns the signed documents that let a stopped run continue. The writing worker judges them again, because the
-- reader's password is enough to record a verdict. Epoch, gate, stop and times come from this database.
create or replace function cutter_governance.fn_run_orders(p_run_id text) returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select coalesce(jsonb_agg(jsonb_build_object('kb_id', v.kb_id, 'statement_sha256', o.statement_sha256,
        'decision', o.decision, 'consumed_at', o.consumed_at, 'stopped_state', o.stopped_state,
        'stopped_at', o.stopped_at,
        'policy_sha256', (select e.sha256 from cutter_governance.policy_epoch e where e.installed_at <= v.recorded_at
            order by e.number desc limit 1),
        'gate', case when exists (select from cutter_governance.gate_receipt r where r.run_id = p_run_id
                and r.gate = 'IG_cut_leg_a_execute' and r.sealed_at <= v.recorded_at)
            then 'SG_lifecycle_authz' else 'SG_cut_authz' end,
        -- fn_run_resume has held it against the survey
        'fingerprint', v.statement ->> 'fingerprint', 'body', encode(s.body, 'base64'),
        'signature', encode(s.signature, 'base64')) order by o.consumed_at), '[]')
    from cutter_governance.order_consumption o
    join cutter_governance.approval_verdict v on v.run_id = o.run_id and v.accepted
        and v.approval_sha256 = o.statement_sha256
    left join cutter_governance.signed_statement s on s.verdict_id = v.id
    where o.run_id = p_run_id and o.decision in ('resume', 'acknowledge_drift')
$$;
