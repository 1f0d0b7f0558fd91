-- Returns a batch with its items, or only the named ones: each with its newest run in this batch and its queue entry.
create or replace function cutter_governance.fn_batch_view(p_batch_id text, p_documents text[] default null) returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select jsonb_build_object(
        'batch', to_jsonb(b),
        'age_seconds', extract(epoch from clock_timestamp() - b.began_at),
        'halted_seconds', extract(epoch from clock_timestamp() - b.halted_at),
        'items', (
            select coalesce(jsonb_agg(jsonb_build_object(
                'document_id', i.document_id, 'position', i.position, 'priority', i.priority, 'depends_on', i.depends_on,
                'critical', i.critical, 'tenant', i.tenant, 'source_uri', i.source_uri, 'decided', i.decided,
                'reason', coalesce(i.reason, r.last_error ->> 'reason'), 'run_id', r.run_id, 'state', r.state,
                'outcome', r.outcome, 'ended', r.ended_at is not null, 'ended_at', r.ended_at, 'state_at', r.state_at,
                'created_at', r.created_at,
                'included', exists (
                    select from cutter_governance.approval_verdict v
                    where v.run_id = r.run_id and v.accepted and v.decision = 'include_failed'
                        and r.state like 'failed\_%' and v.not_after > clock_timestamp()
                        and not exists (select from cutter_governance.order_consumption
                                        where statement_sha256 = v.approval_sha256)
                        and (select count(*) = 0 from cutter_governance.approval_revocation
                             where approval_sha256 = v.approval_sha256)),
                'enacted', exists (
                    select from cutter_governance.gate_receipt g
                    where g.run_id = r.run_id and g.gate = 'IG_lifecycle_enact_execute' and g.sealed_at is not null),
                'kept_out', i.kept_out and cutter_governance.fn_item_kept_out(i),
                'latched', coalesce(l.stopped, false), 'latch_kind', case when l.stopped then l.kind end,
                'gate', a.gate, 'expires_at', a.expires_at,
                -- nobody can read a request before the worker has put it, a moment after the row
                'request_kb_id', (select o.kb_id from cutter_governance.outbox o
                                  where o.kb_id = a.kb_id and o.done_at is not null),
                'signed', coalesce(s.people, 0),
                'approved', coalesce(s.rejected or s.people >= cutter_governance.fn_approvals_needed(a.gate, a.tier), false),
                'queue', q.queue, 'queue_code', q.code, 'queue_kb_id', q.kb_id,
                'queue_state', q.state) order by i.position), '[]')
            from cutter_governance.batch_item i
            left join lateral (
                select * from cutter_governance.run n
                where n.batch_id = i.batch_id and n.document_id = i.document_id
                order by n.created_at desc, n.run_id desc limit 1) r
                on not coalesce(r.state like 'voided\_%' and r.ended_at < b.again_at, false)
            left join cutter_governance.stop_latch l on l.run_id = r.run_id
            left join cutter_governance.approval_request a
                on a.run_id = r.run_id and a.status = 'requested' and a.kb_id is not null
            -- to count is the costliest part of an item, and most items have no approval; `offset 0` makes PostgreSQL
            -- count once, and not once for each field
            left join lateral (
                select cutter_governance.fn_people_signed(a) as people, exists (
                    select from cutter_governance.approval_verdict v
                    where v.run_id = a.run_id and v.gate = a.gate and v.accepted and v.decision = 'reject'
                        and v.recorded_at >= a.requested_at) as rejected
                where exists (select from cutter_governance.approval_verdict v
                              where v.run_id = a.run_id and v.gate = a.gate and v.accepted)
                offset 0) s
                on true
            left join cutter_governance.batch_queue q
                on q.batch_id = i.batch_id and q.document_id = i.document_id and q.left_at is null
            where i.batch_id = b.batch_id and i.document_id = any(coalesce(p_documents, array(
                select document_id from cutter_governance.batch_item where batch_id = p_batch_id)))))
    from cutter_governance.batch b where b.batch_id = p_batch_id
$$;
