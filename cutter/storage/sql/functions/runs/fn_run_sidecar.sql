-- Returns everything that a run's projections (state.json, transitions.jsonl) are made of, in one answer.
create or replace function cutter_governance.fn_run_sidecar(p_run_id text) returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select jsonb_build_object(
        'run', to_jsonb(r),
        'latch', (select to_jsonb(l) from cutter_governance.stop_latch l where l.run_id = r.run_id),
        'step_facts', (select to_jsonb(f) from cutter_governance.fn_step_facts(r.run_id) f),
        'receipts', (select coalesce(jsonb_agg(cutter_governance.fn_receipt_view(g) order by c.ordinal), '[]')
                     from cutter_governance.gate_receipt g join cutter_governance.gate_catalogue c on c.gate = g.gate
                     where g.run_id = r.run_id and g.sealed_at is not null),
        'attempts', (select coalesce(jsonb_agg(to_jsonb(a) order by a.started_at), '[]')
                     from cutter_governance.gate_attempt a where a.run_id = r.run_id),
        'requests', (select coalesce(jsonb_agg(to_jsonb(q) - 'after_pins' order by q.requested_at), '[]')
                     from cutter_governance.approval_request q where q.run_id = r.run_id),
        'verdicts', (select coalesce(jsonb_agg(to_jsonb(v) order by v.id), '[]')
                     from cutter_governance.approval_verdict v where v.run_id = r.run_id),
        'consumptions', (select coalesce(jsonb_agg(to_jsonb(n) order by n.consumed_at), '[]')
                         from cutter_governance.approval_consumption n where n.run_id = r.run_id),
        'documents', (select coalesce(jsonb_agg(jsonb_build_object('kb_id', o.kb_id, 'kind', o.kind, 'subject', o.subject,
                          'sha256', o.sha256) order by o.id), '[]') from cutter_governance.outbox o where o.run_id = r.run_id),
        'transitions', (select coalesce(jsonb_agg(e.body order by e.seq), '[]') from cutter_governance.audit_event e
                        where e.chain = r.run_id and e.kind = 'transition'),
        'approval_moves', (select coalesce(jsonb_agg(e.body order by e.seq), '[]') from cutter_governance.audit_event e
                           where e.chain = r.run_id and e.kind = 'approval_transition'),
        'audit_head', (select h.hash from cutter_governance.audit_head h where h.chain = r.run_id))
    from cutter_governance.run r where r.run_id = p_run_id
$$;
