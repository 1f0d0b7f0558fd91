-- Only the gateway writes units, in an open gate; each is born whole. The twins named `_always` hold in replica mode too.
create trigger trg_aa_iu_gateway_write_guard before insert or update or delete on public.information_unit
    for each row execute function public.fn_iu_gateway_guard();
create trigger trg_iu_birth_gate_layer1 before insert on public.information_unit
    for each row execute function public.fn_iu_birth_gate_layer1();
create constraint trigger trg_iu_birth_gate_layer2 after insert or update on public.information_unit
    deferrable initially deferred for each row execute function public.fn_iu_birth_gate_layer2();
create trigger trg_iu_enacted_immut before update or delete on public.information_unit
    for each row execute function public.fn_enacted_immutable();
create trigger trg_iu_enacted_immut_always before update or delete on public.information_unit
    for each row execute function public.fn_enacted_immutable();
create trigger trg_iu_no_truncate before truncate on public.information_unit
    for each statement execute function public.fn_enacted_immutable();
create constraint trigger trg_zz_iu_insert_gate after insert on public.information_unit deferrable initially deferred
    for each row execute function cutter_governance.fn_check_gate_of_row('IG_cut_leg_a_execute');
create constraint trigger trg_zz_iu_update_gate after update on public.information_unit deferrable initially deferred
    for each row execute function cutter_governance.fn_check_gate_of_row('IG_lifecycle_enact_execute', 'VOID');
alter table public.information_unit enable always trigger trg_aa_iu_gateway_write_guard;
alter table public.information_unit enable always trigger trg_iu_enacted_immut_always;
alter table public.information_unit enable always trigger trg_iu_no_truncate;
alter table public.information_unit enable always trigger trg_zz_iu_insert_gate;
alter table public.information_unit enable always trigger trg_zz_iu_update_gate;
