-- The table is append-only, written only in the open gate of its run. One check is for all rows of a statement.
create trigger trg_aa_manifest_unit_block_guard before insert or update on cutter_governance.manifest_unit_block
    for each statement execute function cutter_governance.fn_governance_guard('IG_leg_b_record');
create trigger trg_manifest_unit_block_append_only before update or delete or truncate
    on cutter_governance.manifest_unit_block for each statement execute function cutter_governance.fn_append_only();
create trigger trg_zz_manifest_unit_block_gate_insert after insert on cutter_governance.manifest_unit_block
    referencing new table as inserted for each statement
    execute function cutter_governance.fn_check_run_of_rows('IG_leg_b_record');
create constraint trigger trg_zz_manifest_unit_block_gate after update on cutter_governance.manifest_unit_block
    deferrable initially deferred for each row
    execute function cutter_governance.fn_check_run_of_row('IG_leg_b_record');
alter table cutter_governance.manifest_unit_block enable always trigger trg_manifest_unit_block_append_only;
