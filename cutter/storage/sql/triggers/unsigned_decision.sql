-- The table is append-only.
create trigger trg_unsigned_decision_append_only before update or delete or truncate
    on cutter_governance.unsigned_decision for each statement execute function cutter_governance.fn_append_only();
alter table cutter_governance.unsigned_decision enable always trigger trg_unsigned_decision_append_only;
