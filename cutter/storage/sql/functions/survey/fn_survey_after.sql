-- Returns the second survey of an open gate, with the row versions. Unchanged rows are not read again.
create or replace function cutter_governance.fn_survey_after(p_run cutter_governance.run, p_before jsonb) returns jsonb
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_docprefix text := coalesce(p_run.docprefix, '');
    v_versions text := cutter_governance.fn_rows_versions(v_docprefix);
    v_rows jsonb := case when p_before ->> 'row_versions' = v_versions
        then jsonb_build_object('count', p_before -> 'row_count', 'fingerprint', p_before -> 'row_content')
        else cutter_governance.fn_rows_fingerprint(v_docprefix) end;
begin
    return cutter_governance.fn_survey(p_run.run_id, v_docprefix, v_rows) || jsonb_build_object('row_versions', v_versions);
end
$$;
