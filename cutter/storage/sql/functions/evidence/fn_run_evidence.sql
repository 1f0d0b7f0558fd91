-- Returns everything on record about a run, from one snapshot, as its evidence bundle needs it (seed 003 §8). While
-- the closeout is open, and after it, the answer is the same: what existed when that gate opened, up to the audit
-- head that it sealed, without its own receipt and attempt. For a run that is not closed the answer is its present
-- state. It holds no body, title, address or profile text.
create or replace function cutter_governance.fn_run_evidence(p_run_id text) returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
begin
    return (
        with cut as (
            select r.run_id, g.run_id is not null as closing, g.attempt, g.sealed_at is not null as closed,
                coalesce(g.opened_at, 'infinity') as at,
                coalesce((select e.seq from cutter_governance.audit_event e
                          where e.chain = r.run_id and e.hash = g.result -> 'pins' ->> 'audit_head'), 9223372036854775807) as seq,
                g.result
            from cutter_governance.run r
            left join cutter_governance.gate_receipt g on g.run_id = r.run_id and g.gate = 'IG_closeout'
            where r.run_id = p_run_id),
        verdict as (
            select v.* from cutter_governance.approval_verdict v, cut where v.run_id = cut.run_id and v.recorded_at <= cut.at)
        select jsonb_build_object(
            'as_of', case when cut.closing then cutter_governance.fn_utc(cut.at) end,
            'closed', case when cut.closed then cut.result -> 'pins' end,
            'history', cut.result -> 'history',
            'run', to_jsonb(r) || case when cut.closing
                then jsonb_build_object('state', 'lifecycle_enacted', 'state_at', null, 'ended_at', null, 'outcome', null)
                else '{}' end,
            'source', (
                select to_jsonb(v) - 'profile_body' || jsonb_build_object('document', to_jsonb(d) - 'display_vi' - 'display_en')
                from public.source_version v join public.source_document d on d.source_document_ref = v.source_document_ref
                where v.id = r.source_version_id),
            'outputs', jsonb_build_object(
                'change_set', (select to_jsonb(s) from cutter_governance.cut_change_set s where s.run_id = r.run_id),
                'affected_rows', (select count(*) from cutter_governance.cut_change_set_affected_row a
                                  join cutter_governance.cut_change_set s on s.change_set_id = a.change_set_id
                                  where s.run_id = r.run_id),
                'verify_result', (select to_jsonb(x) from cutter_governance.verify_result x
                                  join cutter_governance.cut_change_set s on s.change_set_id = x.change_set_id
                                  where s.run_id = r.run_id),
                'review_decisions', (select coalesce(jsonb_agg(to_jsonb(d) order by d.created_at, d.review_decision_id), '[]')
                                     from cutter_governance.review_decision d where d.run_id = r.run_id)),
            'receipts', (
                select coalesce(jsonb_agg(jsonb_build_object('gate', g.gate, 'opened_at', g.opened_at, 'sealed_at', g.sealed_at,
                    'prev_hash', g.prev_hash, 'receipt_hash', g.receipt_hash, 'sealed_body', g.sealed_body) order by k.ordinal), '[]')
                from cutter_governance.gate_receipt g join cutter_governance.gate_catalogue k on k.gate = g.gate
                where g.run_id = r.run_id and g.sealed_at is not null and g.gate <> 'IG_closeout'),
            'attempts', (
                select coalesce(jsonb_agg(to_jsonb(a) order by a.started_at, a.gate, a.n), '[]')
                from cutter_governance.gate_attempt a
                where a.run_id = r.run_id and a.started_at <= cut.at
                    and not (cut.closing and a.gate = 'IG_closeout' and a.n = cut.attempt)),
            'requests', (
                select coalesce(jsonb_agg(to_jsonb(q) - 'after_pins' order by q.requested_at, q.request_id), '[]')
                from cutter_governance.approval_request q where q.run_id = r.run_id),
            'verdicts', (select coalesce(jsonb_agg(to_jsonb(v) - 'statement' order by v.id), '[]') from verdict v),
            'consumptions', (
                select coalesce(jsonb_agg(to_jsonb(n) - 'consumed_xid' order by n.gate, n.slot), '[]')
                from cutter_governance.approval_consumption n where n.run_id = r.run_id),
            'revocations', (
                select coalesce(jsonb_agg(to_jsonb(x) order by x.approval_sha256), '[]')
                from cutter_governance.approval_revocation x
                where x.approval_sha256 in (select v.approval_sha256 from verdict v) and x.recorded_at <= cut.at),
            'orders', (
                select coalesce(jsonb_agg(to_jsonb(o) order by o.consumed_at, o.statement_sha256), '[]')
                from cutter_governance.order_consumption o where o.run_id = r.run_id and o.consumed_at <= cut.at),
            'acknowledgements', (
                select coalesce(jsonb_agg(to_jsonb(k) - 'after_pins' order by k.id), '[]')
                from cutter_governance.drift_acknowledgement k where k.run_id = r.run_id and k.recorded_at <= cut.at),
            'refusals', (
                select coalesce(jsonb_agg(to_jsonb(m) order by m.id), '[]')
                from cutter_governance.message_refusal m where m.run_id = r.run_id and m.at <= cut.at),
            'actions', (
                select coalesce(jsonb_agg(to_jsonb(a) order by a.id), '[]')
                from cutter_governance.action_receipt a where a.run_id = r.run_id and a.at <= cut.at),
            'documents', (
                select coalesce(jsonb_agg(jsonb_build_object('kb_id', o.kb_id, 'kind', o.kind, 'subject', o.subject,
                    'sha256', o.sha256, 'done_at', o.done_at) order by o.id), '[]')
                from cutter_governance.outbox o where o.run_id = r.run_id and o.done_at <= cut.at),
            'signatures', (
                select coalesce(jsonb_agg(to_jsonb(g) order by g.signature_kind), '[]')
                from cutter_governance.dot_pair_signature g
                where g.cross_reference_change_set_id in (
                        select s.change_set_id from cutter_governance.cut_change_set s where s.run_id = r.run_id)
                    or g.cross_reference_verify_result_id in (
                        select x.verify_result_id from cutter_governance.verify_result x
                        join cutter_governance.cut_change_set s on s.change_set_id = x.change_set_id where s.run_id = r.run_id)),
            'events', (
                select coalesce(jsonb_agg(to_jsonb(e) - 'run_id' - 'at' order by e.seq), '[]')
                from cutter_governance.audit_event e where e.chain = r.run_id and e.seq <= cut.seq),
            'voids', (
                select coalesce(jsonb_agg(to_jsonb(v) - 'opened_xid'), '[]')
                from cutter_governance.void_record v where v.run_id = r.run_id),
            'policies', (
                select coalesce(jsonb_agg(to_jsonb(p) - 'first_used_at' order by p.sha256), '[]')
                from cutter_governance.governing_policy p
                where p.sha256 in (
                    select g.policy ->> 'sha256' from cutter_governance.gate_receipt g
                    where g.run_id = r.run_id and g.sealed_at is not null and g.gate <> 'IG_closeout'
                    union all select a.report -> 'policy' ->> 'sha256' from cutter_governance.gate_attempt a
                    where a.run_id = r.run_id and a.started_at <= cut.at
                    union all select a.request_metadata -> 'policy' ->> 'sha256' from cutter_governance.action_receipt a
                    where a.run_id = r.run_id and a.at <= cut.at
                    union all select v.policy ->> 'sha256' from cutter_governance.void_record v where v.run_id = r.run_id)),
            'epochs', (
                select coalesce(jsonb_agg(to_jsonb(p) order by p.number), '[]') from cutter_governance.policy_epoch p
                where p.sha256 in (select v.policy_sha256 from verdict v where v.accepted)))
        from cut join cutter_governance.run r on r.run_id = cut.run_id);
end
$$;
