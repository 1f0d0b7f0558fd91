-- name: newest_verdicts_on
-- Returns the newest verdict on each of the named documents, whether it still counts, and why not.
select distinct on (v.kb_id) v.kb_id, v.accepted and t.code is null and e.code is null as good,
    coalesce(t.code, e.code, v.code || ': ' || v.reason) as reason, v.fingerprint,
    cutter_governance.fn_approvals_needed(v.gate, (
        select q.tier from cutter_governance.approval_request q
        where q.run_id = v.run_id and q.gate = v.gate order by q.n desc limit 1)) as needed
from cutter_governance.approval_verdict v
left join lateral (
    select a.reason as code from cutter_governance.gate_attempt a
    join cutter_governance.gate_catalogue c on c.gate = a.gate
    where a.run_id = v.run_id and c.sovereign = v.gate and a.outcome = 'approval_refused' and a.started_at >= v.recorded_at
    order by a.n desc limit 1) t on true
left join lateral (
    select case when v.accepted and (select count(*) > 0 from cutter_governance.approval_revocation x
                                     where x.approval_sha256 = v.approval_sha256) then 'revoked'
        when v.accepted and v.policy_sha256 is distinct from (
            select sha256 from cutter_governance.policy_epoch order by number desc limit 1)
        then 'approval_of_other_epoch' end as code) e on true
where v.run_id = %(run_id)s and v.gate = %(gate)s and v.kb_id = any (%(kb_ids)s)
order by v.kb_id, v.id desc

-- name: batch_state
-- Returns the state and mode of a batch.
select state, mode from cutter_governance.batch where batch_id = %(batch_id)s

-- name: batch_of_queue
-- Returns the batch that was registered from exactly this queue.
select batch_id from cutter_governance.batch where batch_id = %(batch_id)s and queue_sha256 = %(queue_sha256)s

-- name: batch_policy
-- Returns what a batch does after a failure.
select policy from cutter_governance.batch where batch_id = %(batch_id)s

-- name: marked_by
-- Returns the profile, prefix and options that a run's version is marked with.
select v.profile_id as profile, d.address_docprefix as docprefix, v.marking_options as options, d.forbidden_ids
from cutter_governance.run r
join public.source_version v on v.id = r.source_version_id
join public.source_document d on d.source_document_ref = v.source_document_ref
where r.run_id = %(run_id)s

-- name: stop_document
-- Returns the document that the run wrote about its present state, unless a queue has it already.
select o.kb_id from cutter_governance.outbox o
where o.run_id = %(run_id)s and o.kind = 'stop_route' and o.created_at >= %(state_at)s
    and not exists (select from cutter_governance.batch_queue q where q.kb_id = o.kb_id)
order by o.id desc limit 1

-- name: queue_entries_before
-- Returns how often an item entered a queue.
select count(*) from cutter_governance.batch_queue where batch_id = %(batch_id)s and document_id = %(document_id)s

-- name: request_payload
-- Returns what the newest request of a run at a gate asks for.
select tuple from cutter_governance.approval_request
where run_id = %(run_id)s and gate = %(gate)s
order by requested_at desc limit 1

-- name: batch_outbox
-- Returns the documents about a batch that are still to be put, in order, with the database's clock.
select kb_id, body, clock_timestamp() as now from cutter_governance.outbox
where batch_id = %(batch_id)s and done_at is null order by id

-- name: newest_batch_document
-- Returns the newest document of a kind about a batch.
select kb_id from cutter_governance.outbox where batch_id = %(batch_id)s and kind = %(kind)s order by id desc limit 1

-- name: batch_documents_before
-- Returns how many documents of a kind and subject a batch has, with the newest one.
select count(*) as number, (array_agg(kb_id order by id desc))[1] as kb_id,
    (array_agg(body order by id desc))[1] as body
from cutter_governance.outbox
where batch_id = %(batch_id)s and kind = %(kind)s and subject = %(subject)s

-- name: request_documents
-- Returns the text of the open request of each named run at a gate.
select r.run_id, o.body from cutter_governance.approval_request r
join cutter_governance.outbox o on o.kb_id = r.kb_id
where r.run_id = any (%(run_ids)s) and r.gate = %(gate)s and r.status = 'requested'

-- name: open_queue
-- Returns the open queue entries of a batch.
select q.document_id, q.queue, q.state, q.code, q.kb_id
from cutter_governance.batch_queue q
where q.batch_id = %(batch_id)s and q.left_at is null
order by q.queue, q.entered_at

