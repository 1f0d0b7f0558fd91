-- name: sources
-- Returns every registered document with its newest version.
select d.doc_code as document_id, d.address_docprefix as docprefix, v.version_seq as version,
    v.content_checksum as sha256, v.profile_id as profile, v.size_bytes, d.tenant
from public.source_document d
join lateral (
    select * from public.source_version v
    where v.source_document_ref = d.source_document_ref order by v.version_seq desc limit 1) v on true
order by d.doc_code

-- name: document_known
-- Returns whether a document is registered.
select exists (select from public.source_document where doc_code = %(document_id)s)

-- name: docprefix_of_document
-- Returns the prefix of a document.
select address_docprefix from public.source_document where doc_code = %(document_id)s

-- name: run_of_document
-- Returns the run that a document's name means, or no row.
select run_id from cutter_governance.fn_run_of_document(%(document_id)s) as run_id where run_id is not null

-- name: open_run_of_document
-- Returns the newest open run of a document.
select run_id from cutter_governance.run where document_id = %(document_id)s and ended_at is null
order by created_at desc limit 1

-- name: policy_in_force
-- Returns the newest epoch of approvers.
select sha256, body, thresholds, deployment_id::text as deployment_id from cutter_governance.policy_epoch order by number desc limit 1

-- name: profile_of_version
-- Returns the profile, options and prefix of a version.
select v.profile_body, v.marking_options as options, d.address_docprefix as docprefix, d.forbidden_ids
from public.source_version v
join public.source_document d on d.source_document_ref = v.source_document_ref
where v.id = %(source_version_id)s

-- name: newest_request
-- Returns the request that is shown of a run: the open one, else the newest one, and whether anybody can answer it.
select q.kb_id, q.status, q.status = 'requested' and r.ended_at is null as is_open, q.expires_at, r.mode, r.state
from cutter_governance.approval_request q
join cutter_governance.run r on r.run_id = q.run_id
where q.run_id = %(run_id)s and q.kb_id is not null
order by q.status = 'requested' desc, q.requested_at desc limit 1

-- name: newer_versions
-- Returns the runs whose document has a newer version than the pinned one, if no run has taken the newest version.
select r.run_id, v.version_seq as pinned, n.version_seq as newest, n.registered_by, n.registered_at
from cutter_governance.run r
join public.source_version v on v.id = r.source_version_id
join lateral (
    select s.id, s.version_seq, s.registered_by, s.registered_at from public.source_version s
    where s.source_document_ref = v.source_document_ref
    order by s.version_seq desc limit 1) n on n.version_seq > v.version_seq
where r.run_id = any(%(run_ids)s)
    and not exists (select from cutter_governance.run x where x.source_version_id = n.id)

-- name: text_of_run
-- Returns the text that a run has pinned, with everything that decides how it is marked. No row before the pin.
select s.bytes as data, v.profile_body, v.marking_options as options, r.docprefix, d.forbidden_ids,
    v.id::text as source_version_id
from cutter_governance.run r
join public.source_version v on v.id = r.source_version_id
join public.source_snapshot s on s.sha256 = v.content_checksum
join public.source_document d on d.source_document_ref = v.source_document_ref
where r.run_id = %(run_id)s and r.docprefix is not null

-- name: units_held
-- Returns how many units there are now below the prefix of a run, by their lifecycle status.
with law as (select r.docprefix as prefix from cutter_governance.run r where r.run_id = %(run_id)s)
select u.lifecycle_status as status, count(*) as units
from public.information_unit u
where u.canonical_address >= (select prefix || '/' from law) collate "C"
    and u.canonical_address < (select prefix || '0' from law) collate "C" and u.deleted_at is null
group by u.lifecycle_status order by u.lifecycle_status

-- name: asked_by_run
-- Returns whether a run asked for approval with this challenge and this document.
select exists (
    select from cutter_governance.approval_request
    where run_id = %(run_id)s and challenge = %(challenge)s and request_sha256 = %(request_sha256)s)

-- name: units_were_written
-- Returns whether leg A of a run is sealed.
select exists (
    select from cutter_governance.gate_receipt
    where run_id = %(run_id)s and gate = 'IG_cut_leg_a_execute' and sealed_at is not null)

-- name: enacted_version
-- Returns the newest enactment of a document, and whether its version is the newest one.
select e.run_id, e.effective_from, v.id = e.source_version_id as is_newest
from public.enactment e
join lateral (
    select s.id from public.source_version s where s.source_document_ref = e.source_document_ref
    order by s.version_seq desc limit 1) v on true
where e.source_document_ref = %(document_id)s
order by e.n desc limit 1

-- name: document_names
-- Returns the registered documents that come before and after a name in the alphabet, the nearest ones of each.
(select doc_code from public.source_document where doc_code >= %(near)s order by doc_code limit %(limit)s)
union all
(select doc_code from public.source_document where doc_code < %(near)s order by doc_code desc limit %(limit)s)

-- name: first_document
-- Returns the registered document that comes first in the alphabet.
select doc_code from public.source_document order by doc_code limit 1

-- name: batch_names
-- Returns the ids of the newest batches.
select batch_id from cutter_governance.batch order by created_at desc limit %(limit)s

-- name: tenants_declared
-- Returns the tenants that have caps.
select tenant from cutter_governance.tenant_cap order by tenant

-- name: text_of_newest_version
-- Returns the bytes, profile and options of a document's newest version.
select s.bytes as data, v.profile_body, v.marking_options as options, d.address_docprefix as docprefix, d.forbidden_ids
from public.source_document d
join lateral (
    select * from public.source_version v
    where v.source_document_ref = d.source_document_ref order by v.version_seq desc limit 1) v on true
join public.source_snapshot s on s.sha256 = v.content_checksum
where d.doc_code = %(document_id)s

-- name: runs_signed_by
-- Returns the runs of a batch whose open request one approver has approved, if the approval may still open the gate.
select q.run_id
from cutter_governance.run r
join cutter_governance.approval_request q on q.run_id = r.run_id and q.status = 'requested'
where r.batch_id = %(batch_id)s
    and exists (select from cutter_governance.fn_request_approvals(q) v where v.approver = %(approver)s)

-- name: state_of_requests
-- Returns for each of these requests whether it is open, its run's state, and whether one approver has approved it.
select q.request_sha256, q.run_id, q.status, r.state, q.status = 'requested' and r.ended_at is null as is_open,
    exists (select from cutter_governance.fn_request_approvals(q) v where v.approver = %(approver)s) as approved
from cutter_governance.approval_request q
join cutter_governance.run r on r.run_id = q.run_id
where q.run_id = any(%(run_ids)s) and q.request_sha256 = any(%(requests)s)

-- name: backups
-- Returns the newest backups with their documents. The time of its receipt orders the backups of one second.
select a.target as artifact, a.response_metadata ->> 'sha256' as sha256, a.response_metadata ->> 'taken_utc' as taken_utc,
    (a.response_metadata ->> 'size_bytes') as size_bytes, a.response_metadata -> 'restore_point' ->> 'name' as restore_point,
    (select r.document_id from cutter_governance.run r where r.run_id = a.run_id) as document_id
from cutter_governance.action_receipt a
where a.connector = 'backup' and a.operation = 'take'
order by a.response_metadata ->> 'taken_utc' desc nulls last, a.at desc, a.target
limit %(limit)s
