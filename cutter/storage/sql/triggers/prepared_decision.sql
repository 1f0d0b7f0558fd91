-- The table is append-only.
create trigger trg_prepared_decision_append_only before update or delete or truncate
    on cutter_governance.prepared_decision for each statement execute function cutter_governance.fn_append_only();
alter table cutter_governance.prepared_decision enable always trigger trg_prepared_decision_append_only;
