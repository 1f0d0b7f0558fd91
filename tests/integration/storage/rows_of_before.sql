-- One review decision of each fate, each written as PASS at its request. What else a run has is left out.
set session_replication_role = replica;

create temp table fate as
select * from (values ('open', 'requested', null, null), ('rejected', 'rejected', 'reject', 'bob'),
    ('voided', 'canceled', 'void', 'carol'), ('expired', 'expired', null, null), ('approved', 'approved', null, 'alice'))
    as f (name, status, decision, approver);

insert into cutter_governance.review_decision (review_decision_id, run_id, type, actor, created_by)
select md5(name)::uuid, name, 'lifecycle_enactment', 'sovereigns', name from fate
union all select md5('cut')::uuid, 'approved', 'cut', 'executor', 'cut';
insert into cutter_governance.approval_request (
    request_id, run_id, gate, n, status, tuple, nonce, challenge, review_decision_id, requested_at, expires_at,
    after_pins, pin_seq)
select md5('request' || name)::uuid, name, 'SG_lifecycle_authz', 1, status, '{}'::jsonb, 'n', name, md5(name)::uuid, now(),
    now(), '{}'::jsonb, 1 from fate
union all select md5('request of the cut')::uuid, 'approved', 'SG_cut_authz', 1, 'approved', '{}', 'n', 'cut', null,
    now(), now(), '{}', 1;
insert into cutter_governance.order_consumption (statement_sha256, run_id, decision, approver, fingerprint)
select repeat(case decision when 'void' then 'c' else 'b' end, 64), name, decision, approver, 'F' from fate
where decision is not null;
insert into cutter_governance.approval_consumption (
    approval_sha256, run_id, gate, slot, request_id, approver, fingerprint, document_id, source_version_id, writer_digest,
    candidate_count, challenge, policy_sha256)
values
    (repeat('a', 64), 'approved', 'SG_lifecycle_authz', 1, md5('requestapproved')::uuid, 'alice', 'F', 'd',
        gen_random_uuid(), 'w', 1, 'c', 'p'),
    (repeat('d', 64), 'approved', 'SG_cut_authz', 1, md5('request of the cut')::uuid, 'alice', 'F', 'd',
        gen_random_uuid(), 'w', 1, 'c', 'p');
set session_replication_role = origin;
