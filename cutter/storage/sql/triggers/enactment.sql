-- The table is append-only, written only in the open enactment of its run. A notification and the search follow.
create trigger trg_aa_enactment_guard before insert on public.enactment
    for each row execute function cutter_governance.fn_governance_guard('IG_lifecycle_enact_execute');
create trigger trg_enactment_append_only before update or delete or truncate
    on public.enactment for each statement execute function cutter_governance.fn_append_only();
create constraint trigger trg_zz_enactment_gate after insert on public.enactment deferrable initially deferred
    for each row execute function cutter_governance.fn_check_run_of_row('IG_lifecycle_enact_execute');
create trigger trg_enactment_notification after insert on public.enactment
    for each row execute function cutter_governance.fn_notification_of_enactment();
create constraint trigger trg_zz_enactment_search after insert on public.enactment deferrable initially deferred
    for each row execute function cutter_governance.fn_search_of_enactment();
alter table public.enactment enable always trigger trg_aa_enactment_guard;
alter table public.enactment enable always trigger trg_enactment_append_only;
alter table public.enactment enable always trigger trg_zz_enactment_gate;
