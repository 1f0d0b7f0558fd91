-- Wakes the waiting worker when a document of a batch changes, at the COMMIT of the change, and names the document. Like
-- fn_batch_notify, it leaves half of the server's notification queue free.
create or replace function cutter_governance.fn_batch_item_notify() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if pg_notification_queue_usage() < 0.5 then
        perform pg_notify('cutter_batch', new.batch_id || ' ' || new.document_id);
    end if;
    return null;
end
$$;
