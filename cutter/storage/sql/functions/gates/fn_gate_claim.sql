-- Claims a gate for this transaction by inserting its receipt, and returns null; or the answer if it has one already.
create or replace function cutter_governance.fn_gate_claim(
    p_run_id text, p_gate text, p_attempt integer, p_payload_sha256 text, p_rehearse boolean, p_policy jsonb) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    receipt cutter_governance.gate_receipt;
begin
    insert into cutter_governance.gate_receipt (
        run_id, gate, attempt, role, rehearsal, payload_sha256, prev_hash, before_pins, policy)
    values (p_run_id, p_gate, p_attempt, session_user, p_rehearse, p_payload_sha256, '', '{}', p_policy - 'text')
    on conflict (run_id, gate) do nothing;
    if found then
        return null;
    end if;
    select * into receipt from cutter_governance.gate_receipt where run_id = p_run_id and gate = p_gate;
    if receipt.sealed_at is null then
        return jsonb_build_object('status', 'refused', 'code', 'open_already');
    end if;
    return jsonb_build_object('receipt', cutter_governance.fn_receipt_view(receipt), 'status',
        case when receipt.payload_sha256 = p_payload_sha256 then 'sealed' else 'conflict' end);
end
$$;
