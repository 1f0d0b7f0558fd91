-- Records why an item has no run; an item that has one is left alone.
create or replace function cutter_governance.fn_batch_item_decide(p_batch_id text, p_document_id text, p_decided text, p_reason text)
returns void
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
    update cutter_governance.batch_item set decided = p_decided, reason = left(p_reason, 500)
    where batch_id = p_batch_id and document_id = p_document_id
$$;
