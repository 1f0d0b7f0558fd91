-- The table is append-only.
create trigger trg_schema_baseline_append_only before update or delete or truncate
    on cutter_governance.schema_baseline for each statement execute function cutter_governance.fn_append_only();
alter table cutter_governance.schema_baseline enable always trigger trg_schema_baseline_append_only;
