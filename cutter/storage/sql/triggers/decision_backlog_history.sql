-- The table is append-only and is written only in the open gate of the row's run.
create trigger trg_aa_decision_backlog_history_guard before insert or update on cutter_governance.decision_backlog_history
    for each row execute function cutter_governance.fn_governance_guard('IG_leg_b_record');
create trigger trg_decision_backlog_history_append_only before update or delete or truncate
    on cutter_governance.decision_backlog_history for each statement execute function cutter_governance.fn_append_only();
create constraint trigger trg_zz_decision_backlog_history_gate after insert or update on cutter_governance.decision_backlog_history
    deferrable initially deferred for each row
    execute function cutter_governance.fn_check_run_of_row('IG_leg_b_record');
alter table cutter_governance.decision_backlog_history enable always trigger trg_decision_backlog_history_append_only;