-- name: batch_known
-- Returns what is registered about each named document, with its open run, its enacting run and its failed run.
select d.doc_code as document_id, d.address_docprefix as docprefix, d.tenant, v.profile_id as profile,
    (select r.run_id from cutter_governance.run r
     where r.document_id = d.doc_code and r.ended_at is null
     order by r.created_at desc limit 1) as open_run,
    (select r.run_id from cutter_governance.run r
     join cutter_governance.gate_receipt g on g.run_id = r.run_id
     where r.document_id = d.doc_code and r.mode = 'live' and g.gate = 'IG_lifecycle_enact_execute'
        and g.sealed_at is not null and r.source_version_id = v.id limit 1) as enacted_run,
    (select r.run_id from cutter_governance.run r
     where r.document_id = d.doc_code and r.mode = 'live' and r.state like 'failed\_%%'
        and r.created_at > coalesce((
            select max(e.enacted_at) from public.enactment e where e.source_document_ref = d.source_document_ref), '-infinity')
     order by r.created_at desc limit 1) as failed_run,
    v.id as version_id, v.profile_sha256, v.marking_options ->> 'scope' as scope
from public.source_document d
left join lateral (
    select s.id, s.profile_id, s.profile_sha256, s.marking_options from public.source_version s where s.source_document_ref = d.source_document_ref
    order by s.version_seq desc limit 1) v on true
where d.doc_code = any (%(document_ids)s)

-- name: profiles_of_versions
-- Returns the profiles of the named versions.
select profile_sha256, profile_body from public.source_version where id = any (%(ids)s)

-- name: batch_documents
-- Returns the documents of a batch in the order of its queue.
select document_id from cutter_governance.batch_item where batch_id = %(batch_id)s order by position

-- name: tenant_rooms
-- Returns the room that each named tenant has in batches.
select cutter_governance.fn_tenant_room(t.tenant, 'batch') from unnest(%(tenants)s::text[]) as t (tenant)

-- name: tenant_weights
-- Returns the weight of each named tenant.
select coalesce(jsonb_object_agg(t.tenant, cutter_governance.fn_tenant_caps(t.tenant, 'batch') -> 'weight'), '{}')
from unnest(%(tenants)s::text[]) as t (tenant)

-- name: failed_runs
-- Returns the newest failed run of each named document.
select distinct on (r.document_id) r.document_id, r.run_id, r.state, r.batch_id from cutter_governance.run r
where r.document_id = any (%(document_ids)s) and r.mode = 'live' and r.state like 'failed\_%%'
order by r.document_id, r.created_at desc

-- name: waiting_batch_documents
-- Returns the documents about batches that are still to be put.
select batch_id, kb_id from cutter_governance.outbox where done_at is null and batch_id is not null order by id

-- name: batches_not_ended
-- Returns every batch that has not ended, or has changed since (`unseen`), with its age.
with changed as materialized (
    select q.batch_id from cutter_governance.batch_queue q
    where q.left_at is null and q.state <> (select r.state from cutter_governance.run r where r.run_id = q.run_id)
)
select b.batch_id, b.state, extract(epoch from clock_timestamp() - b.created_at)::float as age_seconds,
    b.ended_at is not null or b.batch_id in (select batch_id from changed) as unseen
from (
    select batch_id from cutter_governance.batch where ended_at is null
    union select batch_id from cutter_governance.run where ended_at is null and batch_id is not null
    union select batch_id from changed) n
cross join lateral (select * from cutter_governance.batch where batch_id = n.batch_id offset 0) b
order by b.created_at

-- name: batches
-- Returns the newest open batches, or the newest of all, with the number of their items and open queue entries.
select b.batch_id, b.mode, b.state, b.policy, b.created_at, b.ended_at, b.halted,
    (select count(*) from cutter_governance.batch_item i where i.batch_id = b.batch_id) as items,
    (select count(*) from cutter_governance.batch_queue q where q.batch_id = b.batch_id and q.left_at is null) as queued
from cutter_governance.batch b where b.ended_at is null or %(ended)s order by b.created_at desc limit %(limit)s

