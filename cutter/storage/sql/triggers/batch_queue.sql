-- The table has columns of declared forms.
create trigger trg_ab_form before insert or update on cutter_governance.batch_queue
    for each row execute function cutter_governance.fn_check_form('state', 'name', 'code', 'name', 'reason', 'line',
        'kb_id', 'line');
