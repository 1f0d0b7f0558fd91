-- Ends a voided run after all of its drafts are withdrawn; this function counts the withdrawn units.
create or replace function cutter_governance.fn_void_close(p_run_id text, p_state text) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_docprefix text;
    v_drafts integer := 0;
    v_withdrawn integer := 0;
begin
    -- `voided_cancelled` is what ends without a signature: a signed void is never mistaken for it
    if p_state !~ '^voided_[a-z0-9]+(_[a-z0-9]+)*$' or length(p_state) > 47 or p_state = 'voided_cancelled' then
        raise exception 'run %: a signed void does not end in %', p_run_id, left(p_state, 100) using errcode = 'CU006';
    end if;
    if exists (select from cutter_governance.gate_receipt
               where run_id = p_run_id and gate = 'IG_cut_leg_a_execute' and sealed_at is not null)
    then
        select docprefix into v_docprefix from cutter_governance.run where run_id = p_run_id;
        select count(*) filter (where u.deleted_at is null and (
                u.lifecycle_status = 'draft' or v.lifecycle_status = 'draft' and v.withdrawn_at is null)),
            count(*) filter (where v.withdrawn_reason = 'void ' || p_run_id)
        into v_drafts, v_withdrawn
        -- Each part has its own index: no index has both the units that exist and those that are withdrawn.
        from (
            select * from public.information_unit e where e.deleted_at is null
                and e.canonical_address >= v_docprefix || '/' collate "C"
                and e.canonical_address < v_docprefix || '0' collate "C"
            union all
            select * from public.information_unit w where w.deleted_at is not null
                and w.canonical_address >= v_docprefix || '/' collate "C"
                and w.canonical_address < v_docprefix || '0' collate "C"
        ) u
        join public.unit_version v on v.unit_id = u.id;
    end if;
    if v_drafts > 0 then
        raise exception 'run %: % drafts were not withdrawn', p_run_id, v_drafts using errcode = 'CU010';
    end if;
    update cutter_governance.void_record set closed_at = clock_timestamp(), withdrawn = v_withdrawn
    where run_id = p_run_id and opened_xid = pg_current_xact_id() and closed_at is null;
    if not found then
        raise exception 'run %: no void is open here', p_run_id using errcode = 'CU006';
    end if;
    perform cutter_governance.fn_run_move(p_run_id, p_state, 'void', 'warning', jsonb_build_object('withdrawn', v_withdrawn));
    return jsonb_build_object('status', 'voided', 'state', p_state, 'withdrawn', v_withdrawn);
end
$$;
