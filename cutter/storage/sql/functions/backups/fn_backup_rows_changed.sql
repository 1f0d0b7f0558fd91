-- Counts, at the end of a statement, that this transaction inserted rows of documents, as fn_backup_changed does for one row
-- at COMMIT. It is for tables with a row for each unit of a law. What the rows refer to is there before them.
create or replace function cutter_governance.fn_backup_rows_changed() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_documents text[];
begin
    if tg_table_name = 'manifest_unit_block' then
        -- Not a join: the planner cannot know that all rows have one envelope, and would read all envelopes for many rows.
        select array_agg(distinct coalesce((
            select r.document_id from cutter_governance.manifest_envelope e
            join cutter_governance.run r on r.run_id = e.run_id where e.envelope_id = i.envelope_id), ''))
        into v_documents from (select distinct envelope_id from inserted) as i;
    else
        select array_agg(distinct coalesce((
            select r.document_id from cutter_governance.run r where r.run_id = i.run_id), ''))
        into v_documents from (select distinct run_id from inserted) as i;
    end if;
    if '' = any (v_documents) then
        raise exception '% on %: a row belongs to no document, so no backup would hold it', tg_op, tg_table_name
            using errcode = 'CU021';
    end if;
    insert into cutter_governance.backup_coverage as c (document_id, changes, changed_by)
    select document, 1, pg_current_xact_id() from unnest(v_documents) as changed (document) order by document
    on conflict (document_id) do update set changes = c.changes + 1, changed_by = excluded.changed_by
        where c.changed_by is distinct from excluded.changed_by;
    return null;
end
$$;
