-- name: inbox
-- Returns every open run that waits for a person, with its request or stop.
select f.*, r.starter, r.batch_id, r.last_error ->> 'reason' as reason,
    q.gate, q.kb_id, q.expires_at, q.expires_at <= clock_timestamp() as expired,
    coalesce(q.requested_at, r.state_at) as since,
    case when q.gate is null then 0 else cutter_governance.fn_approvals_needed(q.gate, q.tier) end as needed, coalesce(v.approvers, '{}') as accepted
from cutter_governance.run r
left join cutter_governance.approval_request q
    on q.run_id = r.run_id and q.status = 'requested' and q.kb_id is not null
    and r.state = case q.gate when 'SG_cut_authz' then 'awaiting_cut_authorization' else 'awaiting_lifecycle_authorization' end
left join lateral (
    select array_agg(distinct a.approver order by a.approver) as approvers
    from cutter_governance.fn_request_approvals(q) a) v on true
cross join lateral cutter_governance.fn_step_facts(r.run_id) f
where r.ended_at is null and (q.request_id is not null or r.state like 'stopped\_%%')
order by since, r.run_id

-- name: newest_runs
-- Returns for each document the run that its name means, the newest first.
select f.*, r.mode, r.batch_id, r.state_at, r.ended_at,
    (select count(*) from cutter_governance.gate_receipt g where g.run_id = r.run_id and g.sealed_at is not null) as sealed,
    (select min(q.expires_at) from cutter_governance.approval_request q
     where q.run_id = r.run_id and q.status = 'requested' and r.ended_at is null) as expires_at
from cutter_governance.fn_newest_runs(%(limit)s) r
cross join lateral cutter_governance.fn_step_facts(r.run_id) f
order by r.created_at desc, r.run_id

-- name: refusals_of_run
-- Returns the messages that were refused for a run, in order.
select gate, message as what, code, reason, to_jsonb(at) #>> '{}' as at from cutter_governance.message_refusal where run_id = %(run_id)s order by id

-- name: runs_not_ended
-- Returns every open run with what decides how it is reconciled.
select f.*, r.batch_id, r.first_execution_id, l.kind, l.reason as stop_reason,
    coalesce((p.stop -> 'have')::integer >= (p.stop -> 'needed')::integer, false) as resume_agreed,
    exists (select from cutter_governance.gate_attempt a where a.run_id = r.run_id) as attempted,
    extract(epoch from clock_timestamp() - r.created_at)::float as age_seconds
from cutter_governance.run r
cross join lateral cutter_governance.fn_step_facts(r.run_id) f
join cutter_governance.stop_latch l on l.run_id = r.run_id
cross join lateral (select cutter_governance.fn_policy_stop(r.run_id) as stop) as p
where r.ended_at is null
order by r.created_at, r.run_id

-- name: still_runs
-- Returns the open runs that wait for no person and have not moved for the given seconds.
select r.run_id, r.document_id, r.state,
    extract(epoch from clock_timestamp() - greatest(r.state_at, a.moved_at))::float as still_seconds
from cutter_governance.run r
left join lateral (
    select max(greatest(t.started_at, t.finished_at, t.next_eligible_at,
        case when t.finished_at is null then t.lease_expires_at end)) as moved_at
    from cutter_governance.gate_attempt t where t.run_id = r.run_id) a on true
where r.ended_at is null and r.state not like 'stopped\_%%' and r.state not like 'awaiting\_%%'
    and (%(run_id)s::text is null or r.run_id = %(run_id)s)
    and greatest(r.state_at, a.moved_at) < clock_timestamp() - make_interval(secs => %(seconds)s)
order by r.state_at, r.run_id

-- name: runs_with_waiting_documents
-- Returns the runs that have documents to put.
select distinct run_id from cutter_governance.outbox where done_at is null and run_id is not null order by run_id

-- name: audit_events
-- Returns the events of one audit chain or of all, in order.
select chain, seq, kind, body, prev_hash, hash from cutter_governance.audit_event
where %(chain)s::text is null or chain = %(chain)s order by chain collate "C", seq

-- name: all_run_ids
-- Returns the id of every run.
select run_id from cutter_governance.run order by created_at, run_id

-- name: documents_of_run
-- Returns every document of a run, in order.
select kb_id, kind, subject, body, sha256, done_at from cutter_governance.outbox where run_id = %(run_id)s order by id

-- name: snapshot_of_run
-- Returns the bytes of the version that a run pinned.
select v.content_checksum as sha256, s.bytes as data
from cutter_governance.run r
join public.source_version v on v.id = r.source_version_id
join public.source_snapshot s on s.sha256 = v.content_checksum
where r.run_id = %(run_id)s

-- name: judge_workers
-- Records which silent workers are unresponsive or shut down.
select cutter_governance.fn_workers_judge()

-- name: workers
-- Returns every worker with its last heartbeat and whether it is silent.
select worker_id, role, state, build_id, queues, started_at, seen_at, beat_seconds,
    round(extract(epoch from clock_timestamp() - seen_at))::integer as age_seconds,
    seen_at < clock_timestamp() - 3 * beat_seconds * interval '1 second' as silent
