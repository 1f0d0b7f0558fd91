-- The table is append-only.
create trigger trg_signed_statement_append_only before update or delete or truncate
    on cutter_governance.signed_statement for each statement execute function cutter_governance.fn_append_only();
alter table cutter_governance.signed_statement enable always trigger trg_signed_statement_append_only;
