-- Withdraws every draft of a run whose void is open in this transaction, and returns how many; no law in force.
create or replace function public.fn_iu_withdraw_drafts(p_run_id text) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, public, pg_temp
as $$
declare
    opened cutter_governance.void_record;
    v_docprefix text;
    v_count integer := 0;
begin
    select * into opened from cutter_governance.void_record v
    where v.run_id = p_run_id and v.opened_xid = pg_current_xact_id() and v.closed_at is null;
    if not found then
        return jsonb_build_object('status', 'refused_no_void_open');
    end if;
    select r.docprefix into v_docprefix from cutter_governance.run r where r.run_id = p_run_id;
    if exists (select from cutter_governance.gate_receipt g
               where g.run_id = p_run_id and g.gate = 'IG_cut_leg_a_execute' and g.sealed_at is not null)
    then
        perform set_config('app.canonical_writer', 'fn_iu_withdraw_drafts', true);
        update public.unit_version v
        set withdrawn_at = clock_timestamp(), withdrawn_reason = 'void ' || p_run_id
        from public.information_unit u
        where u.id = v.unit_id and v.lifecycle_status = 'draft' and v.withdrawn_at is null and u.deleted_at is null
            and u.canonical_address >= v_docprefix || '/' collate "C"
            and u.canonical_address < v_docprefix || '0' collate "C"
            and (u.version_anchor_ref = v.id or u.lifecycle_status <> 'draft');
        get diagnostics v_count = row_count;
        update public.information_unit u
        set deleted_at = clock_timestamp(), withdrawn_reason = 'void ' || p_run_id, updated_at = clock_timestamp(),
            updated_by = session_user
        where u.canonical_address >= v_docprefix || '/' collate "C" and u.canonical_address < v_docprefix || '0' collate "C"
            and u.deleted_at is null and u.lifecycle_status = 'draft';
        perform set_config('app.canonical_writer', '', true);
    end if;
    return jsonb_build_object('status', 'withdrawn', 'count', v_count);
end
$$;
