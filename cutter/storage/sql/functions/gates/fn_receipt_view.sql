-- Returns a receipt as its readers see it.
create or replace function cutter_governance.fn_receipt_view(p_receipt cutter_governance.gate_receipt) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select jsonb_build_object('run_id', p_receipt.run_id, 'gate', p_receipt.gate, 'attempt', p_receipt.attempt,
        'payload_sha256', p_receipt.payload_sha256, 'result', p_receipt.result, 'prev_hash', p_receipt.prev_hash,
        'receipt_hash', p_receipt.receipt_hash, 'before_pins', p_receipt.before_pins, 'after_pins', p_receipt.after_pins,
        'opened_at', cutter_governance.fn_utc(p_receipt.opened_at), 'sealed_at', cutter_governance.fn_utc(p_receipt.sealed_at),
        'role', p_receipt.role, 'policy', p_receipt.policy)
$$;
