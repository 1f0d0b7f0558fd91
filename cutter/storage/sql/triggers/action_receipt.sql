-- Receipts of actions are append-only, and their fields have their forms; a backup's receipt names what was stored.
create trigger trg_ab_form before insert on cutter_governance.action_receipt
    for each row execute function cutter_governance.fn_check_form('idempotency_key', 'target', 'gate', 'line',
        'connector', 'name', 'operation', 'name', 'target', 'target', 'payload_sha256', 'digest',
        'request_metadata', 'request', 'response_metadata', 'response', 'how_to_reverse', 'line');
create trigger trg_ac_backup before insert on cutter_governance.action_receipt
    for each row when (new.connector = 'backup' and new.operation = 'take')
    execute function cutter_governance.fn_check_backup();
create trigger trg_action_receipt_append_only before update or delete or truncate
    on cutter_governance.action_receipt for each statement execute function cutter_governance.fn_append_only();
alter table cutter_governance.action_receipt enable always trigger trg_action_receipt_append_only;
