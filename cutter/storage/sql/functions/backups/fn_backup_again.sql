-- Lets the next backup dump a document again, also if its segment is damaged; or every document, if none is named.
-- Returns whether there is such a document.
create or replace function cutter_governance.fn_backup_again(p_document text) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if session_user <> 'cutter_backup' then
        raise exception 'a document is backed up again by cutter_backup, not by %', session_user using errcode = 'CU006';
    end if;
    perform cutter_governance.fn_backup_given_up(case when p_document is not null then array[p_document] end);
    update cutter_governance.backup_coverage c set changes = c.changes + 1, changed_by = null, problem = null
    where p_document is null or c.document_id = p_document;
    return found;
end
$$;
