-- Records a heartbeat and returns the worker's recorded state. A worker that was given up must register under another
-- id. Old rows are deleted, also of a crash loop, so that it keeps no worker out.
create or replace function cutter_governance.fn_worker_beat(
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
