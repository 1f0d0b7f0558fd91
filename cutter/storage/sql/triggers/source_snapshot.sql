-- The table is append-only.
create trigger trg_source_snapshot_append_only before update or delete or truncate
    on public.source_snapshot for each statement execute function cutter_governance.fn_append_only();
alter table public.source_snapshot enable always trigger trg_source_snapshot_append_only;
