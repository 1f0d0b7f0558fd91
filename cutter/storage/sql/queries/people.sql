-- name: sources
select d.doc_code, d.address_docprefix, v.version_seq, v.content_checksum, v.profile_id, v.size_bytes, d.tenant
from public.source_document d
join lateral (
    select * from public.source_version v
    where v.source_document_ref = d.source_document_ref order by v.version_seq desc limit 1) v on true
order by d.doc_code

-- name: document_known
select exists (select from public.source_document where doc_code = %(document_id)s)

-- name: docprefix_of_document
select address_docprefix from public.source_document where doc_code = %(document_id)s

-- name: run_of_document
select run_id from cutter_governance.fn_run_of_document(%(document_id)s) as run_id where run_id is not null

-- name: open_run_of_document
select run_id from cutter_governance.run where document_id = %(document_id)s and ended_at is null
order by created_at desc limit 1

-- name: enacting_run
select r.run_id from cutter_governance.run r
join cutter_governance.gate_receipt g on g.run_id = r.run_id
where r.document_id = %(document_id)s and g.gate = 'IG_lifecycle_enact_execute' and g.sealed_at is not null
order by g.sealed_at desc limit 1

-- name: policy_in_force
select sha256, body, thresholds, deployment_id::text from cutter_governance.policy_epoch order by number desc limit 1

-- name: profile_of_version
select v.profile_body, v.marking_options, d.address_docprefix, d.forbidden_ids
from public.source_version v
join public.source_document d on d.source_document_ref = v.source_document_ref
where v.id = %(source_version_id)s

-- name: open_request_document
select kb_id from cutter_governance.approval_request
where run_id = %(run_id)s and status = 'requested' and kb_id is not null
order by requested_at desc limit 1

-- name: asked_by_run
select exists (
    select from cutter_governance.approval_request
    where run_id = %(run_id)s and challenge = %(challenge)s and request_sha256 = %(request_sha256)s)

-- name: units_were_written
select exists (
    select from cutter_governance.gate_receipt
    where run_id = %(run_id)s and gate = 'IG_cut_leg_a_execute' and sealed_at is not null)
