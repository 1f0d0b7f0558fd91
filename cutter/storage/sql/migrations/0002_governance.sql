-- Control and governance rows. Control rows are written by definer functions alone; leg B and verify rows by their
-- roles, inside the transaction of their gate (migrations 0005, 0006).

create table cutter_governance.gate_catalogue (
    gate text primary key,
    ordinal integer not null unique,
    phase text not null unique,
    from_state text not null,
    to_state text not null,
    role text not null,
    effect text not null,
    report text not null,
    sovereign text,
    writes text
);

insert into cutter_governance.gate_catalogue (
    gate, ordinal, phase, from_state, to_state, role, effect, report, sovereign, writes)
values
('IG_source_pin', 1, 'source_pin', 'pending', 'source_pinned', 'cutter_read', 'none', '01-source-pin', null, null),
('IG_mark', 2, 'mark', 'source_pinned', 'marked', 'cutter_read', 'none', '02-mark', null, null),
('IG_cutplan', 3, 'cutplan', 'marked', 'cutplan_ok', 'cutter_read', 'none', '03-cutplan', null, null),
('IG_backup', 4, 'backup', 'cutplan_ok', 'pre_write_backup_taken', 'cutter_backup', 'none', '04-pre-write-backup', null,
 null),
('IG_grant_probe', 5, 'grant_probe', 'pre_write_backup_taken', 'grants_probed', 'cutter_read', 'none',
 '05-grant-probe', null, null),
('IG_cut_leg_a_execute', 6, 'cut_leg_a', 'awaiting_cut_authorization', 'cut_leg_a_committed', 'cutter_exec',
 'units_created', '06-cut-leg-a', 'SG_cut_authz', 'create_units'),
('IG_structural_verify', 7, 'structural_verify', 'cut_leg_a_committed', 'structural_verified', 'cutter_read', 'none',
 '07-structural-verify', null, null),
('IG_leg_b_record', 8, 'leg_b_record', 'structural_verified', 'leg_b_recorded', 'cutter_exec', 'decision_recorded',
 '08-leg-b-record', null, 'record_cut'),
('IG_write_verify', 9, 'write_verify', 'leg_b_recorded', 'write_verified', 'cutter_verify', 'none',
 '09-write-verify', null, 'record_verification'),
('IG_lifecycle_enact_execute', 10, 'lifecycle_enact', 'awaiting_lifecycle_authorization', 'lifecycle_enacted',
 'cutter_exec', 'units_enacted', '10-lifecycle-enact', 'SG_lifecycle_authz', 'enact_units'),
('IG_closeout', 11, 'closeout', 'lifecycle_enacted', 'closeout_reported', 'cutter_read', 'none',
 '11-final-orchestrator-report', null, null);

create sequence cutter_governance.pin_seq;

create table cutter_governance.run (
    run_id text primary key constraint run_id_form check (run_id ~ '^ictr-[0-9]{8}T[0-9]{6}Z-[0-9a-f-]{36}$'),
    document_id text not null,
    docprefix text collate "C",
    source_document_id uuid references public.source_document (id),
    source_version_id uuid references public.source_version (id),
    mode text not null check (mode in ('dryrun', 'live')),
    state text not null default 'pending',
    outcome text,
    starter text not null,
    tenant text not null default 'default',
    batch_id text,
    amends text references cutter_governance.run,
    first_execution_id text unique,
    caps jsonb not null default '{}',
    last_error jsonb,
    created_at timestamptz not null default clock_timestamp(),
    state_at timestamptz not null default clock_timestamp(),
    ended_at timestamptz,
    -- what made it begin: a batch, a start of its workflow by Temporal's own client, or a person's command; once (003 §1.1)
    trigger_type text not null generated always as (case when batch_id is not null then 'batch'
        when first_execution_id is not null then 'workflow' else 'command' end) stored,
    trigger_ref text not null unique generated always as (coalesce(first_execution_id, run_id)) stored
);
create unique index run_active_docprefix on cutter_governance.run (docprefix)
    where mode = 'live' and ended_at is null and docprefix is not null;
create unique index run_active_document on cutter_governance.run (document_id)
    where mode = 'live' and ended_at is null;
create unique index run_success_once on cutter_governance.run (document_id, source_version_id)
    where mode = 'live' and state = 'closeout_reported';
create index run_document on cutter_governance.run (document_id, created_at);

create table cutter_governance.stop_latch (
    run_id text primary key references cutter_governance.run,
    stopped boolean not null default false,
    kind text check (kind in ('stop', 'cancel')),
    reason text,
    set_by text,
    set_at timestamptz
);

