-- The table is append-only.
create trigger trg_approval_consumption_append_only before update or delete or truncate
    on cutter_governance.approval_consumption for each statement execute function cutter_governance.fn_append_only();
alter table cutter_governance.approval_consumption enable always trigger trg_approval_consumption_append_only;
