-- A void's fields have their forms, and COMMIT refuses a void that is not closed.
create trigger trg_ab_form before insert or update on cutter_governance.void_record
    for each row execute function cutter_governance.fn_check_form('reason', 'document', 'policy', 'policy');
create constraint trigger trg_void_at_commit after insert on cutter_governance.void_record
    deferrable initially deferred for each row execute function cutter_governance.fn_check_void();
