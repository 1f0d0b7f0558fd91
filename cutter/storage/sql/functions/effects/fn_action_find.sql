-- Returns the recorded response of an action, or null if it was not done; the same action with another payload is a
-- conflict.
create or replace function cutter_governance.fn_action_find(
    p_run_id text, p_connector text, p_operation text, p_target text, p_payload_sha256 text) returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    found_there cutter_governance.action_receipt;
begin
    select * into found_there from cutter_governance.action_receipt a
    where a.idempotency_key = p_connector || ':' || p_operation || ':' || p_target
        and a.tenant = coalesce((select r.tenant from cutter_governance.run r where r.run_id = p_run_id), 'default');
    if found_there.payload_sha256 <> p_payload_sha256 then
        raise exception '% was done with fields of sha256 %, now % is asked for: nothing was overwritten',
            found_there.idempotency_key, found_there.payload_sha256, p_payload_sha256 using errcode = 'CU011';
    end if;
    return found_there.response_metadata;
end
$$;
