-- Returns a fingerprint for each dimension of the definitions, read only if its catalogue key is new.
create or replace function cutter_governance.fn_definition_pins() returns jsonb
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    keys jsonb := cutter_governance.fn_catalog_keys();
    pins jsonb;
    v_dimension text;
begin
    select jsonb_object_agg(c.dimension, c.fingerprint) into pins
    from jsonb_each_text(keys) as k
    join cutter_governance.definition_cache c on c.dimension = k.key and c.catalog_key = k.value;
    foreach v_dimension in array array['functions', 'triggers', 'tables', 'grants']
    loop
        if pins -> v_dimension is null then
            pins := coalesce(pins, '{}') || jsonb_build_object(v_dimension, cutter_governance.fn_definition_keep(
                v_dimension, keys ->> v_dimension, case v_dimension
                    when 'functions' then cutter_governance.fn_function_definitions()
                    when 'triggers' then cutter_governance.fn_trigger_definitions()
                    when 'tables' then cutter_governance.fn_table_definitions()
                    else cutter_governance.fn_grant_definitions() end));
        end if;
    end loop;
    return pins;
end
$$;
