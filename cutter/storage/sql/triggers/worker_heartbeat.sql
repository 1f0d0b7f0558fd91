-- The table has columns of declared forms.
create trigger trg_ab_form before insert or update on cutter_governance.worker_heartbeat
    for each row execute function cutter_governance.fn_check_form('queues', 'queues');
