-- Returns as evidence what a run wrote about its cut, and what it did outside its gates up to a time and an event.
create or replace function cutter_governance.fn_evidence_effects(p_run_id text, p_at timestamptz, p_seq bigint) returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
    select jsonb_build_object(
        'outputs', jsonb_build_object(
            'change_set', (select to_jsonb(s) from cutter_governance.cut_change_set s where s.run_id = p_run_id),
            'affected_rows', (select count(*) from cutter_governance.cut_change_set_affected_row a
                              join cutter_governance.cut_change_set s on s.change_set_id = a.change_set_id
                              where s.run_id = p_run_id),
            'verify_result', (select to_jsonb(x) from cutter_governance.verify_result x
                              join cutter_governance.cut_change_set s on s.change_set_id = x.change_set_id
                              where s.run_id = p_run_id),
            'review_decisions', (select coalesce(jsonb_agg(to_jsonb(d) order by d.created_at, d.review_decision_id), '[]')
                                 from cutter_governance.review_decision d where d.run_id = p_run_id)),
        'signatures', (
            select coalesce(jsonb_agg(to_jsonb(g) order by g.signature_kind), '[]')
            from cutter_governance.dot_pair_signature g
            where g.signature_id in (
                select e.signature_id from cutter_governance.cut_change_set s
                join cutter_governance.dot_pair_signature e on e.cross_reference_change_set_id = s.change_set_id
                where s.run_id = p_run_id
                union all select v.signature_id from cutter_governance.cut_change_set s
                join cutter_governance.verify_result x on x.change_set_id = s.change_set_id
                join cutter_governance.dot_pair_signature v on v.cross_reference_verify_result_id = x.verify_result_id
                where s.run_id = p_run_id)),
        'refusals', (
            select coalesce(jsonb_agg(to_jsonb(m) order by m.id), '[]')
            from cutter_governance.message_refusal m where m.run_id = p_run_id and m.at <= p_at),
        'actions', (
            select coalesce(jsonb_agg(to_jsonb(a) order by a.id), '[]')
            from cutter_governance.action_receipt a where a.run_id = p_run_id and a.at <= p_at),
        'documents', (
            select coalesce(jsonb_agg(jsonb_build_object('kb_id', o.kb_id, 'kind', o.kind, 'subject', o.subject,
                'sha256', o.sha256, 'done_at', o.done_at) order by o.id), '[]')
            from cutter_governance.outbox o where o.run_id = p_run_id and o.done_at <= p_at),
        'events', (
            select coalesce(jsonb_agg(to_jsonb(e) - 'run_id' - 'at' order by e.seq), '[]')
            from cutter_governance.audit_event e where e.chain = p_run_id and e.seq <= p_seq),
        'voids', (
            select coalesce(jsonb_agg(to_jsonb(v) - 'opened_xid'), '[]')
            from cutter_governance.void_record v where v.run_id = p_run_id),
        'policies', (
            select coalesce(jsonb_agg(to_jsonb(p) - 'first_used_at' order by p.sha256), '[]')
            from cutter_governance.governing_policy p
            where p.sha256 in (
                select g.policy ->> 'sha256' from cutter_governance.gate_receipt g
                where g.run_id = p_run_id and g.sealed_at is not null and g.gate <> 'IG_closeout'
                union all select a.report -> 'policy' ->> 'sha256' from cutter_governance.gate_attempt a
                where a.run_id = p_run_id and a.started_at <= p_at
                union all select a.request_metadata -> 'policy' ->> 'sha256' from cutter_governance.action_receipt a
                where a.run_id = p_run_id and a.at <= p_at
                union all select v.policy ->> 'sha256' from cutter_governance.void_record v where v.run_id = p_run_id)))
$$;
