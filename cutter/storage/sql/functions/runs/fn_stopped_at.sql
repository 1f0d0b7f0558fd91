-- Returns since when a run is stopped; null for a run that is not.
create or replace function cutter_governance.fn_stopped_at(p_run_id text) returns timestamptz
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select greatest(r.state_at, case when l.stopped then l.set_at end)
    from cutter_governance.run r join cutter_governance.stop_latch l on l.run_id = r.run_id
    where r.run_id = p_run_id and r.state like 'stopped\_%'
$$;
