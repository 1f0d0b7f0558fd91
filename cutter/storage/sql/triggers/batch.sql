-- A batch's texts have their forms, and a halt wakes its worker.
create trigger trg_ab_form before insert on cutter_governance.batch
    for each row execute function cutter_governance.fn_check_form('queue_sha256', 'digest', 'caps', 'caps',
        'created_by', 'name', 'starter', 'name');
create trigger trg_batch_notify after update of halted on cutter_governance.batch
    for each row execute function cutter_governance.fn_batch_notify();
