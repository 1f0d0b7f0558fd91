-- name: newest_verdict_on
select accepted, code, reason from cutter_governance.approval_verdict
where run_id = %(run_id)s and gate = %(gate)s and kb_id = %(kb_id)s
order by id desc limit 1

-- name: queue_entries_before
select count(*) from cutter_governance.batch_queue where batch_id = %(batch_id)s and document_id = %(document_id)s

-- name: request_payload
select tuple from cutter_governance.approval_request
where run_id = %(run_id)s and gate = %(gate)s
order by requested_at desc limit 1

-- name: newest_batch_document
select kb_id from cutter_governance.outbox where batch_id = %(batch_id)s and kind = %(kind)s order by id desc limit 1

-- name: batch_documents_before
select count(*) from cutter_governance.outbox
where batch_id = %(batch_id)s and kind = %(kind)s and subject = %(subject)s

-- name: request_documents
select r.run_id, o.body from cutter_governance.approval_request r
join cutter_governance.outbox o on o.kb_id = r.kb_id
where r.run_id = any (%(run_ids)s) and r.gate = %(gate)s and r.status = 'requested'

-- name: open_queue
select q.document_id, q.run_id, q.queue, q.state, q.code, q.reason, q.kb_id, q.entered_at
from cutter_governance.batch_queue q
where q.batch_id = %(batch_id)s and q.left_at is null
order by q.queue, q.entered_at

-- name: batch_known
select d.doc_code, d.address_docprefix, d.tenant, v.profile_id,
    (select r.run_id from cutter_governance.run r
     where r.document_id = d.doc_code and r.mode = 'live' and r.ended_at is null
     order by r.created_at desc limit 1) as open_run,
    (select r.run_id from cutter_governance.run r
     where r.document_id = d.doc_code and r.mode = 'live' and r.state = 'closeout_reported'
        and r.source_version_id = v.id limit 1) as enacted_run,
    (select r.run_id from cutter_governance.run r
     where r.document_id = d.doc_code and r.mode = 'live' and r.state like 'failed\_%%'
     order by r.created_at desc limit 1) as failed_run
from public.source_document d
left join lateral (
    select s.id, s.profile_id from public.source_version s where s.source_document_ref = d.source_document_ref
    order by s.version_seq desc limit 1) v on true
where d.doc_code = any (%(document_ids)s)

-- name: batches
select b.batch_id, b.mode, b.state, b.policy, b.created_at, b.ended_at, b.halted,
    (select count(*) from cutter_governance.batch_item i where i.batch_id = b.batch_id) as items,
    (select count(*) from cutter_governance.batch_queue q where q.batch_id = b.batch_id and q.left_at is null) as queued
from cutter_governance.batch b order by b.created_at desc limit %(limit)s