create table cutter_governance.gate_attempt (
    run_id text not null references cutter_governance.run,
    gate text not null references cutter_governance.gate_catalogue,
    n integer not null check (n > 0),
    lease_owner text not null,
    lease_expires_at timestamptz not null,
    started_at timestamptz not null default clock_timestamp(),
    finished_at timestamptz,
    outcome text,
    reason text,
    last_error text,
    next_eligible_at timestamptz,
    report jsonb,
    primary key (run_id, gate, n)
);

-- That it refers to its run holds the run: each stop waits for the gate that is open.
create table cutter_governance.gate_receipt (
    run_id text not null references cutter_governance.run,
    gate text not null references cutter_governance.gate_catalogue,
    attempt integer not null,
    role text not null,
    rehearsal boolean not null default false,
    payload_sha256 text not null,
    opened_xid xid8 not null unique default pg_current_xact_id(),
    opened_at timestamptz not null default clock_timestamp(),
    prev_hash text not null,
    before_pins jsonb not null,
    after_pins jsonb,
    policy jsonb,
    result jsonb,
    pin_seq bigint,
    sealed_at timestamptz,
    sealed_body text,
    receipt_hash text,
    primary key (run_id, gate),
    constraint gate_receipt_sealed_whole check (
        (sealed_at is null) = (receipt_hash is null) and (sealed_at is null) = (after_pins is null)
        and (sealed_at is null) = (result is null) and (sealed_at is null) = (sealed_body is null)),
    constraint gate_receipt_hash_of_body check (
        receipt_hash is null or receipt_hash = encode(sha256(convert_to(prev_hash || sealed_body, 'UTF8')), 'hex'))
);

create table cutter_governance.definition_snapshot (
    fingerprint text primary key,
    detail jsonb not null
);

create table cutter_governance.definition_cache (
    dimension text not null,
    catalog_key text not null,
    fingerprint text not null references cutter_governance.definition_snapshot,
    primary key (dimension, catalog_key)
);

create table cutter_governance.schema_baseline (
    id integer generated always as identity primary key,
    pins jsonb not null,
    schema_version integer not null,
    recorded_at timestamptz not null default clock_timestamp()
);

-- The text of each policy.yaml by which a worker decided anything, by its sha256: what a recorded decision refers to.
create table cutter_governance.governing_policy (
    sha256 text primary key,
    body text not null,
    first_used_at timestamptz not null default clock_timestamp(),
    constraint governing_policy_addressed_by_content check (sha256 = encode(sha256(convert_to(body, 'UTF8')), 'hex'))
);

create table cutter_governance.policy_epoch (
    number integer primary key check (number > 0),
    deployment_id uuid not null,
    sha256 text not null unique,
    body text not null,
    thresholds jsonb not null,
    tiers jsonb not null default '{}',
    lifecycle_group text not null,
    installed_at timestamptz not null default clock_timestamp(),
    constraint policy_epoch_addressed_by_content check (sha256 = encode(sha256(convert_to(body, 'UTF8')), 'hex'))
);

create table cutter_governance.approval_request (
    request_id uuid primary key default gen_random_uuid(),
    run_id text not null references cutter_governance.run,
    gate text not null check (gate in ('SG_cut_authz', 'SG_lifecycle_authz')),
    n integer not null,
    status text not null default 'requested'
        check (status in ('requested', 'approved', 'rejected', 'expired', 'canceled')),
    tuple jsonb not null,
    nonce text not null,
    challenge text not null unique,
    review_decision_id uuid,
    requested_at timestamptz not null,
    expires_at timestamptz not null,
    kb_id text,
    request_sha256 text,
    tier text check (tier in ('low', 'medium', 'high')),
    after_pins jsonb not null,
    pin_seq bigint not null,
    unique (run_id, gate, n)
);
create unique index approval_request_one_open on cutter_governance.approval_request (run_id, gate)
    where status = 'requested';

create table cutter_governance.approval_verdict (
    id bigint generated always as identity primary key,
    run_id text not null references cutter_governance.run,
    gate text not null,
    kb_id text not null,
    approval_sha256 text,
    accepted boolean not null,
    code text not null,
    reason text not null,
    decision text,
    approver text,
    fingerprint text,
    challenge text,
    writer_digest text,
    review_decision_id uuid,
    not_after timestamptz,
    policy_sha256 text,
    statement jsonb,
    recorded_at timestamptz not null default clock_timestamp(),
    constraint approval_verdict_accepted_is_whole check (
        not accepted or (approval_sha256 is not null and decision is not null and approver is not null
        and fingerprint is not null and not_after is not null and policy_sha256 is not null))
);
create unique index approval_verdict_accepted_once on cutter_governance.approval_verdict (run_id, gate, approval_sha256)
    where accepted;

