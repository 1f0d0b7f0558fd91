-- Records once what a silent worker cannot report: unresponsive after three missed heartbeats, shut down after ten more
-- minutes. Rows that another transaction has locked are being updated right now and are skipped.
create or replace function cutter_governance.fn_workers_judge() returns void
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
