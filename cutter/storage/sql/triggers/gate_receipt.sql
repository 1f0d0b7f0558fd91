-- A sealed receipt never changes, and COMMIT refuses a receipt whose gate did not do what was approved.
create trigger trg_ab_form before insert or update on cutter_governance.gate_receipt
    for each row execute function cutter_governance.fn_check_form('payload_sha256', 'name', 'policy', 'policy',
        'result', 'report');
create constraint trigger trg_gate_receipt_at_commit after insert on cutter_governance.gate_receipt
    deferrable initially deferred for each row execute function cutter_governance.fn_check_receipt();
create trigger trg_gate_receipt_immutable before update or delete on cutter_governance.gate_receipt
    for each row execute function cutter_governance.fn_receipt_immutable();
create trigger trg_gate_receipt_no_truncate before truncate on cutter_governance.gate_receipt
    for each statement execute function cutter_governance.fn_receipt_immutable();
alter table cutter_governance.gate_receipt enable always trigger trg_gate_receipt_at_commit;
alter table cutter_governance.gate_receipt enable always trigger trg_gate_receipt_immutable;
alter table cutter_governance.gate_receipt enable always trigger trg_gate_receipt_no_truncate;
