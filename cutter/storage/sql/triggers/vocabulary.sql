-- The table is append-only.
create trigger trg_vocabulary_append_only before update or delete or truncate
    on public.vocabulary for each statement execute function cutter_governance.fn_append_only();
alter table public.vocabulary enable always trigger trg_vocabulary_append_only;
