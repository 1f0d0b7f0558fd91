-- Returns the state from which a stopped run continues: the one that its newest sealed receipt reached.
create or replace function cutter_governance.fn_reached_state(p_run_id text) returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select coalesce((
        select c.to_state from cutter_governance.gate_receipt r
        join cutter_governance.gate_catalogue c on c.gate = r.gate
        where r.run_id = p_run_id and r.sealed_at is not null order by c.ordinal desc limit 1), 'pending')
$$;
