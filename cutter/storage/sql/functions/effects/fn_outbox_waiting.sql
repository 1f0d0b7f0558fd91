-- Returns the documents of a run that the session's role has to put. Only cutter_read puts what people must sign.
create or replace function cutter_governance.fn_outbox_waiting(p_run_id text) returns setof cutter_governance.outbox
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select * from cutter_governance.outbox o
    where o.run_id = p_run_id and o.done_at is null and cutter_governance.fn_outbox_is_mine(o) order by o.id
$$;
