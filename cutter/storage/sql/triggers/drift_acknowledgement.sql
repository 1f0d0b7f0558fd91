-- The table is append-only.
create trigger trg_drift_acknowledgement_append_only before update or delete or truncate
    on cutter_governance.drift_acknowledgement for each statement execute function cutter_governance.fn_append_only();
alter table cutter_governance.drift_acknowledgement enable always trigger trg_drift_acknowledgement_append_only;
