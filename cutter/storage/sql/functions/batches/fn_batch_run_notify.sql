-- Wakes the waiting worker when something about a run of a batch was recorded, at the COMMIT, and names the document. Like
-- fn_batch_notify, it leaves half of the server's notification queue free.
create or replace function cutter_governance.fn_batch_run_notify() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform pg_notify('cutter_batch', r.batch_id || ' ' || r.document_id) from cutter_governance.run r
    where r.run_id = new.run_id and r.batch_id is not null and pg_notification_queue_usage() < 0.5;
    return null;
end
$$;
