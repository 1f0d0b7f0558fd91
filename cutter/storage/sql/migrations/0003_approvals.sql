-- What people are asked and what they decide: requests, verdicts, consumed approvals, orders, voids.
-- Only definer functions write these rows (functions/approvals, functions/void).

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

-- What people decided about a policy's stop without a signature, if the signed epoch allows it: once for each stop.
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
