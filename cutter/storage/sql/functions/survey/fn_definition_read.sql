-- Reads the definitions of a dimension, stores what their fingerprint stands for, and returns the fingerprint.
create or replace function cutter_governance.fn_definition_read(p_dimension text, p_key text) returns text
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    detail jsonb := case p_dimension
        when 'functions' then cutter_governance.fn_function_definitions()
        when 'triggers' then cutter_governance.fn_trigger_definitions()
        when 'tables' then cutter_governance.fn_table_definitions()
        else cutter_governance.fn_grant_definitions() end;
    v_fingerprint text := cutter_governance.fn_digest(detail::text);
begin
    -- the second of two gates that see a new definition does not wait for the first one's end
    if pg_try_advisory_xact_lock(hashtext('cutter.definitions')) then
        insert into cutter_governance.definition_snapshot values (v_fingerprint, detail) on conflict do nothing;
        insert into cutter_governance.definition_cache values (p_dimension, p_key, v_fingerprint) on conflict do nothing;
    end if;
    return v_fingerprint;
end
$$;
