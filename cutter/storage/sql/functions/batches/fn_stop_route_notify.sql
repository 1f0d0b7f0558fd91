-- Wakes the worker of a batch when one of its documents has written about its stop.
create or replace function cutter_governance.fn_stop_route_notify() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform pg_notify('cutter_batch', r.batch_id) from cutter_governance.run r
    where r.run_id = new.run_id and r.batch_id is not null;
    return null;
end
$$;
