-- Waits until no other step of the batch runs, and keeps the others waiting until the caller's transaction ends.
create or replace function cutter_governance.fn_batch_lock(p_batch_id text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform pg_advisory_xact_lock(hashtext('cutter.batch'), hashtext(p_batch_id));
end
$$;
