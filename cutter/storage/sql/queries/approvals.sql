-- name: approval_facts
-- Returns everything but the document itself that an approval of a run at a gate is judged against, of one moment.
select jsonb_build_object(
    'run', to_jsonb(r),
    'now', clock_timestamp(),
    'epoch', (select jsonb_build_object('sha256', e.sha256, 'deployment_id', e.deployment_id, 'thresholds', e.thresholds)
              from cutter_governance.policy_epoch e order by e.number desc limit 1),
    'request', (select to_jsonb(q) from cutter_governance.approval_request q
                where q.run_id = r.run_id and q.gate = %(gate)s and q.status = 'requested'),
    'decision', (select to_jsonb(d) from cutter_governance.approval_request q
                 join cutter_governance.review_decision d on d.review_decision_id = q.review_decision_id
                 where q.run_id = r.run_id and q.gate = %(gate)s and q.status = 'requested'),
    'rehearsals', (select coalesce(jsonb_agg(q.request_sha256 order by q.requested_at), '[]')
                   from cutter_governance.run d join cutter_governance.approval_request q on q.run_id = d.run_id
                   where d.batch_id = r.batch_id || '-dryrun' and d.document_id = r.document_id and d.mode = 'dryrun'
                       and q.request_sha256 is not null),
    'prepared_at', (select p.created_at from cutter_governance.approval_request q
                    join cutter_governance.prepared_decision p on p.review_decision_id = q.review_decision_id
                    where q.run_id = r.run_id and q.gate = %(gate)s and q.status = 'requested'),
    'decision_used', exists (select from cutter_governance.approval_consumption c
                             join cutter_governance.approval_request q on q.review_decision_id = c.review_decision_id
                             where q.run_id = r.run_id and q.gate = %(gate)s and q.status = 'requested'),
    'signed', (select coalesce(jsonb_agg(jsonb_build_object('kb_id', v.kb_id, 'body', encode(s.body, 'base64'),
                   'signature', encode(s.signature, 'base64')) order by v.id), '[]')
               from (select w.* from cutter_governance.approval_verdict w
                     where w.run_id = r.run_id and w.gate = %(gate)s and w.accepted order by w.id desc limit 200) v
               join cutter_governance.signed_statement s on s.verdict_id = v.id),
    'orders', cutter_governance.fn_run_orders(r.run_id),
    'stopped_at', cutter_governance.fn_stopped_at(r.run_id),
    'ended_by_people_at', cutter_governance.fn_ended_by_people_at(r.run_id))
from cutter_governance.run r where r.run_id = %(run_id)s

-- name: approval_document_facts
-- Returns whether an approval document is known, and its target revoked, of another run, or consumed by another run.
select
    exists (select from cutter_governance.outbox o where o.kb_id = any (%(names)s) or o.sha256 = any (%(digests)s))
    or exists (select from cutter_governance.action_receipt a
               where a.connector = 'kb' and (a.target = any (%(names)s) or a.payload_sha256 = any (%(digests)s)))
        as written_by_us,
    exists (select from cutter_governance.approval_revocation v where v.approval_sha256 = any (%(digests)s)) as revoked,
    (select count(*) > 0 and not bool_or(j.run_id = %(run_id)s) from cutter_governance.approval_verdict j
     where j.approval_sha256 = %(target)s) as of_other_runs,
    exists (select from cutter_governance.approval_consumption c
            where c.approval_sha256 = any (%(digests)s) and c.run_id <> %(run_id)s) as consumed_by_another

-- name: orders_taken
-- Returns the signed documents that let a stopped run continue.
select cutter_governance.fn_run_orders(%(run_id)s)

-- name: approval_counted
-- Returns the run's state and the approval that its open request already counts under a KB id.
select r.state, a.approver, a.approval_sha256, a.reason
from cutter_governance.approval_request q
join cutter_governance.run r on r.run_id = q.run_id
cross join lateral cutter_governance.fn_request_approvals(q) a
where q.run_id = %(run_id)s and q.gate = %(gate)s and q.status = 'requested' and q.expires_at > clock_timestamp()
    and a.kb_id = %(kb_id)s and a.recorded_at >= q.requested_at
order by a.id limit 1

-- name: epoch_of_verdict
-- Returns the epoch under which an approval was accepted.
select policy_sha256 from cutter_governance.approval_verdict
where run_id = %(run_id)s and gate = %(gate)s and approval_sha256 = %(approval_sha256)s and accepted

