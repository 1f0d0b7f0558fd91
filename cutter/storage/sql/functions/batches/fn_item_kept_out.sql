-- Returns whether a resume alone leaves an item out: its document had failed before the batch, and nothing was enacted
-- since it failed. An earlier version of the law does not count: it is the revision that failed.
create or replace function cutter_governance.fn_item_kept_out(p_item cutter_governance.batch_item) returns boolean
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select p_item.kept_out and not exists (
        select from public.enactment e
        where e.source_document_ref = p_item.document_id and e.enacted_at > coalesce((
            select max(r.created_at) from cutter_governance.run r
            where r.document_id = p_item.document_id and r.mode = 'live' and r.state like 'failed\_%'), '-infinity'))
$$;