-- name: batch_facts
-- Returns what a batch's view and folder are made of, of one moment. A large batch's folder needs no view and history.
with r as materialized (select * from cutter_governance.run where batch_id = %(batch_id)s)
select jsonb_build_object(
    'runs', (select coalesce(jsonb_agg(jsonb_build_object(
            'run_id', r.run_id, 'document_id', r.document_id, 'state', r.state, 'outcome', r.outcome,
            'created_at', r.created_at, 'ended_at', r.ended_at) order by r.created_at, r.run_id), '[]') from r),
    'receipts', (select coalesce(jsonb_object_agg(s.run_id, s.sealed), '{}') from (
        select g.run_id, jsonb_object_agg(g.gate, g.sealed_at) as sealed
        from r join cutter_governance.gate_receipt g on g.run_id = r.run_id and g.sealed_at is not null
        group by g.run_id) s),
    'batch_moves', (select coalesce(jsonb_agg(e.body order by e.seq), '[]') from cutter_governance.audit_event e
        where e.chain = %(batch_id)s and e.kind = 'transition'),
    'queue', (select coalesce(jsonb_agg(to_jsonb(q) order by q.entered_at, q.document_id), '[]')
        from cutter_governance.batch_queue q where q.batch_id = %(batch_id)s))
    || case when not %(history)s then '{}' else jsonb_build_object(
    'view', cutter_governance.fn_batch_seen(%(batch_id)s),
    'attempts', (select coalesce(jsonb_object_agg(s.run_id, s.tries), '{}') from (
        select a.run_id, jsonb_agg(jsonb_build_object('gate', a.gate, 'n', a.n, 'started_at', a.started_at,
            'finished_at', a.finished_at, 'outcome', a.outcome, 'next_eligible_at', a.next_eligible_at,
            'lease_owner', a.lease_owner) order by a.started_at, a.gate, a.n) as tries
        from r join cutter_governance.gate_attempt a on a.run_id = r.run_id
        group by a.run_id) s),
    'moves', (select coalesce(jsonb_object_agg(s.run_id, s.moves), '{}') from (
        select e.chain as run_id,
            jsonb_agg(jsonb_build_array(e.at, e.body::jsonb ->> 'to_state', e.body::jsonb ->> 'timestamp')
                order by e.seq) as moves
        from r join cutter_governance.audit_event e on e.chain = r.run_id and e.kind = 'transition'
        group by e.chain) s),
    'requests', (select coalesce(jsonb_agg(jsonb_build_object(
            'run_id', q.run_id, 'document_id', r.document_id, 'gate', q.gate, 'n', q.n, 'status', q.status,
            'requested_at', q.requested_at, 'expires_at', q.expires_at, 'kb_id', q.kb_id,
            'request_sha256', q.request_sha256, 'writer_digest', q.tuple -> 'writer_digest',
            'units', q.tuple -> 'candidate_count') order by q.requested_at, q.run_id), '[]')
        from r join cutter_governance.approval_request q on q.run_id = r.run_id),
    'approvals', (select coalesce(jsonb_agg(jsonb_build_object(
            'run_id', v.run_id, 'gate', v.gate, 'decision', v.decision, 'approver', v.approver,
            'fingerprint', v.fingerprint, 'approval_sha256', v.approval_sha256, 'recorded_at', v.recorded_at,
            'consumed_at', (select c.consumed_at from cutter_governance.approval_consumption c
                            where c.approval_sha256 = v.approval_sha256),
            'revoked', (select count(*) > 0 from cutter_governance.approval_revocation x
                        where x.approval_sha256 = v.approval_sha256)) order by v.id), '[]')
        from r join cutter_governance.approval_verdict v on v.run_id = r.run_id and v.accepted),
    'refused', (select coalesce(jsonb_agg(jsonb_build_object(
            'document_id', r.document_id, 'gate', v.gate, 'code', v.code, 'reason', v.reason, 'kb_id', v.kb_id,
            'recorded_at', v.recorded_at) order by v.id), '[]')
        from r join cutter_governance.approval_verdict v on v.run_id = r.run_id and not v.accepted)) end

-- name: batch_size
-- Returns the number of documents of a batch.
select count(*) from cutter_governance.batch_item where batch_id = %(batch_id)s

