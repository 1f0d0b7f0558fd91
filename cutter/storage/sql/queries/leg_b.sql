-- name: leg_b_rows
-- Returns how many rows of each kind leg B and the verifier wrote for a run.
select jsonb_build_object(
    'decision_backlog_entry',
    (select count(*) from cutter_governance.decision_backlog_entry where run_id = %(run_id)s),
    'decision_backlog_history',
    (select count(*) from cutter_governance.decision_backlog_history where entry_id = %(entry_id)s),
    'manifest_envelope',
    (select count(*) from cutter_governance.manifest_envelope where run_id = %(run_id)s),
    'manifest_unit_block',
    (select count(*) from cutter_governance.manifest_unit_block where envelope_id = %(envelope_id)s),
    'review_decision',
    (select count(*) from cutter_governance.review_decision where run_id = %(run_id)s and type = 'cut'),
    'dot_pair_signature',
    (select count(*) from cutter_governance.dot_pair_signature
     where signature_kind = 'executor' and cross_reference_change_set_id = %(change_set_id)s),
    'cut_change_set',
    (select count(*) from cutter_governance.cut_change_set where run_id = %(run_id)s),
    'cut_change_set_affected_row',
    (select count(*) from cutter_governance.cut_change_set_affected_row where change_set_id = %(change_set_id)s)) as tables,
    (select count(distinct target_unit_id) from cutter_governance.manifest_unit_block
     where envelope_id = %(envelope_id)s) as units_in_blocks,
    (select count(distinct unit_id) from cutter_governance.cut_change_set_affected_row
     where change_set_id = %(change_set_id)s) as units_affected,
    (select count(*) from cutter_governance.cut_change_set where change_set_id = %(change_set_id)s) as change_sets,
    (select count(*) from cutter_governance.dot_pair_signature s
     join cutter_governance.verify_result v on v.verify_result_id = s.cross_reference_verify_result_id
     where v.change_set_id = %(change_set_id)s) as verifier_signatures

-- name: planned_rows
-- Returns every row of a revision with the ids and the hash of what it names, in document order.
select w.address, w.operation, w.document_order, w.unit_id, w.version_id, w.base_version_id, v.content_hash
from cutter_governance.revision_row w
join public.unit_version v on v.id = coalesce(w.version_id, w.base_version_id)
where w.run_id = %(run_id)s
order by w.document_order

-- name: leg_b_entry
-- Writes the backlog entry of a cut.
insert into cutter_governance.decision_backlog_entry (entry_id, run_id, document_id, status, created_by)
values (%(entry_id)s, %(run_id)s, %(document_id)s, 'decided', %(actor)s)

-- name: leg_b_history
-- Writes the first history row of a cut's backlog entry.
insert into cutter_governance.decision_backlog_history (history_id, entry_id, change_kind, status_version, status, changed_by)
values (%(history_id)s, %(entry_id)s, 'created', 1, 'decided', %(actor)s)

-- name: leg_b_envelope
-- Writes the manifest envelope of a cut.
insert into cutter_governance.manifest_envelope (
    envelope_id, run_id, operation_kind, status, source_doc_ref, cut_change_set_ref, created_by)
values (%(envelope_id)s, %(run_id)s, %(operation_kind)s, 'accepted', %(source_doc_ref)s, %(change_set_id)s, %(actor)s)

-- name: leg_b_blocks
-- Writes all blocks of a cut's manifest in one call.
insert into cutter_governance.manifest_unit_block (
    envelope_id, unit_local_id, block_role, source_span, span_sha256, render_order, target_unit_id,
    proposed_canonical_address, decision_backlog_ref, operation, target_version_id)
select %(envelope_id)s, b.local_id, b.role, b.span, b.span_sha256, b.place, b.unit_id, b.address, %(entry_id)s, b.operation,
    b.version_id
from unnest(%(local_ids)s::text[], %(roles)s::text[], %(spans)s::text[], %(span_sha256s)s::text[], %(places)s::integer[],
        %(unit_ids)s::uuid[], %(addresses)s::text[], %(operations)s::text[], %(version_ids)s::uuid[])
    as b(local_id, role, span, span_sha256, place, unit_id, address, operation, version_id)

-- name: leg_b_decision
-- Writes the review decision of a cut.
insert into cutter_governance.review_decision (
    review_decision_id, run_id, type, manifest_id, actor, cut_change_set_ref, created_by)
