-- Returns a run's sealed receipts and its attempts up to a time, as evidence. The closeout's own receipt, and the
-- attempt that made it, are left out.
create or replace function cutter_governance.fn_evidence_gates(
    p_run_id text, p_at timestamptz, p_closing boolean, p_attempt integer) returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
    select jsonb_build_object(
        'receipts', (
            select coalesce(jsonb_agg(jsonb_build_object('gate', g.gate, 'opened_at', g.opened_at, 'sealed_at', g.sealed_at,
                'prev_hash', g.prev_hash, 'receipt_hash', g.receipt_hash, 'sealed_body', g.sealed_body) order by k.ordinal), '[]')
            from cutter_governance.gate_receipt g join cutter_governance.gate_catalogue k on k.gate = g.gate
            where g.run_id = p_run_id and g.sealed_at is not null and g.gate <> 'IG_closeout'),
        'attempts', (
            select coalesce(jsonb_agg(to_jsonb(a) order by a.started_at, a.gate, a.n), '[]')
            from cutter_governance.gate_attempt a
            where a.run_id = p_run_id and a.started_at <= p_at
                and not (p_closing and a.gate = 'IG_closeout' and a.n = p_attempt)))
$$;
