-- Rows of nine tables for one document, with bodies that a careless reader of COPY text would stumble over. Foreign keys and the
-- gateway are switched off: what is proven here is the backup, not the cut.
SET session_replication_role = replica;
ALTER TABLE public.information_unit DISABLE TRIGGER ALL;
ALTER TABLE public.unit_version DISABLE TRIGGER ALL;
ALTER TABLE public.iu_lifecycle_log DISABLE TRIGGER ALL;
ALTER TABLE cutter_governance.manifest_envelope DISABLE TRIGGER ALL;
ALTER TABLE cutter_governance.manifest_unit_block DISABLE TRIGGER ALL;
ALTER TABLE cutter_governance.review_decision DISABLE TRIGGER ALL;
ALTER TABLE cutter_governance.cut_change_set DISABLE TRIGGER ALL;
ALTER TABLE cutter_governance.cut_change_set_affected_row DISABLE TRIGGER ALL;
ALTER TABLE cutter_governance.dot_pair_signature DISABLE TRIGGER ALL;

CREATE TEMP TABLE made AS
SELECT n, md5('{number}unit' || n)::uuid AS unit_id, md5('{number}version' || n)::uuid AS version_id,
       format(E'## Điều %s\n\\.\nCOPY public.unit_version FROM stdin;\n\ttab \\N back\\slash \u2028 %s\n', n, '{canary}')
       AS body
  FROM generate_series(1, {units}) AS n;

INSERT INTO public.source_document
       (source_document_ref, doc_code, address_docprefix, source_family, authority_class, registered_by)
VALUES ('document-{number}', 'ICX-LAW-{number}', 'ICX-LAW-{number}', 'law', 'law', 'test');
INSERT INTO cutter_governance.run (run_id, document_id, mode, starter)
VALUES ('ictr-20260101T000000Z-00000000-0000-7000-8000-00000000000{number}', 'ICX-LAW-{number}', 'live', 'test');
INSERT INTO public.information_unit
       (id, canonical_address, unit_kind, content_anchor_ref, version_anchor_ref, owner_ref, identity_profile,
        created_by, updated_by)
SELECT unit_id, format('ICX-LAW-{number}/DIEU-%s', n), 'law_unit', version_id::text, version_id, 'incomex_council',
       jsonb_build_object('title', format('Điều %s "{canary}"', n)), 'test', 'test'
  FROM made;
INSERT INTO public.unit_version (id, unit_id, body, content_hash, version_seq, created_by, source_version_id,
       document_order, title, unit_kind, section_type, owner_ref)
SELECT version_id, unit_id, body, encode(sha256(convert_to(body, 'UTF8')), 'hex'), 1, 'test', md5('{number}source')::uuid, n,
       format('Điều %s "{canary}"', n), 'law_unit', 'article', 'incomex_council' FROM made;
INSERT INTO public.iu_lifecycle_log (unit_id, from_status, to_status, actor, reason)
SELECT unit_id, 'draft', 'enacted', 'test', CASE n % 2 WHEN 0 THEN '' END FROM made ORDER BY n;
INSERT INTO cutter_governance.manifest_envelope (envelope_id, run_id, operation_kind, status, source_doc_ref, created_by)
VALUES (md5('{number}envelope')::uuid, 'ictr-20260101T000000Z-00000000-0000-7000-8000-00000000000{number}', 'first_cut', 'draft', 'document-{number}', 'test');
INSERT INTO cutter_governance.manifest_unit_block
       (envelope_id, unit_local_id, block_role, source_span, span_sha256, render_order, target_unit_id,
        proposed_canonical_address, decision_backlog_ref)
SELECT md5('{number}envelope')::uuid, 'r' || n, 'result', format('%s-%s', n, n + 1), md5(body), n, unit_id,
       format('ICX-LAW-{number}/DIEU-%s', n), md5('{number}entry')::uuid
  FROM made;
INSERT INTO cutter_governance.review_decision (review_decision_id, run_id, type, actor, created_by)
VALUES (md5('{number}decision')::uuid, 'ictr-20260101T000000Z-00000000-0000-7000-8000-00000000000{number}', 'cut', 'test', 'test');
INSERT INTO cutter_governance.cut_change_set
       (change_set_id, run_id, decision_backlog_entry_id, review_decision_id, manifest_id, manifest_version,
        manifest_digest, region_sha, executor_signature_id, executor_tool_revision, verifier_tool_revision,
        rollback_key, idempotency_key, emitted_by)
VALUES (md5('{number}change')::uuid, 'ictr-20260101T000000Z-00000000-0000-7000-8000-00000000000{number}', md5('{number}entry')::uuid, md5('{number}decision')::uuid, md5('{number}envelope')::uuid, 'v', 'm', 'r',
        md5('{number}signature')::uuid, 'a', 'b', 'k{number}', 'i{number}', 'test');
INSERT INTO cutter_governance.cut_change_set_affected_row
       (affected_row_id, change_set_id, unit_id, unit_version_id, content_hash)
SELECT md5('{number}row' || n)::uuid, md5('{number}change')::uuid, unit_id, version_id, md5(body) FROM made;
INSERT INTO cutter_governance.dot_pair_signature
       (signature_id, signature_kind, signer_dot_id, signer_identity, signer_fingerprint, signer_tool_revision, payload,
        payload_hash, signature, cross_reference_change_set_id)
VALUES (md5('{number}signature')::uuid, 'executor', 'DOT-991', 'e', 'f', 'a', 'p{number}', encode(sha256('p{number}'), 'hex'), 's',
        md5('{number}change')::uuid);
