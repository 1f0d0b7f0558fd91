-- Refuses every write to information_unit and unit_version that no gateway function makes for a run whose gate is open
-- and unsealed in this transaction. Any role can set the marker app.canonical_writer: the missing grant and the open
-- gate protect the rows.
create or replace function public.fn_iu_gateway_guard() returns trigger
language plpgsql security definer
set search_path = pg_catalog, public, pg_temp
as $$
declare
    marker text := coalesce(current_setting('app.canonical_writer', true), '');
    v_address text;
begin
    if tg_op = 'DELETE' or session_user <> 'cutter_exec'
        or marker not in ('fn_iu_create', 'fn_iu_revise', 'fn_iu_apply_edit_draft', 'fn_iu_enact', 'fn_iu_withdraw_drafts')
    then
        raise exception 'IU Gateway blocked: % on % by % outside the gateway functions', tg_op, tg_table_name, session_user
            using errcode = 'CU001';
    end if;
    if tg_table_name = 'information_unit' then
        v_address := new.canonical_address;
    else
        select u.canonical_address into v_address from public.information_unit u where u.id = new.unit_id;
    end if;
    if marker = 'fn_iu_withdraw_drafts' then
        perform from cutter_governance.void_record v
        join cutter_governance.run r on r.run_id = v.run_id
        where v.opened_xid = pg_current_xact_id() and v.closed_at is null and starts_with(v_address, r.docprefix || '/');
    else
        perform from cutter_governance.gate_receipt g
        join cutter_governance.run r on r.run_id = g.run_id
        where g.opened_xid = pg_current_xact_id() and g.sealed_at is null and g.prev_hash <> ''
            and starts_with(v_address, r.docprefix || '/')
            and g.gate = case marker when 'fn_iu_enact' then 'IG_lifecycle_enact_execute' else 'IG_cut_leg_a_execute' end;
    end if;
    if not found then
        raise exception 'IU Gateway blocked: % for %: no gate of its run is open in this transaction', marker, v_address
            using errcode = 'CU007';
    end if;
    return new;
end
$$;
