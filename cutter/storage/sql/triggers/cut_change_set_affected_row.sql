-- The table is append-only and is written only in the open gate of the row's run.
create trigger trg_aa_cut_change_set_affected_row_guard before insert or update on cutter_governance.cut_change_set_affected_row
    for each row execute function cutter_governance.fn_governance_guard('IG_leg_b_record');
create trigger trg_cut_change_set_affected_row_append_only before update or delete or truncate
    on cutter_governance.cut_change_set_affected_row for each statement execute function cutter_governance.fn_append_only();
create constraint trigger trg_zz_cut_change_set_affected_row_gate after insert or update on cutter_governance.cut_change_set_affected_row
    deferrable initially deferred for each row
    execute function cutter_governance.fn_check_run_of_row('IG_leg_b_record');
alter table cutter_governance.cut_change_set_affected_row enable always trigger trg_cut_change_set_affected_row_append_only;
