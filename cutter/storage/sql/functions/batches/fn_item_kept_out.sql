-- Returns whether a resume alone leaves an item out: its document had failed before the batch and is not enacted yet.
create or replace function cutter_governance.fn_item_kept_out(p_item cutter_governance.batch_item) returns boolean
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select p_item.kept_out and not exists (
        select from cutter_governance.run r
        join cutter_governance.gate_receipt g on g.run_id = r.run_id
        where r.document_id = p_item.document_id and r.mode = 'live' and g.gate = 'IG_lifecycle_enact_execute'
            and g.sealed_at is not null)
$$;
