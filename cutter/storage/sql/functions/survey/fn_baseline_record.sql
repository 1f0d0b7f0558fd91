-- Records the definitions of this moment as the baseline that the first survey of each run is compared with.
create or replace function cutter_governance.fn_baseline_record(p_schema_version integer) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    pins jsonb := cutter_governance.fn_definition_pins();
begin
    insert into cutter_governance.schema_baseline (pins, schema_version) values (pins, p_schema_version);
    return pins;
end
$$;
