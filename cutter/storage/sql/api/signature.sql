-- Returns the keys that answer for each version of each law: its approvers, the executor and the verifier.
create or replace view api.signature with (security_barrier) as
select d.doc_code as document, e.n as version, s.role, s.name, s.fingerprint, s.signed_at, s.statement_sha256
from public.enactment e
join public.source_document d on d.source_document_ref = e.source_document_ref
cross join lateral (
    select case a.gate when 'SG_cut_authz' then 'approver of the cut' else 'approver of the enactment' end as role,
        a.approver as name, a.fingerprint, a.consumed_at as signed_at, a.approval_sha256 as statement_sha256
    from cutter_governance.approval_consumption a where a.run_id = e.run_id
    union all
    select x.signature_kind, x.signer_dot_id, x.signer_fingerprint, x.created_at, x.payload_hash
    from cutter_governance.dot_pair_signature x
    where x.cross_reference_change_set_id = e.change_set_id
    union all
    select x.signature_kind, x.signer_dot_id, x.signer_fingerprint, x.created_at, x.payload_hash
    from cutter_governance.verify_result r
    join cutter_governance.dot_pair_signature x on x.cross_reference_verify_result_id = r.verify_result_id
    where r.change_set_id = e.change_set_id) s;
comment on view api.signature is 'The keys that answer for each version of each law';
comment on column api.signature.document is 'Document id of the law';
comment on column api.signature.version is 'Version of the law';
comment on column api.signature.role is 'approver of the cut, approver of the enactment, executor or verifier';
comment on column api.signature.name is 'Name of the approver, or the id of the service';
comment on column api.signature.fingerprint is 'Fingerprint of the OpenPGP key';
comment on column api.signature.signed_at is 'When PostgreSQL used the approval or stored the signature';
comment on column api.signature.statement_sha256 is 'SHA-256 of the signed statement or payload';
