-- A batch's texts have their forms; a halt wakes its worker; a halt and the end become notifications.
create trigger trg_ab_form before insert on cutter_governance.batch
    for each row execute function cutter_governance.fn_check_form('queue_sha256', 'digest', 'caps', 'caps',
        'created_by', 'name', 'starter', 'name');
create trigger trg_batch_notify after update of halted on cutter_governance.batch
    for each row execute function cutter_governance.fn_batch_notify();
create trigger trg_batch_notification after update of halted, ended_at on cutter_governance.batch
    for each row execute function cutter_governance.fn_notification_of_batch();
