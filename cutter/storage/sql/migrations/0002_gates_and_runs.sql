-- Gates, runs and what the gates record: attempts, receipts, fingerprints of definitions, policies, lanes.
-- Only definer functions write these rows (functions/gates, functions/runs).

-- One row for each gate, in the order of their ordinals, without a gap; cutter/catalogue.py has the same rows. Functions
-- ask for what a gate does, never for its ordinal's value, so that a gate can be added (docs/internals).
create table cutter_governance.gate_catalogue (
    gate text primary key,
    ordinal integer not null unique check (ordinal > 0),
    phase text not null unique,
    from_state text not null,
    to_state text not null,
    role text not null,
    effect text not null,
    report text not null,
    sovereign text,
    writes text,
    -- the lane that the gate holds while it is open
    lane text check (lane in ('write', 'enact')),
    -- a dry run rehearses this gate, and ends before every gate from here on
    rehearsable boolean not null default false,
    -- the gate pins the registered source version of its run
    pins_source boolean not null default false
);

insert into cutter_governance.gate_catalogue (
    gate, ordinal, phase, from_state, to_state, role,
    effect, report, sovereign, writes, lane, rehearsable, pins_source)
values
('IG_source_pin', 1, 'source_pin', 'pending', 'source_pinned', 'cutter_read',
 'none', '01-source-pin', null, null, null, false, true),
('IG_mark', 2, 'mark', 'source_pinned', 'marked', 'cutter_read',
 'none', '02-mark', null, null, null, false, false),
('IG_cutplan', 3, 'cutplan', 'marked', 'cutplan_ok', 'cutter_read',
 'none', '03-cutplan', null, null, null, false, false),
('IG_backup', 4, 'backup', 'cutplan_ok', 'pre_write_backup_taken', 'cutter_backup',
 'none', '04-pre-write-backup', null, null, null, false, false),
('IG_grant_probe', 5, 'grant_probe', 'pre_write_backup_taken', 'grants_probed', 'cutter_read',
 'none', '05-grant-probe', null, null, null, false, false),
('IG_cut_leg_a_execute', 6, 'cut_leg_a', 'awaiting_cut_authorization', 'cut_leg_a_committed', 'cutter_exec',
 'units_created', '06-cut-leg-a', 'SG_cut_authz', 'create_units', 'write', true, false),
('IG_structural_verify', 7, 'structural_verify', 'cut_leg_a_committed', 'structural_verified', 'cutter_read',
 'none', '07-structural-verify', null, null, null, false, false),
('IG_leg_b_record', 8, 'leg_b_record', 'structural_verified', 'leg_b_recorded', 'cutter_exec',
 'decision_recorded', '08-leg-b-record', null, 'record_cut', null, false, false),
('IG_write_verify', 9, 'write_verify', 'leg_b_recorded', 'write_verified', 'cutter_verify',
 'none', '09-write-verify', null, 'record_verification', null, false, false),
('IG_lifecycle_enact_execute', 10, 'lifecycle_enact', 'awaiting_lifecycle_authorization', 'lifecycle_enacted', 'cutter_exec',
 'units_enacted', '10-lifecycle-enact', 'SG_lifecycle_authz', 'enact_units', 'enact', false, false),
('IG_closeout', 11, 'closeout', 'lifecycle_enacted', 'closeout_reported', 'cutter_read',
 'none', '11-final-orchestrator-report', null, null, null, false, false);

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
    -- what made the run begin: a batch, a start of its workflow by Temporal's own client, or a person's command (003 §1.1)
    trigger_type text not null generated always as (case when batch_id is not null then 'batch'
        when first_execution_id is not null then 'workflow' else 'command' end) stored,
    trigger_ref text not null unique generated always as (coalesce(first_execution_id, run_id)) stored,
    -- the worker's build id of the run's newest execution (seed 003 §1.1)
    workflow_version_id text,
    -- as in a queue: lower first; only a run that has not begun is given one
    priority integer not null default 100 check (priority between 0 and 9999)
);
create unique index run_active_docprefix on cutter_governance.run (docprefix)
    where mode = 'live' and ended_at is null and docprefix is not null;
create unique index run_active_document on cutter_governance.run (document_id)
    where mode = 'live' and ended_at is null;
create unique index run_success_once on cutter_governance.run (document_id, source_version_id)
    where mode = 'live' and state = 'closeout_reported';
create index run_document on cutter_governance.run (document_id, created_at);
create index run_of_batch on cutter_governance.run (batch_id, document_id, created_at) where batch_id is not null;
create index run_of_tenant on cutter_governance.run (tenant, created_at);
create index run_open_of_tenant on cutter_governance.run (tenant) where ended_at is null;

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

-- The foreign key to the run locks the run's row, so a stop waits for the open gate.
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

-- The text of each policy.yaml that a worker decided by, under its sha256; recorded decisions refer to it.
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

-- The caller that has locked a lane's row holds the lane. Only the owner has a privilege on the table, and FOR UPDATE
-- needs one, so no other role can lock a row except through the gate functions. A lane without its row is always busy.
create table cutter_governance.lane (
    name text primary key check (name in ('write', 'enact', 'policy_epoch'))
);
insert into cutter_governance.lane values ('write'), ('enact'), ('policy_epoch');
