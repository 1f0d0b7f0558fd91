-- The table is append-only.
create trigger trg_source_version_append_only before update or delete or truncate
    on public.source_version for each statement execute function cutter_governance.fn_append_only();
alter table public.source_version enable always trigger trg_source_version_append_only;
