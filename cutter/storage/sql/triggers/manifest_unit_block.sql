-- The table is append-only and is written only in the open gate of the row's run.
create trigger trg_aa_manifest_unit_block_guard before insert or update on cutter_governance.manifest_unit_block
    for each row execute function cutter_governance.fn_governance_guard('IG_leg_b_record');
create trigger trg_manifest_unit_block_append_only before update or delete on cutter_governance.manifest_unit_block
    for each row execute function cutter_governance.fn_append_only();
create trigger trg_manifest_unit_block_no_truncate before truncate on cutter_governance.manifest_unit_block
    for each statement execute function cutter_governance.fn_append_only();
create constraint trigger trg_zz_manifest_unit_block_gate after insert or update on cutter_governance.manifest_unit_block
    deferrable initially deferred for each row
    execute function cutter_governance.fn_check_run_of_row('IG_leg_b_record');
alter table cutter_governance.manifest_unit_block enable always trigger trg_manifest_unit_block_append_only;
alter table cutter_governance.manifest_unit_block enable always trigger trg_manifest_unit_block_no_truncate;
create constraint trigger trg_zz_manifest_unit_block_backup after insert or update or delete on cutter_governance.manifest_unit_block
    deferrable initially deferred for each row execute function cutter_governance.fn_backup_changed();
alter table cutter_governance.manifest_unit_block enable always trigger trg_zz_manifest_unit_block_backup;
