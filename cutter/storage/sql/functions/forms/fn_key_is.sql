-- Returns whether a key is absent, null, or of the named type. A `digest` is a text of 64 hex characters.
create or replace function cutter_governance.fn_key_is(p_value jsonb, p_key text, p_type text) returns boolean
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
return coalesce(jsonb_typeof(p_value -> p_key), 'null') = 'null' or case p_type
    when 'digest' then jsonb_typeof(p_value -> p_key) = 'string' and p_value ->> p_key ~ '^[0-9a-f]{64}$'
    when 'count' then jsonb_typeof(p_value -> p_key) = 'number' and p_value ->> p_key ~ '^[0-9]{1,15}$'
    when 'line' then jsonb_typeof(p_value -> p_key) = 'string' and length(p_value ->> p_key) <= 500
    else jsonb_typeof(p_value -> p_key) = p_type end;
