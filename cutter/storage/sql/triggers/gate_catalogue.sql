-- The catalogue is append-only: docs/internals/change-the-database.md says how a migration adds a gate.
create trigger trg_gate_catalogue_append_only before update or delete or truncate
    on cutter_governance.gate_catalogue for each statement execute function cutter_governance.fn_append_only();
alter table cutter_governance.gate_catalogue enable always trigger trg_gate_catalogue_append_only;
