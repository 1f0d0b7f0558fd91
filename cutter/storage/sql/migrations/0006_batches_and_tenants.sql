-- Batches: what a queue asked for. The state of an item is the state of its newest run: nothing is stored twice.
-- The rehearsal of a queue is a batch of its own, named `<batch id>-dryrun`. Tenants and their caps are at the end.

create table cutter_governance.batch (
    batch_id text primary key check (batch_id ~ '^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}(-dryrun)?$'),
    queue_sha256 text not null,
    mode text not null check (mode = case when batch_id like '%-dryrun' then 'dryrun' else 'live' end),
    policy text not null check (policy in ('default', 'strict', 'quarantine')),
    unattended boolean not null,
    lanes integer not null check (lanes between 1 and 64),
    hard_cap_seconds double precision not null check (hard_cap_seconds > 0),
    caps jsonb not null,
    -- its tenants' shares of the lanes, as they are when it is registered
    weights jsonb not null default '{}',
    created_by text not null,
    starter text not null,
    created_at timestamptz not null default clock_timestamp(),
    state text not null default 'batch_pending' check (state in (
        'batch_pending', 'batch_planning', 'batch_awaiting_cut_authz_set', 'batch_writing',
        'batch_awaiting_lifecycle_authz_set', 'batch_enacting', 'batch_closeout', 'batch_failed_partial', 'batch_voided')),
    state_at timestamptz not null default clock_timestamp(),
    -- strict, critical, a person's stop or cancel, the hard cap: nothing more is started
    halted text check (halted in ('failure', 'critical', 'stop', 'cancel', 'hard_cap')),
    halted_reason text,
    halted_at timestamptz,
    began_at timestamptz not null default clock_timestamp(),
    -- documents whose run was voided before this are cut again
    again_at timestamptz,
    ended_at timestamptz,
    -- as the queue has them; an item's own overrides them. An actor is the person to whom requests are addressed: it gives
    -- no right, the policy does.
    default_scope text check (default_scope in ('all', 'enacted_only')),
    default_actor text check (default_actor ~ '^[A-Za-z0-9._@-]{1,64}$')
);

create table cutter_governance.batch_item (
    batch_id text not null references cutter_governance.batch,
    document_id text not null,
    position integer not null check (position > 0),
    priority integer not null,
    depends_on text[] not null default '{}',
    critical boolean not null default false,
    tenant text not null,
    source_uri text,
    marking_profile text,
    -- an item that has no run of this batch, and why
    decided text check (decided in ('busy', 'skipped', 'blocked', 'voided')),
    reason text,
    -- it had failed before this batch and was passed over: a resume alone does not take it in
    kept_out boolean not null default false,
    scope text check (scope in ('all', 'enacted_only')),
    actor text check (actor ~ '^[A-Za-z0-9._@-]{1,64}$'),
    primary key (batch_id, document_id),
    unique (batch_id, position)
);

-- What waits for a person. A row is closed (left_at) when its run goes on or ends, and never deleted.
create table cutter_governance.batch_queue (
    batch_id text not null references cutter_governance.batch,
    document_id text not null,
    run_id text references cutter_governance.run,
    queue text not null check (queue in ('error_queue', 'quarantine_queue', 'human_review_queue')),
    state text not null,
    code text not null,
    reason text not null,
    kb_id text primary key,
    entered_at timestamptz not null default clock_timestamp(),
    left_at timestamptz,
    left_as text,
    foreign key (batch_id, document_id) references cutter_governance.batch_item
);
create unique index batch_queue_open on cutter_governance.batch_queue (batch_id, document_id) where left_at is null;

-- What each tenant may have at work, begin in a minute and write in a run, and its weight among others (seed 003 §3.4).
-- A tenant without a row has weight 1 and no cap. A row for a workflow overrides the tenant's own numbers for its runs
-- outside batches (`document`) or in them (`batch`). All of the tenant's runs are counted, rehearsals too.
create table cutter_governance.tenant_cap (
    tenant text not null check (tenant ~ '^[A-Za-z0-9._@-]{1,64}$'),
    workflow text not null check (workflow in ('any', 'document', 'batch')),
    weight integer check (weight between 1 and 1000),
    max_concurrency integer check (max_concurrency between 1 and 1000000),
    max_runs_per_min integer check (max_runs_per_min between 1 and 1000000),
    max_writes_per_run integer check (max_writes_per_run between 1 and 1000000),
    set_at timestamptz not null default clock_timestamp(),
    primary key (tenant, workflow)
);
