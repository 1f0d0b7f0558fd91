-- Wakes the waiting worker when a batch itself changes, at the COMMIT of the change. Any role can fill the server's
-- notification queue, and a COMMIT that meets a full queue fails. Therefore from half full on nothing is sent, and
-- workers find the change when they next look at the whole batch.
create or replace function cutter_governance.fn_batch_notify() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if pg_notification_queue_usage() < 0.5 then
        perform pg_notify('cutter_batch', new.batch_id);
    end if;
    return null;
end
$$;
