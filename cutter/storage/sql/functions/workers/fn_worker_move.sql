-- Moves a worker to a state and records the transition with seed 004's fields; the caller has locked the row.
create or replace function cutter_governance.fn_worker_move(p_worker cutter_governance.worker_heartbeat, p_to text)
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
    -- the chain's head first: a later event on the chain also happened later
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
