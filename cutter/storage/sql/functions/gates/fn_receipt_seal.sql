-- Seals an open receipt with its result and second survey, marks its attempt as passed, and returns the sealed
-- receipt. The row versions of the survey are no part of what is sealed. Internal: the caller has checked both.
create or replace function cutter_governance.fn_receipt_seal(
    p_receipt cutter_governance.gate_receipt, p_result jsonb, p_after_pins jsonb) returns cutter_governance.gate_receipt
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    receipt cutter_governance.gate_receipt := p_receipt;
begin
    receipt.result := p_result;
    receipt.before_pins := receipt.before_pins - 'row_versions';
    receipt.after_pins := p_after_pins - 'row_versions';
    receipt.sealed_body := cutter_governance.fn_receipt_body(receipt);
    update cutter_governance.gate_receipt
    set result = p_result, before_pins = receipt.before_pins, after_pins = receipt.after_pins,
        row_versions = p_after_pins ->> 'row_versions',
        sealed_at = clock_timestamp(), sealed_body = receipt.sealed_body,
        pin_seq = nextval('cutter_governance.pin_seq'),
        receipt_hash = cutter_governance.fn_digest(receipt.prev_hash || receipt.sealed_body)
    where run_id = receipt.run_id and gate = receipt.gate
    returning * into receipt;
    update cutter_governance.gate_attempt set finished_at = clock_timestamp(), outcome = 'passed'
    where run_id = receipt.run_id and gate = receipt.gate and n = receipt.attempt;
    return receipt;
end
$$;
