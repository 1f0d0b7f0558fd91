-- Records the build that drives a run when an execution begins, and returns the run's id.
create or replace function cutter_governance.fn_run_version(p_run_id text, p_build_id text) returns text
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
    update cutter_governance.run set workflow_version_id = left(p_build_id, 100)
    where run_id = p_run_id and ended_at is null
        and workflow_version_id is distinct from left(p_build_id, 100);
    select p_run_id
$$;
