-- Wakes the waiting worker at the COMMIT of a change, and names the document. Any role can fill the server's queue, and
-- a COMMIT that meets a full queue fails. So from half full on nothing is sent, and workers look later.
create or replace function cutter_governance.fn_batch_notify() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if pg_notification_queue_usage() < 0.5 then
        if tg_table_name in ('run', 'batch_item', 'batch_queue') then
            perform pg_notify('cutter_batch', new.batch_id || ' ' || new.document_id);
        elsif tg_table_name in ('approval_verdict', 'outbox') then
            perform pg_notify('cutter_batch', r.batch_id || ' ' || r.document_id) from cutter_governance.run r
            where r.run_id = new.run_id and r.batch_id is not null;
        else
            perform pg_notify('cutter_batch', new.batch_id);
        end if;
    end if;
    return null;
end
$$;