-- name: batch_now
-- Returns what the summary of a batch is made of, of one moment.
select cutter_governance.fn_batch_seen(%(batch_id)s) as view, clock_timestamp() as now, (
    select coalesce(jsonb_object_agg(s.run_id, s.sealed), '{}') from (
        select r.run_id, count(*) as sealed
        from cutter_governance.run r join cutter_governance.gate_receipt g on g.run_id = r.run_id
        where r.batch_id = %(batch_id)s and g.sealed_at is not null group by r.run_id) s) as sealed, (
    select coalesce(jsonb_agg(cutter_governance.fn_tenant_room(i.tenant, 'batch') order by i.tenant), '[]')
    from (select distinct tenant from cutter_governance.batch_item where batch_id = %(batch_id)s) i) as rooms, (
    select coalesce(jsonb_object_agg(r.run_id, jsonb_build_object('gate', r.last_error ->> 'gate',
        'approver', r.last_error ->> 'approver', 'kb_id', r.last_error ->> 'kb_id',
        'approval_sha256', r.last_error ->> 'approval_sha256')), '{}')
    from cutter_governance.run r
    where r.batch_id = %(batch_id)s and r.state = 'failed_rejected' and r.last_error ->> 'decision' = 'reject') as rejections

-- name: rejections
-- Returns those of some runs that were rejected, each with the statement that was judged.
select r.run_id, r.last_error ->> 'gate' as gate, r.last_error ->> 'approver' as approver,
    r.last_error ->> 'kb_id' as kb_id, r.last_error ->> 'approval_sha256' as approval_sha256
from cutter_governance.run r
where r.run_id = any(%(run_ids)s::text[]) and r.state = 'failed_rejected' and r.last_error ->> 'decision' = 'reject'

-- name: batch_texts
-- Returns the newest report of a batch and the documents of its open queue entries.
(select o.kind, o.kb_id, o.body from cutter_governance.outbox o
 where o.batch_id = %(batch_id)s and o.kind = 'batch_report' order by o.id desc limit 1)
union all
select o.kind, o.kb_id, o.body from cutter_governance.batch_queue q
join cutter_governance.outbox o on o.kb_id = q.kb_id
where q.batch_id = %(batch_id)s and q.left_at is null

-- name: queues
-- Returns every open queue entry that a person can act on, of all batches or of the named batch and run.
select q.batch_id, q.document_id, q.run_id, q.queue, q.code, q.reason, q.kb_id, q.entered_at, r.state,
    clock_timestamp() as now
from cutter_governance.batch_queue q
left join cutter_governance.run r on r.run_id = q.run_id
where q.left_at is null and (%(batch_id)s::text is null or q.batch_id = %(batch_id)s)
    and (%(run_id)s::text is null or q.run_id = %(run_id)s)
    -- a document that continued or was voided since leaves its queue at the batch's next step; people need not wait
    and (r.run_id is null or case when q.queue = 'human_review_queue' then r.state like 'awaiting\_%%'
        else r.state like 'failed\_%%' or r.state like 'stopped\_%%' end)
order by q.entered_at, q.document_id

-- name: queue_document
-- Returns the text of a document.
select body from cutter_governance.outbox where kb_id = %(kb_id)s

-- name: documents_of_batch
-- Returns every document about a batch, in order.
select kb_id, body, sha256 from cutter_governance.outbox where batch_id = %(batch_id)s order by id

-- name: all_batch_ids
-- Returns the id of every batch.
select batch_id from cutter_governance.batch order by created_at, batch_id

-- name: cancel_stopped_run
-- Cancels a stopped run that a person cancelled and that has written nothing.
select cutter_governance.fn_run_stop(r.run_id, 'voided_cancelled', %(reason)s)
from cutter_governance.run r
join cutter_governance.stop_latch l on l.run_id = r.run_id and l.kind = 'cancel'
where r.run_id = %(run_id)s and r.state like 'stopped\_%%' and not exists (
    select from cutter_governance.gate_receipt g where g.run_id = r.run_id and g.gate = 'IG_cut_leg_a_execute')

-- name: silent_runs
-- Returns those of the named runs that should move and have not for the given seconds.
select r.run_id from cutter_governance.run r
where r.run_id = any (%(run_ids)s) and r.ended_at is null and r.state not like 'stopped\_%%'
    and r.state_at < clock_timestamp() - make_interval(secs => %(seconds)s)
    and not exists (
        select from cutter_governance.gate_attempt a
        where a.run_id = r.run_id and greatest(a.started_at, a.finished_at, a.next_eligible_at,
            case when a.finished_at is null then a.lease_expires_at end)
            > clock_timestamp() - make_interval(secs => %(seconds)s))
    and not exists (
        select from cutter_governance.approval_verdict v
        where v.run_id = r.run_id and v.recorded_at > clock_timestamp() - make_interval(secs => %(seconds)s))
