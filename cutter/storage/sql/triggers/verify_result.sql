-- The table is append-only, is written only in the open gate of the row's run, and has columns of declared forms.
create trigger trg_aa_verify_result_guard before insert or update on cutter_governance.verify_result
    for each row execute function cutter_governance.fn_governance_guard('IG_write_verify');
create trigger trg_ab_form before insert on cutter_governance.verify_result
    for each row execute function cutter_governance.fn_check_form('findings', 'findings', 'axis_1_status', 'name',
        'axis_2_status', 'name', 'state', 'name', 'verify_kind', 'name', 'created_by', 'name');
create trigger trg_verify_result_append_only before update or delete or truncate
    on cutter_governance.verify_result for each statement execute function cutter_governance.fn_append_only();
create constraint trigger trg_zz_verify_result_gate after insert or update on cutter_governance.verify_result
    deferrable initially deferred for each row
    execute function cutter_governance.fn_check_run_of_row('IG_write_verify');
alter table cutter_governance.verify_result enable always trigger trg_verify_result_append_only;
