-- The log is append-only, and only an enactment writes it.
create trigger trg_iu_lifecycle_log_append_only before update or delete or truncate
    on public.iu_lifecycle_log for each statement execute function cutter_governance.fn_append_only();
create constraint trigger trg_zz_log_gate after insert on public.iu_lifecycle_log deferrable initially deferred
    for each row execute function cutter_governance.fn_check_gate_of_row('IG_lifecycle_enact_execute');
alter table public.iu_lifecycle_log enable always trigger trg_iu_lifecycle_log_append_only;
