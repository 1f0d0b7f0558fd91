-- Workers: one row a process with its last heartbeat; its transitions (seed 004) are audit events of the chain `workers`.

-- The worker's build id of a run's newest execution (seed 003 §1.1).
alter table cutter_governance.run add column workflow_version_id text;

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

-- The trigger of a worker's transition (cutter/lifecycle says the same); null: not allowed.
create function cutter_governance.fn_worker_trigger(p_from text, p_to text) returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
return case p_from || ' ' || p_to
    when 'initializing idle' then 'registration_complete'
    when 'idle busy' then 'task_assigned'
    when 'busy idle' then 'task_completed'
    when 'idle unresponsive' then 'health_check_timeout'
    when 'busy unresponsive' then 'health_check_timeout'
    when 'unresponsive idle' then 'health_check_recovered'
    when 'unresponsive shutdown' then 'max_timeout_exceeded'
    when 'initializing shutdown' then 'shutdown_requested'
    when 'idle shutdown' then 'shutdown_requested'
    when 'busy shutdown' then 'shutdown_requested'
end;

-- Moves a worker and records the transition with seed 004's fields; the row is locked by the caller.
create function cutter_governance.fn_worker_move(p_worker cutter_governance.worker_heartbeat, p_to text)
returns cutter_governance.worker_heartbeat
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_trigger text := cutter_governance.fn_worker_trigger(p_worker.state, p_to);
    moved cutter_governance.worker_heartbeat;
begin
    if v_trigger is null then
        raise exception 'worker %: % is not reached from %', p_worker.worker_id, p_to, p_worker.state
            using errcode = 'CU006';
    end if;
    -- the chain's head first: what stands behind another event on the chain also happened behind it
    insert into cutter_governance.audit_head (chain, seq, hash)
    values ('workers', 0, cutter_governance.fn_digest('workers')) on conflict do nothing;
    perform from cutter_governance.audit_head where chain = 'workers' for update;
    update cutter_governance.worker_heartbeat set state = p_to, state_at = clock_timestamp()
    where worker_id = p_worker.worker_id returning * into moved;
    perform cutter_governance.fn_audit_append('workers', 'workers', 'transition', jsonb_build_object(
        'timestamp', cutter_governance.fn_utc(moved.state_at), 'event_type', 'worker_state_transition',
        'severity', case when 'unresponsive' in (p_to, p_worker.state) and p_to <> 'idle' then 'error' else 'info' end,
        'entity_id', p_worker.worker_id, 'from_state', p_worker.state, 'to_state', p_to, 'trigger', v_trigger,
        'metadata', jsonb_build_object('role', moved.role, 'build_id', moved.build_id, 'queues', moved.queues)));
    if p_worker.state = 'initializing' then
        perform cutter_governance.fn_audit_anchor('workers', 'worker_registered');
    end if;
    return moved;
end
$$;

-- Records, once, what workers can no longer say themselves: three heartbeats missed, then ten minutes of silence; of one
-- that never came to serve, the latter alone. Rows that another transaction holds are beating or judged right now.
create function cutter_governance.fn_workers_judge() returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    silent cutter_governance.worker_heartbeat;
begin
    for silent in
        select * from cutter_governance.worker_heartbeat
        where state <> 'shutdown' and seen_at < clock_timestamp() - interval '1 second'
            * case state when 'initializing' then 600 else least(3 * beat_seconds, 600) end
        order by worker_id for update skip locked
    loop
        if silent.state in ('idle', 'busy') then
            silent := cutter_governance.fn_worker_move(silent, 'unresponsive');
        end if;
        if silent.seen_at < clock_timestamp() - interval '10 minutes' then
            perform cutter_governance.fn_worker_move(silent, 'shutdown');
        end if;
    end loop;
end
$$;

-- A heartbeat: registers the worker when it initialises, then says what it does. Answers with the recorded state; one
-- that was given up (`shutdown`, or its row is gone) registers under another id. What was not heard of for a week goes,
-- and of those that have ended all but the newest thousand of each owner: a crash loop keeps nobody out.
create function cutter_governance.fn_worker_beat(
    p_worker_id text, p_build_id text, p_beat_seconds integer, p_queues jsonb, p_state text)
returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_role text := case session_user when 'cutter_read' then 'cutter' when 'cutter_exec' then 'exec'
        when 'cutter_verify' then 'verify' end;
    seen cutter_governance.worker_heartbeat;
begin
    if v_role is null then
        raise exception '% serves no task queue', session_user using errcode = 'CU006';
    end if;
    select * into seen from cutter_governance.worker_heartbeat where worker_id = p_worker_id for update;
    if not found then
        if p_state <> 'initializing' then
            return 'shutdown';
        end if;
        perform cutter_governance.fn_workers_judge();
        delete from cutter_governance.worker_heartbeat
        where seen_at < clock_timestamp() - interval '7 days' or worker_id in (
            select worker_id from cutter_governance.worker_heartbeat
            where owner = session_user and state = 'shutdown' order by seen_at desc, worker_id offset 1000);
        if (select count(*) from cutter_governance.worker_heartbeat
            where owner = session_user and state <> 'shutdown') >= 1000
        then
            raise exception 'too many workers of % at once', session_user using errcode = 'CU006';
        end if;
        insert into cutter_governance.worker_heartbeat (worker_id, role, build_id, queues, beat_seconds)
        values (p_worker_id, v_role, p_build_id, p_queues, p_beat_seconds);
        return 'initializing';
    end if;
    if seen.owner <> session_user then
        raise exception 'worker % is not one of %', p_worker_id, session_user using errcode = 'CU006';
    end if;
    if seen.state = 'shutdown' then
        return seen.state;
    end if;
    update cutter_governance.worker_heartbeat set seen_at = clock_timestamp(), queues = p_queues
    where worker_id = p_worker_id returning * into seen;
    -- it comes back, and it goes from any work to any other, by being idle
    if seen.state = 'unresponsive' or (seen.state = 'initializing' and p_state = 'busy') then
        seen := cutter_governance.fn_worker_move(seen, 'idle');
    end if;
    if seen.state <> p_state then
        seen := cutter_governance.fn_worker_move(seen, p_state);
    end if;
    return seen.state;
end
$$;

-- Which build drives a run, written when an execution begins; answers with the run's id.
create function cutter_governance.fn_run_version(p_run_id text, p_build_id text) returns text
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
    update cutter_governance.run set workflow_version_id = left(p_build_id, 100)
    where run_id = p_run_id and ended_at is null
        and workflow_version_id is distinct from left(p_build_id, 100);
    select p_run_id
$$;
