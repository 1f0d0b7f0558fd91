-- Returns the live privileges as fn_grant_matrix_read does, read only if the catalogue key of the grants is new.
create or replace function cutter_governance.fn_grant_matrix(p_roles text[], p_verbs text[], p_schemas text[]) returns jsonb
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_key text := concat_ws(' ', cutter_governance.fn_catalog_keys() ->> 'grants',
        cutter_governance.fn_digest(jsonb_build_array(p_roles, p_verbs, p_schemas)::text));
    v_matrix jsonb;
begin
    select s.detail into v_matrix
    from cutter_governance.definition_cache c join cutter_governance.definition_snapshot s using (fingerprint)
    where c.dimension = 'matrix' and c.catalog_key = v_key;
    if v_matrix is null then
        v_matrix := cutter_governance.fn_grant_matrix_read(p_roles, p_verbs, p_schemas);
        perform cutter_governance.fn_definition_keep('matrix', v_key, v_matrix);
    end if;
    return v_matrix;
end
$$;
