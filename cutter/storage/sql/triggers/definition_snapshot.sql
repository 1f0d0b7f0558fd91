-- The table is append-only.
create trigger trg_definition_snapshot_append_only before update or delete or truncate
    on cutter_governance.definition_snapshot for each statement execute function cutter_governance.fn_append_only();
alter table cutter_governance.definition_snapshot enable always trigger trg_definition_snapshot_append_only;
