-- Returns the first document whose segment failed a verification, with its problem; null if there is none.
create or replace function cutter_governance.fn_backup_problem() returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    -- reads one entry of the index of problems, however many documents there are
    select c.document_id || ': ' || c.problem from cutter_governance.backup_coverage c
    where c.document_id = (
        select min(p.document_id) from cutter_governance.backup_coverage p where p.problem is not null)
$$;
