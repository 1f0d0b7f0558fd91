-- The table is written only in the open gate of the row's run.
create trigger trg_aa_decision_backlog_entry_guard before insert or update on cutter_governance.decision_backlog_entry
    for each row execute function cutter_governance.fn_governance_guard('IG_leg_b_record');
create constraint trigger trg_zz_decision_backlog_entry_gate after insert or update on cutter_governance.decision_backlog_entry
    deferrable initially deferred for each row
    execute function cutter_governance.fn_check_run_of_row('IG_leg_b_record');
