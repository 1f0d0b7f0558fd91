-- The table is append-only, written only in the open leg A of its run. One check is for all rows of a statement.
create trigger trg_aa_revision_row_guard before insert on cutter_governance.revision_row
    for each statement execute function cutter_governance.fn_governance_guard('IG_cut_leg_a_execute');
create trigger trg_revision_row_append_only before update or delete or truncate
    on cutter_governance.revision_row for each statement execute function cutter_governance.fn_append_only();
create trigger trg_zz_revision_row_gate after insert on cutter_governance.revision_row
    referencing new table as inserted for each statement
    execute function cutter_governance.fn_check_run_of_rows('IG_cut_leg_a_execute');
alter table cutter_governance.revision_row enable always trigger trg_aa_revision_row_guard;
alter table cutter_governance.revision_row enable always trigger trg_revision_row_append_only;
alter table cutter_governance.revision_row enable always trigger trg_zz_revision_row_gate;
