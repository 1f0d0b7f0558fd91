-- Only the gateway writes versions, in an open gate. The twins named `_always` hold in replica mode too.
create trigger trg_aa_uv_gateway_write_guard before insert or update or delete on public.unit_version
    for each row execute function public.fn_iu_gateway_guard();
create trigger trg_uv_enacted_immut before update or delete on public.unit_version
    for each row execute function public.fn_enacted_immutable();
create trigger trg_uv_enacted_immut_always before update or delete on public.unit_version
    for each row execute function public.fn_enacted_immutable();
create trigger trg_uv_no_truncate before truncate on public.unit_version
    for each statement execute function public.fn_enacted_immutable();
create constraint trigger trg_zz_uv_insert_gate after insert on public.unit_version deferrable initially deferred
    for each row execute function cutter_governance.fn_check_gate_of_row('IG_cut_leg_a_execute');
create constraint trigger trg_zz_uv_update_gate after update on public.unit_version deferrable initially deferred
    for each row execute function cutter_governance.fn_check_gate_of_row('IG_lifecycle_enact_execute', 'VOID');
alter table public.unit_version enable always trigger trg_aa_uv_gateway_write_guard;
alter table public.unit_version enable always trigger trg_uv_enacted_immut_always;
alter table public.unit_version enable always trigger trg_uv_no_truncate;
alter table public.unit_version enable always trigger trg_zz_uv_insert_gate;
alter table public.unit_version enable always trigger trg_zz_uv_update_gate;
