-- The table has columns of declared forms.
create trigger trg_ab_form before insert or update on cutter_governance.gate_attempt
    for each row execute function cutter_governance.fn_check_form('lease_owner', 'line', 'outcome', 'name', 'reason', 'line',
        'last_error', 'line', 'report', 'report');
