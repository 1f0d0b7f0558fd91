-- Signatures are append-only; the role that holds the kind writes them, in the gate of their run.
create trigger trg_aa_dot_pair_signature_guard before insert or update on cutter_governance.dot_pair_signature
    for each row execute function cutter_governance.fn_governance_guard('IG_leg_b_record', 'IG_write_verify');
create trigger trg_dot_pair_signature_append_only before update or delete or truncate
    on cutter_governance.dot_pair_signature for each statement execute function cutter_governance.fn_append_only();
create trigger trg_dot_pair_signature_kind before insert on cutter_governance.dot_pair_signature
    for each row execute function cutter_governance.fn_signature_kind();
create constraint trigger trg_zz_dot_pair_signature_gate after insert or update on cutter_governance.dot_pair_signature
    deferrable initially deferred for each row
    execute function cutter_governance.fn_check_run_of_row('IG_leg_b_record', 'IG_write_verify');
alter table cutter_governance.dot_pair_signature enable always trigger trg_dot_pair_signature_append_only;
