-- Closes the open queue entry of an item, and returns whether there was one.
create or replace function cutter_governance.fn_queue_leave(p_batch_id text, p_document_id text, p_as text) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    update cutter_governance.batch_queue set left_at = clock_timestamp(), left_as = left(p_as, 100)
    where batch_id = p_batch_id and document_id = p_document_id and left_at is null;
    return found;
end
$$;
