-- Returns the fingerprints of everything that a gate compares: definitions, rows, review decisions, source of the unit
-- functions, newest enactment. A caller that has just read the rows gives them in p_rows.
create or replace function cutter_governance.fn_survey(p_run_id text, p_docprefix text, p_rows jsonb default null)
returns jsonb
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    rows jsonb := coalesce(p_rows, cutter_governance.fn_rows_seen(p_run_id, p_docprefix));
begin
    return cutter_governance.fn_definition_pins() || coalesce((
        select jsonb_build_object('base', e.run_id) from cutter_governance.run r
        join public.enactment e on e.source_document_ref = r.document_id
        -- Callers pass a prefix of collation C. It would be the collation of the comparison and keep the index from it.
        where r.run_id = p_run_id collate "default" order by e.n desc limit 1), '{}') || jsonb_build_object(
        'row_count', rows -> 'count', 'row_content', rows -> 'fingerprint',
        'review_decision', cutter_governance.fn_review_decision_pin(p_run_id collate "default"),
        'source', (select jsonb_object_agg(p.proname, md5(p.prosrc)) from pg_proc p
                   where p.pronamespace = 'public'::regnamespace
                       and p.proname in ('fn_iu_create', 'fn_iu_enact', 'fn_iu_apply_edit_draft')));
end
$$;