create table cutter_governance.approval_consumption (
    approval_sha256 text primary key,
    run_id text not null references cutter_governance.run,
    gate text not null,
    slot integer not null check (slot > 0),
    request_id uuid not null references cutter_governance.approval_request,
    approver text not null,
    fingerprint text not null,
    document_id text not null,
    source_version_id uuid not null references public.source_version (id),
    writer_digest text not null,
    candidate_count integer not null,
    challenge text not null,
    review_decision_id uuid,
    policy_sha256 text not null references cutter_governance.policy_epoch (sha256),
    consumed_xid xid8 not null default pg_current_xact_id(),
    consumed_at timestamptz not null default clock_timestamp(),
    unique (run_id, gate, slot),
    unique (run_id, gate, approver),
    unique (run_id, gate, fingerprint)
);
create unique index approval_consumption_decision_once on cutter_governance.approval_consumption (review_decision_id, slot)
    where review_decision_id is not null;

create table cutter_governance.approval_revocation (
    approval_sha256 text primary key,
    revocation_sha256 text not null,
    approver text not null,
    kb_id text not null,
    recorded_at timestamptz not null default clock_timestamp()
);

create table cutter_governance.order_consumption (
    statement_sha256 text primary key,
    run_id text not null references cutter_governance.run,
    decision text not null check (decision in ('resume', 'void', 'acknowledge_drift', 'reject', 'include_failed')),
    approver text not null,
    fingerprint text not null,
    consumed_at timestamptz not null default clock_timestamp(),
    stopped_state text,
    stopped_at timestamptz
);

-- What people decided of a policy's stop without a signature, where the signed epoch lets them: each of them once a stop.
create table cutter_governance.unsigned_decision (
    id bigint generated always as identity primary key,
    run_id text not null references cutter_governance.run,
    gate text not null,
    stop text not null,
    tier text not null check (tier in ('low', 'medium', 'high')),
    decision text not null check (decision in ('approve', 'reject')),
    approver text not null,
    account text not null,
    recorded_by text not null default session_user,
    recorded_at timestamptz not null default clock_timestamp(),
    unique (stop, approver),
    unique (stop, account)
);
create index unsigned_decision_run on cutter_governance.unsigned_decision (run_id, gate);

create table cutter_governance.drift_acknowledgement (
    id bigint generated always as identity primary key,
    run_id text not null references cutter_governance.run,
    statement_sha256 text not null unique references cutter_governance.order_consumption,
    after_pins jsonb not null,
    pin_seq bigint not null,
    recorded_at timestamptz not null default clock_timestamp()
);

create table cutter_governance.void_record (
    run_id text primary key references cutter_governance.run,
    statement_sha256 text not null unique references cutter_governance.order_consumption,
    reason text not null,
    policy jsonb,
    withdrawn integer,
    opened_xid xid8 not null unique default pg_current_xact_id(),
    closed_at timestamptz,
    at timestamptz not null default clock_timestamp()
);

create table cutter_governance.message_refusal (
    id bigint generated always as identity primary key,
    run_id text not null references cutter_governance.run,
    gate text,
    message text not null,
    code text not null,
    reason text not null,
    at timestamptz not null default clock_timestamp()
);

create table cutter_governance.decision_backlog_entry (
    entry_id uuid primary key,
    run_id text not null references cutter_governance.run,
    document_id text not null,
    status text not null,
    created_by text not null,
    created_at timestamptz not null default clock_timestamp()
);

create table cutter_governance.decision_backlog_history (
    history_id uuid primary key,
    entry_id uuid not null references cutter_governance.decision_backlog_entry,
    change_kind text not null,
    status_version integer not null,
    status text not null,
    changed_by text not null,
    changed_at timestamptz not null default clock_timestamp(),
    unique (entry_id, status_version)
);

create table cutter_governance.manifest_envelope (
    envelope_id uuid primary key,
    run_id text not null unique references cutter_governance.run,
    operation_kind text not null check (operation_kind in ('first_cut', 'split', 'merge')),
    status text not null check (
        status in ('draft', 'under_review', 'accepted', 'rejected', 'withdrawn', 'enacted', 'superseded')),
    source_doc_ref text not null references public.source_document,
    escalation_ref text,
    cut_change_set_ref uuid,
    created_by text not null,
    created_at timestamptz not null default clock_timestamp(),
    reviewer text,
    reviewed_at timestamptz,
    superseded_by_envelope_id uuid references cutter_governance.manifest_envelope
);

