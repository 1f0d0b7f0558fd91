-- Stores the definitions of a fingerprint under the catalogue key that they were read with. Returns the fingerprint.
create or replace function cutter_governance.fn_definition_keep(p_dimension text, p_key text, p_detail jsonb) returns text
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_fingerprint text := cutter_governance.fn_digest(p_detail::text);
begin
    -- the second of two gates that see a new definition does not wait for the first one's end
    if pg_try_advisory_xact_lock(hashtext('cutter.definitions')) then
        insert into cutter_governance.definition_snapshot values (v_fingerprint, p_detail) on conflict do nothing;
        insert into cutter_governance.definition_cache values (p_dimension, p_key, v_fingerprint) on conflict do nothing;
    end if;
    return v_fingerprint;
end
$$;
