-- name: slack_to_ask
select q.request_id::text as subject, q.gate as place, r.run_id, r.document_id, r.docprefix, r.tenant, r.mode,
    q.expires_at, o.body as document, clock_timestamp() as now
from cutter_governance.approval_request q
join cutter_governance.run r on r.run_id = q.run_id
join cutter_governance.outbox o on o.kb_id = q.kb_id
where q.status = 'requested' and r.mode = 'live' and r.ended_at is null and q.expires_at > clock_timestamp()
    and r.state = case q.gate when 'SG_cut_authz' then 'awaiting_cut_authorization' else 'awaiting_lifecycle_authorization' end
    and not exists (select from cutter_governance.slack_outbox s where s.subject = q.request_id::text)
order by q.requested_at
limit %(most)s

-- name: slack_to_answer
select s.subject, s.run_id, s.place, s.channel, s.body,
    case when q.status = 'requested' then 'canceled' else q.status end as outcome,
    coalesce(
        (select array_agg(n.approver order by n.slot) from cutter_governance.approval_consumption n
         where q.status = 'approved' and n.run_id = q.run_id and n.gate = q.gate),
        (select array_agg(n.approver) from cutter_governance.order_consumption n
         where q.status = 'rejected' and n.run_id = q.run_id and n.decision = 'reject'), '{}') as by
from cutter_governance.slack_outbox s
join cutter_governance.run r on r.run_id = s.run_id
join cutter_governance.approval_request q on q.request_id::text = s.subject
where s.kind = 'asked' and (q.status <> 'requested' or r.ended_at is not null)
    and not exists (select from cutter_governance.slack_outbox a where a.subject = s.subject and a.kind = 'answered')
order by s.id
limit %(most)s

-- name: slack_waiting
select run_id, subject, kind, attempts, last_error from cutter_governance.slack_outbox
where done_at is null order by id

-- name: slack_card
select run_id, subject, place from cutter_governance.slack_outbox
where kind = 'asked' and subject = %(subject)s and channel = %(channel)s and message_ts = %(message_ts)s
