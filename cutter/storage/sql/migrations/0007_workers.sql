-- Workers: one row for each process with its last heartbeat. Their transitions (seed 004) are audit events of the chain
-- `workers`.

create table cutter_governance.worker_heartbeat (
    worker_id text primary key check (length(worker_id) between 1 and 100),
    -- who may beat for it: the session that registered it, whose role says what it serves
    owner text not null default session_user,
    role text not null check (role in ('cutter', 'exec', 'verify')),
    build_id text not null check (length(build_id) between 1 and 100),
    state text not null default 'initializing'
        check (state in ('initializing', 'idle', 'busy', 'unresponsive', 'shutdown')),
    -- [{queue, slots, used}] of each task queue that it serves
    queues jsonb not null check (length(queues::text) <= 2000),
    beat_seconds integer not null check (beat_seconds between 1 and 300),
    started_at timestamptz not null default clock_timestamp(),
    state_at timestamptz not null default clock_timestamp(),
    seen_at timestamptz not null default clock_timestamp()
);
create index worker_heartbeat_alive on cutter_governance.worker_heartbeat (seen_at) where state <> 'shutdown';