values (%(decision_id)s, %(run_id)s, 'cut', %(envelope_id)s, %(actor)s, %(change_set_id)s, %(actor)s)

-- name: leg_b_signature
-- Writes the executor's signature of a change set.
insert into cutter_governance.dot_pair_signature (
    signature_id, signature_kind, signer_dot_id, signer_identity, signer_fingerprint, signer_tool_revision, payload,
    payload_hash, signature, cross_reference_change_set_id)
values (%(signature_id)s, 'executor', %(dot_id)s, %(actor)s, %(fingerprint)s, %(executor_tool_revision)s, %(payload)s,
    %(payload_hash)s, %(signature)s, %(change_set_id)s)

-- name: leg_b_change_set
-- Writes the change set of a cut.
insert into cutter_governance.cut_change_set (
    change_set_id, run_id, decision_backlog_entry_id, review_decision_id, manifest_id, manifest_version, manifest_digest,
    region_sha, executor_signature_id, executor_tool_revision, verifier_tool_revision, rollback_key, idempotency_key,
    emitted_by)
values (%(change_set_id)s, %(run_id)s, %(entry_id)s, %(decision_id)s, %(envelope_id)s, %(manifest_version)s,
    %(manifest_digest)s, %(region_sha)s, %(signature_id)s, %(executor_tool_revision)s, %(verifier_tool_revision)s,
    %(rollback_key)s, %(idempotency_key)s, %(actor)s)

-- name: leg_b_affected
-- Writes one affected row of a change set.
insert into cutter_governance.cut_change_set_affected_row (
    affected_row_id, change_set_id, unit_id, unit_version_id, content_hash, operation, ended_version_id)
values (%(affected_row_id)s, %(change_set_id)s, %(unit_id)s, %(version_id)s, %(content_hash)s, %(operation)s,
    %(ended_version_id)s)

-- name: change_set_to_verify
-- Returns the signed change set of a run with what the verifier compares it with.
select c.change_set_id, c.manifest_id, c.review_decision_id, c.manifest_version, c.executor_signature_id,
    c.executor_tool_revision, s.payload, s.payload_hash, s.signature, s.signer_fingerprint,
    (select count(*) from cutter_governance.cut_change_set_affected_row a
     join public.unit_version v on v.id = coalesce(a.unit_version_id, a.ended_version_id) and v.content_hash = a.content_hash
     where a.change_set_id = c.change_set_id) as affected_rows,
    (select count(*) from cutter_governance.verify_result v where v.change_set_id = c.change_set_id) as results_before,
    cutter_governance.fn_stored_digest(c.run_id) as stored_writer_digest
from cutter_governance.cut_change_set c
join cutter_governance.dot_pair_signature s on s.signature_id = c.executor_signature_id
where c.run_id = %(run_id)s

-- name: verify_signature
-- Writes the verifier's signature.
insert into cutter_governance.dot_pair_signature (
    signature_id, signature_kind, signer_dot_id, signer_identity, signer_fingerprint, signer_tool_revision, payload,
    payload_hash, signature, cross_reference_verify_result_id)
values (%(signature_id)s, 'verifier', 'DOT-992', %(actor)s, %(fingerprint)s, %(tool_revision)s, %(payload)s,
    %(payload_hash)s, %(signature)s, %(verify_result_id)s)

-- name: verify_result
-- Writes the verifier's result.
insert into cutter_governance.verify_result (
    verify_result_id, change_set_id, manifest_id, review_decision_id, manifest_version, executor_signature_id,
    verifier_signature_id, executor_tool_revision, verifier_tool_revision, tool_revision_match, axis_1_status,
    axis_2_status, verdict, created_by)
values (%(verify_result_id)s, %(change_set_id)s, %(manifest_id)s, %(review_decision_id)s, %(manifest_version)s,
    %(executor_signature_id)s, %(signature_id)s, %(executor_tool_revision)s, %(tool_revision)s, false, 'pass', 'pass',
    'pass', %(actor)s)

-- name: verify_rows
-- Returns how many rows the verifier wrote for a change set.
select (select count(*) from cutter_governance.verify_result v where v.change_set_id = %(change_set_id)s) as results,
    (select count(*) from cutter_governance.verify_result v where v.verify_result_id = %(verify_result_id)s)
        as this_result,
    (select count(*) from cutter_governance.dot_pair_signature s
     where s.signature_id = %(signature_id)s and s.signature_kind = 'verifier'
         and s.cross_reference_verify_result_id = %(verify_result_id)s) as verifier_signatures