create table cutter_governance.manifest_unit_block (
    envelope_id uuid not null references cutter_governance.manifest_envelope,
    unit_local_id text not null,
    block_role text not null check (block_role in ('origin', 'result')),
    source_span text not null,
    span_sha256 text not null,
    render_order integer not null,
    target_unit_id uuid not null references public.information_unit,
    proposed_canonical_address text not null,
    decision_backlog_ref uuid not null references cutter_governance.decision_backlog_entry,
    primary key (envelope_id, unit_local_id),
    unique (envelope_id, render_order),
    unique (envelope_id, proposed_canonical_address)
);

create table cutter_governance.review_decision (
    review_decision_id uuid primary key,
    run_id text not null references cutter_governance.run,
    type text not null check (type in ('cut', 'lifecycle_enactment')),
    manifest_id uuid references cutter_governance.manifest_envelope deferrable initially deferred,
    manifest_unit_local_id text,
    verdict text not null default 'PASS',
    actor text not null,
    findings jsonb not null default '[]',
    risk_class text,
    escalation_ref text,
    cut_change_set_ref uuid,
    prior_review_decision_id uuid references cutter_governance.review_decision,
    superseded_by_review_decision_id uuid references cutter_governance.review_decision,
    created_by text not null,
    created_at timestamptz not null default clock_timestamp()
);
create index review_decision_run on cutter_governance.review_decision (run_id);
create unique index review_decision_cut_once on cutter_governance.review_decision (run_id) where type = 'cut';

-- Ids of decisions that a sovereign's sitting makes before the night: the run's request takes its own from here.
create table cutter_governance.prepared_decision (
    review_decision_id uuid primary key,
    batch_id text not null,
    document_id text not null,
    actor text not null,
    created_by text not null,
    created_at timestamptz not null default clock_timestamp()
);
create index prepared_decision_of on cutter_governance.prepared_decision (batch_id, document_id, created_at);

create table cutter_governance.cut_change_set (
    change_set_id uuid primary key,
    run_id text not null unique references cutter_governance.run,
    decision_backlog_entry_id uuid not null references cutter_governance.decision_backlog_entry,
    review_decision_id uuid not null references cutter_governance.review_decision,
    manifest_id uuid not null references cutter_governance.manifest_envelope,
    manifest_version text not null,
    manifest_digest text not null,
    region_sha text not null,
    executor_signature_id uuid not null,
    verifier_signature_id uuid constraint cut_change_set_verifier_signs_result check (verifier_signature_id is null),
    executor_tool_revision text not null,
    verifier_tool_revision text not null,
    rollback_key text not null unique,
    idempotency_key text not null unique,
    emitted_by text not null,
    emitted_at timestamptz not null default clock_timestamp(),
    constraint cut_change_set_revisions_differ check (executor_tool_revision <> verifier_tool_revision)
);

create table cutter_governance.cut_change_set_affected_row (
    affected_row_id uuid primary key,
    change_set_id uuid not null references cutter_governance.cut_change_set deferrable initially deferred,
    unit_id uuid not null references public.information_unit,
    unit_version_id uuid not null references public.unit_version,
    content_hash text not null,
    operation text not null default 'create',
    unique (change_set_id, unit_id)
);

create table cutter_governance.verify_result (
    verify_result_id uuid primary key,
    change_set_id uuid not null unique references cutter_governance.cut_change_set,
    manifest_id uuid not null references cutter_governance.manifest_envelope,
    review_decision_id uuid not null references cutter_governance.review_decision,
    manifest_version text not null,
    executor_signature_id uuid not null,
    verifier_signature_id uuid not null,
    executor_tool_revision text not null,
    verifier_tool_revision text not null,
    tool_revision_match boolean not null constraint verify_result_revisions_differ check (not tool_revision_match),
    verify_kind text not null default 'axis_1_round_trip',
    axis_1_status text not null,
    axis_2_status text not null,
    verdict text not null check (verdict in ('pass', 'fail', 'needs_human')),
    findings jsonb not null default '[]',
    state text not null default 'complete',
    canonicalization_rule_used text not null default 'canon-md-v0.1.0',
    created_by text not null,
    created_at timestamptz not null default clock_timestamp()
);