from cutter_governance.worker_heartbeat
order by state = 'shutdown', role, started_at, worker_id

-- name: transition_chains
-- Returns the chain of each run and batch, and that of the workers, with a number that grows with its transitions.
select h.chain, h.seq + coalesce((
        select count(*) + count(a.finished_at) from cutter_governance.gate_attempt a
        where a.run_id = r.run_id and r.ended_at is null), 0) as version,
    case when r.run_id is not null then 'run' when b.batch_id is not null then 'batch' else 'workers' end as kind,
    coalesce(r.batch_id, b.batch_id) as batch_id
from cutter_governance.audit_head h
left join cutter_governance.run r on r.run_id = h.chain
left join cutter_governance.batch b on b.batch_id = h.chain
where r.run_id is not null or b.batch_id is not null or h.chain = 'workers'

-- name: transitions_complete_until
-- Returns a time before which every transition is committed: a margin before now, or the oldest open attempt.
select least(clock_timestamp() - %(margin)s * interval '1 second', min(a.started_at))::text
from cutter_governance.run r
join cutter_governance.gate_attempt a on a.run_id = r.run_id
where r.ended_at is null and a.finished_at is null and a.lease_expires_at > clock_timestamp()

-- name: worker_events
-- Returns the recorded transitions of all workers, in order.
select body from cutter_governance.audit_event where chain = 'workers' and kind = 'transition' order by seq

-- name: tenants
-- Returns every tenant with its documents, caps and room.
select t.tenant, (select count(*) from public.source_document d where d.tenant = t.tenant) as documents,
    cutter_governance.fn_tenant_room(t.tenant, 'document') as document,
    cutter_governance.fn_tenant_room(t.tenant, 'batch') as batch
from (select tenant from cutter_governance.tenant_cap union select tenant from public.source_document) t
order by t.tenant

-- name: tenants_at_work
-- Returns every tenant with caps or open runs, with its room.
select t.tenant, cutter_governance.fn_tenant_room(t.tenant, 'document') as document,
    cutter_governance.fn_tenant_room(t.tenant, 'batch') as batch
from (select tenant from cutter_governance.tenant_cap
      union select tenant from cutter_governance.run where ended_at is null) t
order by t.tenant

-- name: tenants_several
-- Returns whether any tenant has caps, or more than one has open runs. If not, a list need not show tenants.
select exists (select from cutter_governance.tenant_cap)
    or (select count(distinct tenant) > 1 from cutter_governance.run where ended_at is null)

-- name: tenant_of_document
-- Returns the tenant of a document and its weight.
select d.tenant, (cutter_governance.fn_tenant_caps(d.tenant, 'document') ->> 'weight')::integer as weight
from public.source_document d where d.doc_code = %(document_id)s

-- name: tenant_set
-- Sets caps of a tenant.
select cutter_governance.fn_tenant_set(%(tenant)s, %(workflow)s, %(caps)s, %(by)s)

-- name: gauges
-- Returns the values of the database's metrics: name, labels, value.
select 'cutter_runs_open' as name, jsonb_build_object('state', s.state) as labels, count(r.run_id) as value
from (select 'pending' as state union select state from cutter_governance.run where ended_at is null) s
left join cutter_governance.run r on r.state = s.state and r.ended_at is null
group by s.state
union all
select 'cutter_requests_open', jsonb_build_object('gate', g.gate), count(q.request_id)
from (values ('SG_cut_authz'), ('SG_lifecycle_authz')) g (gate)
left join cutter_governance.approval_request q on q.gate = g.gate and q.status = 'requested'
group by g.gate
union all
select 'cutter_request_expires_timestamp_seconds', '{}', coalesce(extract(epoch from min(expires_at))::bigint, 0)
from cutter_governance.approval_request where status = 'requested'
union all
select 'cutter_queue_entries', jsonb_build_object('queue', k.queue), count(q.kb_id)
from (values ('error_queue'), ('quarantine_queue'), ('human_review_queue')) k (queue)
left join cutter_governance.batch_queue q on q.queue = k.queue and q.left_at is null
group by k.queue
union all
select 'cutter_outbox_waiting', '{}', count(*) from cutter_governance.outbox where done_at is null
union all
select 'cutter_workers', jsonb_build_object('role', role, 'state', state), count(*)
from cutter_governance.worker_heartbeat group by role, state

-- name: blocked_workers
-- Returns the living workers whose last preflight failed, with the failed checks.
select worker_id, role, state = 'initializing' as waits, queues -> 0 -> 'blocked' as reasons
from cutter_governance.worker_heartbeat
where state in ('initializing', 'idle', 'busy') and jsonb_typeof(queues -> 0 -> 'blocked') = 'array'
    and seen_at >= clock_timestamp() - greatest(3 * beat_seconds, 30) * interval '1 second'
order by role, worker_id

-- name: living_workers
-- Returns the number of living workers of each role that serve.
select role, count(*) as number from cutter_governance.worker_heartbeat
where state in ('idle', 'busy') and seen_at >= clock_timestamp() - 3 * beat_seconds * interval '1 second'
group by role order by role
