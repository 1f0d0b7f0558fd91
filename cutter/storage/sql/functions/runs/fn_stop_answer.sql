-- Returns the answer to a caller whose run is stopped, by its latch or by its state; null for a run that continues.
create or replace function cutter_governance.fn_stop_answer(
    p_run cutter_governance.run, p_latch cutter_governance.stop_latch) returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select case
        when p_latch.stopped then
            jsonb_build_object('status', 'stopped', 'kind', p_latch.kind, 'reason', p_latch.reason)
        when p_run.state like 'stopped\_%' then
            jsonb_build_object('status', 'stopped', 'kind', substr(p_run.state, 9),
                'reason', 'the run is ' || p_run.state || ' and was not resumed') end
$$;