-- name: request_open
-- Opens a request for approval with the lifetime that the run's caps give, or returns why not.
select cutter_governance.fn_request_open(%(run_id)s, %(gate)s, coalesce((
    select trunc((r.caps ->> %(ttl)s)::numeric)::integer from cutter_governance.run r where r.run_id = %(run_id)s), 0),
    %(change_set_id)s)

-- name: effect_policy_text
-- Returns the effect policy in force, or an empty text before the first one is installed.
select coalesce(cutter_governance.fn_effect_policy(), '')

-- name: request_facts
-- Returns what a request's document is rendered from: run, pins, epoch in force, time, and approvals so far.
select to_jsonb(r) as run, cutter_governance.fn_run_pins(r.run_id) as pins,
    (select jsonb_build_object('sha256', e.sha256, 'thresholds', e.thresholds)
     from cutter_governance.policy_epoch e order by e.number desc limit 1) as epoch,
    to_jsonb(clock_timestamp()) as now,
    (select coalesce(jsonb_object_agg(a.approver, a.kb_id order by a.id), '{}')
     from cutter_governance.approval_request q, cutter_governance.fn_request_approvals(q) a
     where q.run_id = r.run_id and q.gate = %(gate)s and q.status = 'requested') as accepted
from cutter_governance.run r where r.run_id = %(run_id)s

-- name: request_snapshot
-- Returns source and profile of an open request that has no document yet.
select s.bytes as data, v.profile_body, v.marking_options as options, d.forbidden_ids
from cutter_governance.approval_request q
join cutter_governance.run r on r.run_id = q.run_id
join public.source_version v on v.id = r.source_version_id
join public.source_snapshot s on s.sha256 = v.content_checksum
join public.source_document d on d.source_document_ref = v.source_document_ref
where q.run_id = %(run_id)s and q.gate = %(gate)s and q.status = 'requested' and q.kb_id is null

-- name: units_stored
-- Returns the units that a run wrote, in order of their addresses; before leg A there are none. Of a revision they are
-- the units of the new text. The prefix is a subquery, because the planner expects too many units below a column.
with law as (
    select r.docprefix as prefix from cutter_governance.run r
    where r.run_id = %(run_id)s and %(gate)s = 'SG_lifecycle_authz' and r.mode = 'live' and r.operation_kind = 'first_cut')
select u.canonical_address as address, u.id::text as unit_id, u.version_anchor_ref::text as version_id,
    u.identity_profile ->> 'title' as title, p.canonical_address as parent_address,
    (select v.content_hash from public.unit_version v where v.id = u.version_anchor_ref) as content_hash
from public.information_unit u
left join public.information_unit p on p.id = u.parent_or_container_ref
where u.canonical_address >= (select prefix || '/' from law) collate "C"
    and u.canonical_address < (select prefix || '0' from law) collate "C"
    and u.deleted_at is null and u.version_anchor_ref is not null
union all
select w.address, w.unit_id::text, v.id::text, v.title, p.canonical_address, v.content_hash
from cutter_governance.revision_row w
join public.unit_version v on v.id = w.version_id
left join public.information_unit p on p.id = v.parent_unit_id
where w.run_id = %(run_id)s and %(gate)s = 'SG_lifecycle_authz'
order by address

-- name: gates_sealed_between
-- Returns the sealed gates between the two signatures of a run, in order. At the first sovereign gate there are none.
select g.gate, g.role, g.receipt_hash, g.result -> 'invariants' as invariants
from cutter_governance.gate_receipt g
where g.run_id = %(run_id)s and %(gate)s = 'SG_lifecycle_authz' and g.sealed_at is not null and not g.rehearsal
    and g.gate in ('IG_cut_leg_a_execute', 'IG_structural_verify', 'IG_leg_b_record', 'IG_write_verify')
order by g.pin_seq

-- name: units_enacted_last
-- Returns the enacted units of the document of a first cut whose open request has no document yet.
with law as (
    select r.docprefix as prefix from cutter_governance.approval_request q
    join cutter_governance.run r on r.run_id = q.run_id
    where q.run_id = %(run_id)s and q.gate = %(gate)s and q.status = 'requested' and q.kb_id is null
        and r.operation_kind = 'first_cut')
select u.canonical_address as address, u.identity_profile ->> 'title' as title,
    (select v.content_hash from public.unit_version v where v.id = u.version_anchor_ref) as content_hash
from public.information_unit u
where u.canonical_address >= (select prefix || '/' from law) collate "C"
    and u.canonical_address < (select prefix || '0' from law) collate "C"
    and u.deleted_at is null and u.lifecycle_status = 'enacted' and u.version_anchor_ref is not null
