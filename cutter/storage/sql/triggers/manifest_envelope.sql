-- The table is written only in the open gate of the row's run.
create trigger trg_aa_manifest_envelope_guard before insert or update on cutter_governance.manifest_envelope
    for each row execute function cutter_governance.fn_governance_guard('IG_leg_b_record');
create constraint trigger trg_zz_manifest_envelope_gate after insert or update on cutter_governance.manifest_envelope
    deferrable initially deferred for each row
    execute function cutter_governance.fn_check_run_of_row('IG_leg_b_record');
