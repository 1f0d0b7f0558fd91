-- Returns who holds each lane and which runs wait for it. A row's lock names a transaction, the transaction its
-- process, the process's name the run, and the run's newest attempt at the gate the worker.
create or replace function cutter_governance.fn_lanes() returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    sessions jsonb;
    lanes jsonb;
begin
    if to_regprocedure('cutter_guard.fn_sessions()') is null then
        select jsonb_agg(jsonb_build_object('pid', pid, 'role', usename, 'name', application_name)) into sessions
        from pg_stat_activity where datname = current_database();
    else
        execute 'select cutter_guard.fn_sessions()' into sessions;
    end if;
    select jsonb_agg(jsonb_build_object('lane', l.name, 'gate', g.gate, 'held', held.holder, 'waiting', waiting.runs)
        order by g.ordinal) into lanes
    from cutter_governance.lane l
    join cutter_governance.gate_catalogue g on g.lane = l.name
    left join lateral (
        select jsonb_build_object('pid', k.pid, 'role', s.one ->> 'role', 'since', coalesce(s.one ->> 'since',
                cutter_governance.fn_utc(a.started_at)), 'run_id', r.run_id, 'document_id', r.document_id,
                'worker', a.lease_owner) as holder
        from pg_locks k
        join jsonb_array_elements(sessions) as s (one) on (s.one ->> 'pid')::integer = k.pid
        left join cutter_governance.run r on r.run_id = s.one ->> 'name'
        left join lateral (select lease_owner, started_at from cutter_governance.gate_attempt
                           where run_id = r.run_id and gate = g.gate order by n desc limit 1) a on true
        where k.locktype = 'transactionid' and k.transactionid = l.xmax and k.mode = 'ExclusiveLock' and k.granted
        limit 1) held on true
    cross join lateral (
        select coalesce(jsonb_agg(r.run_id order by r.run_id), '[]') as runs
        from cutter_governance.run r
        join lateral (select outcome from cutter_governance.gate_attempt a
                      where a.run_id = r.run_id and a.gate = g.gate order by n desc limit 1) newest on true
        where r.ended_at is null and r.state = g.from_state
            and (newest.outcome = 'lane_busy'
                or newest.outcome is null and held.holder is not null
                    and r.run_id is distinct from held.holder ->> 'run_id')) waiting
    where g.gate is not null;
    return coalesce(lanes, '[]');
end
$$;
