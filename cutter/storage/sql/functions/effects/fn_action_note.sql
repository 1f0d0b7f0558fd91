-- Records the receipt of an action, or finds the one with the same payload. Internal: callers check the role.
create or replace function cutter_governance.fn_action_note(
    p_run_id text, p_gate text, p_connector text, p_operation text, p_target text, p_payload_sha256 text,
    p_request jsonb, p_response jsonb, p_reversible boolean, p_how_to_reverse text) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_key text := p_connector || ':' || p_operation || ':' || p_target;
    v_tenant text := coalesce((select tenant from cutter_governance.run where run_id = p_run_id), 'default');
    -- such a name is for the bytes of this digest only, so a document whose other names are taken gets this one
    v_digest text := substring(p_target from '(?:/source-snapshot-|/evidence-|-other)([0-9a-f]{12,16})(?:-other[0-9]+)?\.');
    existing cutter_governance.action_receipt;
begin
    if left(p_payload_sha256, length(v_digest)) <> v_digest then
        raise exception '% names other bytes than those of sha256 %', p_target, p_payload_sha256 using errcode = 'CU011';
    end if;
    insert into cutter_governance.action_receipt (
        tenant, idempotency_key, run_id, gate, connector, operation, target, payload_sha256, request_metadata,
        response_metadata, status, reversible, how_to_reverse)
    values (v_tenant, v_key, p_run_id, p_gate, p_connector, p_operation, p_target, p_payload_sha256, p_request, p_response,
        'succeeded', p_reversible, p_how_to_reverse)
    on conflict (tenant, idempotency_key) do nothing;
    select * into existing from cutter_governance.action_receipt where tenant = v_tenant and idempotency_key = v_key;
    if existing.payload_sha256 <> p_payload_sha256 and v_digest is null then
        -- Raised and not answered: who sends it with other statements and reads no answer may not miss it.
        raise exception '% was done with fields of sha256 %, now % is asked for: nothing was overwritten',
            v_key, existing.payload_sha256, p_payload_sha256 using errcode = 'CU011';
    end if;
    return existing.response_metadata;
end
$$;
