-- Returns what an opened gate tells its caller, with the first survey; or its drift from what the run expects. A base
-- that is no longer in force is drift that no acknowledgement lifts.
create or replace function cutter_governance.fn_gate_survey(
    p_run cutter_governance.run, p_step cutter_governance.gate_catalogue) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_docprefix text := coalesce(p_run.docprefix,
        (select address_docprefix from public.source_document where doc_code = p_run.document_id), '');
    -- a gate that changes the law reads all of its texts first, whatever the row versions say
    v_rows jsonb := case when p_step.effect in ('units_created', 'units_enacted')
        then jsonb_build_object('versions', cutter_governance.fn_rows_versions(v_docprefix))
            || cutter_governance.fn_rows_fingerprint(v_docprefix)
        else cutter_governance.fn_rows_seen(p_run.run_id, v_docprefix) end;
    -- a statement of its own: the comparison reads what the survey has just stored
    v_survey jsonb := cutter_governance.fn_survey(p_run.run_id, v_docprefix, v_rows);
    v_drift jsonb := cutter_governance.fn_drift(cutter_governance.fn_expected_pins(p_run.run_id), v_survey);
    v_base text := case when not p_step.pins_source then cutter_governance.fn_base_problem(p_run) end;
begin
    if v_drift is null and v_base is not null then
        v_drift := jsonb_build_object('dimension', 'base', 'expected', p_run.base_run_id, 'observed', v_survey -> 'base',
            'fingerprint', cutter_governance.fn_digest(v_survey::text), 'diff', jsonb_build_array(v_base));
    end if;
    if v_drift is not null then
        return jsonb_build_object('status', 'drift', 'drift', v_drift);
    end if;
    if p_step.effect = 'units_enacted' then
        v_survey := v_survey || jsonb_build_object('row_content_enacted',
            cutter_governance.fn_fingerprint_after(p_run));
    end if;
    return jsonb_build_object('status', 'opened', 'before_pins', v_survey || jsonb_build_object('row_versions', v_rows -> 'versions'),
        'docprefix', v_docprefix,
        'now', cutter_governance.fn_utc(clock_timestamp()));
end
$$;
