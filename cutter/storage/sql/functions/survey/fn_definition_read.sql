-- Reads the definitions of a dimension, stores what their fingerprint stands for, and returns the fingerprint.
create or replace function cutter_governance.fn_definition_read(p_dimension text, p_key text) returns text
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
    select cutter_governance.fn_definition_keep(p_dimension, p_key, case p_dimension
        when 'functions' then cutter_governance.fn_function_definitions()
        when 'triggers' then cutter_governance.fn_trigger_definitions()
        when 'tables' then cutter_governance.fn_table_definitions()
        else cutter_governance.fn_grant_definitions() end)
$$;
