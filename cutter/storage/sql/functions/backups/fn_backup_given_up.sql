-- Notes the present time if a segment of these documents is damaged; of any document, if none are named. The caller clears
-- their problems. Backups that are older may need the damaged segment, so no write relies on them afterwards.
create or replace function cutter_governance.fn_backup_given_up(p_documents text[]) returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
    update cutter_governance.backup_head set given_up_at = clock_timestamp()
    where exists (
        select from cutter_governance.backup_coverage c
        where c.problem is not null and (p_documents is null or c.document_id = any (p_documents)))
$$;
