-- What leg B and the verifier record about a cut, and the review decisions (facts-domain "Tables, schema
-- cutter_governance"). Their roles write these rows, inside the transaction of their gate.

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
    -- PENDING: a request is open. PASS, REJECT, VOID: the sovereign decided. EXPIRED: it ended, and nobody decided.
    verdict text not null default 'PENDING'
        constraint review_decision_verdict check (verdict in ('PENDING', 'PASS', 'REJECT', 'VOID', 'EXPIRED')),
    actor text not null,
    findings jsonb not null default '[]',
    risk_class text,
    escalation_ref text,
    cut_change_set_ref uuid,
    prior_review_decision_id uuid references cutter_governance.review_decision,
    superseded_by_review_decision_id uuid references cutter_governance.review_decision,
    created_by text not null,
    created_at timestamptz not null default clock_timestamp(),
    decided_by text[] not null default '{}',
    decided_at timestamptz,
    approval_sha256 text[] not null default '{}',
    constraint review_decision_is_signed check (
        (verdict in ('PASS', 'REJECT', 'VOID')) = (decided_at is not null)
        and (decided_at is not null) = (cardinality(decided_by) > 0)
        and cardinality(decided_by) = cardinality(approval_sha256))
);
create index review_decision_run on cutter_governance.review_decision (run_id);
create unique index review_decision_cut_once on cutter_governance.review_decision (run_id) where type = 'cut';

-- Ids of decisions that are prepared and signed before a batch runs; the request of each run takes its own from here.
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