create table cutter_governance.dot_pair_signature (
    signature_id uuid primary key,
    signature_kind text not null check (signature_kind in ('executor', 'verifier')),
    signer_dot_id text not null check (signer_dot_id in ('DOT-991', 'DOT-992')),
    signer_identity text not null,
    signer_fingerprint text not null,
    signer_tool_revision text not null,
    payload text not null,
    payload_hash text not null,
    signature text not null,
    cross_reference_change_set_id uuid
        references cutter_governance.cut_change_set deferrable initially deferred,
    cross_reference_verify_result_id uuid
        references cutter_governance.verify_result deferrable initially deferred,
    created_at timestamptz not null default clock_timestamp(),
    constraint dot_pair_signature_one_reference check (
        (signature_kind = 'executor' and cross_reference_change_set_id is not null
            and cross_reference_verify_result_id is null)
        or (signature_kind = 'verifier' and cross_reference_verify_result_id is not null
            and cross_reference_change_set_id is null)),
    constraint dot_pair_signature_dot_of_kind check (
        (signature_kind = 'executor') = (signer_dot_id = 'DOT-991')),
    constraint dot_pair_signature_hash_of_payload check (
        payload_hash = encode(sha256(convert_to(payload, 'UTF8')), 'hex'))
);
create unique index dot_pair_signature_executor_once
    on cutter_governance.dot_pair_signature (cross_reference_change_set_id)
    where cross_reference_change_set_id is not null;
create unique index dot_pair_signature_verifier_once
    on cutter_governance.dot_pair_signature (cross_reference_verify_result_id)
    where cross_reference_verify_result_id is not null;

alter table cutter_governance.cut_change_set
    add constraint cut_change_set_executor_signature_fkey foreign key (executor_signature_id)
    references cutter_governance.dot_pair_signature deferrable initially deferred;
alter table cutter_governance.verify_result
    add constraint verify_result_executor_signature_fkey foreign key (executor_signature_id)
    references cutter_governance.dot_pair_signature deferrable initially deferred,
    add constraint verify_result_verifier_signature_fkey foreign key (verifier_signature_id)
    references cutter_governance.dot_pair_signature deferrable initially deferred;
alter table cutter_governance.manifest_envelope
    add constraint manifest_envelope_change_set_fkey foreign key (cut_change_set_ref)
    references cutter_governance.cut_change_set deferrable initially deferred;
alter table cutter_governance.review_decision
    add constraint review_decision_change_set_fkey foreign key (cut_change_set_ref)
    references cutter_governance.cut_change_set deferrable initially deferred;

alter table cutter_governance.approval_request
    add constraint approval_request_decision_fkey foreign key (review_decision_id)
    references cutter_governance.review_decision;
alter table cutter_governance.approval_consumption
    add constraint approval_consumption_decision_fkey foreign key (review_decision_id)
    references cutter_governance.review_decision;
alter table public.iu_lifecycle_log
    add constraint iu_lifecycle_log_decision_fkey foreign key (review_decision_id)
    references cutter_governance.review_decision,
    add constraint iu_lifecycle_log_change_set_fkey foreign key (change_set_id)
    references cutter_governance.cut_change_set;

create table cutter_governance.action_receipt (
    id bigint generated always as identity primary key,
    tenant text not null default 'default',
    idempotency_key text not null,
    run_id text references cutter_governance.run,
    gate text,
    connector text not null,
    operation text not null,
    target text not null,
    payload_sha256 text not null,
    request_metadata jsonb not null default '{}',
    response_metadata jsonb not null default '{}',
    status text not null check (status in ('succeeded', 'failed')),
    reversible boolean not null,
    how_to_reverse text,
    recorded_by text not null default session_user,
    at timestamptz not null default clock_timestamp(),
    unique (tenant, idempotency_key)
);
create index action_receipt_run on cutter_governance.action_receipt (run_id, connector, operation);

create table cutter_governance.outbox (
    id bigint generated always as identity primary key,
    run_id text references cutter_governance.run,
    batch_id text,
    kind text not null check (kind in (
        'gate_report', 'request', 'stop_route', 'batch_overview', 'queue_entry', 'queue_summary', 'batch_report')),
    subject text not null,
    kb_id text not null unique,
    body text,
    created_at timestamptz not null default clock_timestamp(),
    done_at timestamptz,
    sha256 text,
    check (num_nonnulls(run_id, batch_id) = 1)
);
create index outbox_waiting on cutter_governance.outbox (run_id) where done_at is null;
create index outbox_waiting_of_batch on cutter_governance.outbox (batch_id) where done_at is null and batch_id is not null;

create table cutter_governance.audit_head (
    chain text primary key,
    seq bigint not null,
    hash text not null
);

create table cutter_governance.audit_event (
    chain text not null,
    seq bigint not null,
    run_id text,
    kind text not null,
    body text not null,
    prev_hash text not null,
    hash text not null,
    at timestamptz not null,
    primary key (chain, seq),
    constraint audit_event_hash_of_body
        check (hash = encode(sha256(convert_to(prev_hash || body, 'UTF8')), 'hex'))
);
