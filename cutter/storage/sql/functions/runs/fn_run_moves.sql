-- Returns whether the run is on its way to its next gate or request. Then nobody needs its projections.
create or replace function cutter_governance.fn_run_moves(p_run_id text) returns boolean
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select exists (
        select from cutter_governance.run r
        where r.run_id = p_run_id and r.ended_at is null and r.outcome is null
            and exists (select from cutter_governance.gate_catalogue c where r.state in (c.from_state, c.to_state))
            and not exists (
                select from cutter_governance.gate_catalogue c where c.from_state = r.state and c.sovereign is not null))
$$;
