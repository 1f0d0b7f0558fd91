-- Counts, at COMMIT, that this transaction changed rows of a document, so that no segment covers the document until the
-- next backup seals it. It refuses a row of no document, because no backup would hold it. The check is late because a
-- signature is inserted before what it signs.
create or replace function cutter_governance.fn_backup_changed() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_row record;
    v_document text;
begin
    if tg_op = 'DELETE' then
        v_row := old;
    else
        v_row := new;
    end if;
    case tg_table_name
        when 'information_unit' then
            v_document := cutter_governance.fn_document_at(v_row.canonical_address);
        when 'unit_version', 'iu_lifecycle_log' then
            v_document := cutter_governance.fn_document_at((
                select u.canonical_address from public.information_unit u where u.id = v_row.unit_id));
        when 'manifest_unit_block' then
            select r.document_id into v_document from cutter_governance.manifest_envelope e
            join cutter_governance.run r on r.run_id = e.run_id where e.envelope_id = v_row.envelope_id;
        when 'cut_change_set_affected_row' then
            v_document := cutter_governance.fn_document_of_change(v_row.change_set_id);
        when 'dot_pair_signature' then
            v_document := cutter_governance.fn_document_of_change(coalesce(v_row.cross_reference_change_set_id, (
                select v.change_set_id from cutter_governance.verify_result v
                where v.verify_result_id = v_row.cross_reference_verify_result_id)));
        else
            select r.document_id into v_document from cutter_governance.run r where r.run_id = v_row.run_id;
    end case;
    if v_document is null then
        raise exception '% on %: the row belongs to no document, so no backup would hold it', tg_op, tg_table_name
            using errcode = 'CU021';
    end if;
    -- A transaction counts once. To look for its count is cheaper than an insert that changes nothing.
    if exists (select from cutter_governance.backup_coverage c
               where c.document_id = v_document and c.changed_by = pg_current_xact_id()) then
        return null;
    end if;
    insert into cutter_governance.backup_coverage as c (document_id, changes, changed_by)
    values (v_document, 1, pg_current_xact_id())
    on conflict (document_id) do update set changes = c.changes + 1, changed_by = excluded.changed_by;
    return null;
end
$$;
