-- Returns the text that a receipt's hash covers: everything in its row that a later gate relies on. The row versions are no
-- part of it, because a restored database has others. They only save reading: a gate that changes the law ignores them.
create or replace function cutter_governance.fn_receipt_body(p_receipt cutter_governance.gate_receipt) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select jsonb_build_object('version', 'receipt/1', 'run_id', p_receipt.run_id, 'gate', p_receipt.gate,
        'attempt', p_receipt.attempt, 'role', p_receipt.role, 'payload_sha256', p_receipt.payload_sha256,
        'before_pins', p_receipt.before_pins, 'after_pins', p_receipt.after_pins, 'policy', p_receipt.policy,
        'result', p_receipt.result)::text
$$;
