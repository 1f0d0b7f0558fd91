-- Returns one fingerprint for each of the dimensions functions, triggers, tables and grants, and stores what a new
-- fingerprint stands for.
create or replace function cutter_governance.fn_definition_pins() returns jsonb
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    pins jsonb := '{}';
    v_dimension text;
    detail jsonb;
    v_key text;
    v_fingerprint text;
begin
    foreach v_dimension in array array['functions', 'triggers', 'tables', 'grants']
    loop
        v_key := case v_dimension when 'grants' then null else cutter_governance.fn_catalog_key(v_dimension) end;
        select c.fingerprint into v_fingerprint from cutter_governance.definition_cache c
        where c.dimension = v_dimension and c.catalog_key = v_key;
        if not found then
            detail := case v_dimension
                when 'functions' then cutter_governance.fn_function_definitions()
                when 'triggers' then cutter_governance.fn_trigger_definitions()
                when 'tables' then cutter_governance.fn_table_definitions()
                else cutter_governance.fn_grant_definitions() end;
            v_fingerprint := cutter_governance.fn_digest(detail::text);
            -- the second of two gates that see a new definition does not wait for the first one's end
            if not exists (select from cutter_governance.definition_snapshot s where s.fingerprint = v_fingerprint)
                or v_key is not null
            then
                if pg_try_advisory_xact_lock(hashtext('cutter.definitions')) then
                    insert into cutter_governance.definition_snapshot values (v_fingerprint, detail) on conflict do nothing;
                    if v_key is not null then
                        insert into cutter_governance.definition_cache values (v_dimension, v_key, v_fingerprint)
                        on conflict do nothing;
                    end if;
                end if;
            end if;
        end if;
        pins := pins || jsonb_build_object(v_dimension, v_fingerprint);
    end loop;
    return pins;
end
$$;
