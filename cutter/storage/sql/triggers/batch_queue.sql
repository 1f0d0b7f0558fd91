-- The table has columns of declared forms; an item that enters or leaves a queue wakes its batch.
create trigger trg_ab_form before insert or update on cutter_governance.batch_queue
    for each row execute function cutter_governance.fn_check_form('state', 'name', 'code', 'name', 'reason', 'line',
        'kb_id', 'line');
create trigger trg_batch_queue_notify after insert or update on cutter_governance.batch_queue
    for each row execute function cutter_governance.fn_batch_notify();
