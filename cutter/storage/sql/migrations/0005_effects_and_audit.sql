-- What leaves the database: receipts of actions, documents to put, Slack messages; and the audit chains.

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
create index outbox_of_run on cutter_governance.outbox (run_id, kind, id) where run_id is not null;
create index outbox_of_batch on cutter_governance.outbox (batch_id, kind, id) where batch_id is not null;

-- One row is one message or one change of it, with the exact text that is sent. `subject` is what waits: a request, or
-- the stop of a run by the policy. `in_doubt`: the message may be in the channel, and nobody recorded it.
create table cutter_governance.slack_outbox (
    id bigint generated always as identity primary key,
    run_id text not null references cutter_governance.run,
    subject text not null check (subject ~ '^[A-Za-z0-9:.-]{1,120}$'),
    kind text not null check (kind in ('asked', 'answered')),
    place text not null,
    channel text not null,
    body text not null check (length(body) <= 65536),
    created_at timestamptz not null default clock_timestamp(),
    attempts integer not null default 0,
    next_eligible_at timestamptz not null default clock_timestamp(),
    in_doubt boolean not null default false,
    last_error text,
    message_ts text,
    done_at timestamptz,
    unique (subject, kind)
);
create index slack_outbox_waiting on cutter_governance.slack_outbox (next_eligible_at) where done_at is null;

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
