-- The table is append-only.
create trigger trg_audit_event_append_only before update or delete or truncate
    on cutter_governance.audit_event for each statement execute function cutter_governance.fn_append_only();
alter table cutter_governance.audit_event enable always trigger trg_audit_event_append_only;
