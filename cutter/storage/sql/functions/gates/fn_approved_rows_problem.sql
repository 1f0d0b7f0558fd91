-- Returns why the rows under a run's prefix are not what was approved in this transaction, or null.
create or replace function cutter_governance.fn_approved_rows_problem(p_run cutter_governance.run, p_gate text) returns text
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    approved cutter_governance.approval_consumption;
    v_enacting boolean := p_gate = 'IG_lifecycle_enact_execute';
    v_problem text;
    v_rows integer;
    v_enacted integer;
    v_logged integer;
begin
    select c.* into approved from cutter_governance.approval_consumption c
    join cutter_governance.gate_catalogue g on g.sovereign = c.gate
    where c.run_id = p_run.run_id and g.gate = p_gate and c.consumed_xid = pg_current_xact_id()
    order by c.slot limit 1;
    if not found then
        return 'no approval was consumed in this transaction';
    end if;
    if p_run.operation_kind <> 'first_cut' then
        v_problem := cutter_governance.fn_revision_problem(p_run, approved.writer_digest, v_enacting);
        if v_problem is not null or not v_enacting then
            return v_problem;
        end if;
        select count(*) into v_enacted from cutter_governance.revision_row w
        where w.run_id = p_run.run_id and w.operation <> 'keep';
        select count(*) into v_logged from public.iu_lifecycle_log l
        join cutter_governance.cut_change_set c on c.change_set_id = l.change_set_id
        join cutter_governance.revision_row w on w.run_id = c.run_id and w.unit_id = l.unit_id
        where c.run_id = p_run.run_id and l.review_decision_id = approved.review_decision_id
            and l.to_status = case w.operation when 'repeal' then 'retired' else 'enacted' end;
        return case when v_logged <> v_enacted
            then format('%s units changed, %s in the lifecycle log', v_enacted, v_logged) end;
    end if;
    if cutter_governance.fn_writer_digest(p_run.docprefix) is distinct from approved.writer_digest then
        return 'the rows do not digest to what was approved';
    end if;
    select count(*), count(*) filter (where u.lifecycle_status = 'enacted') into v_rows, v_enacted
    from public.information_unit u
    where u.canonical_address >= p_run.docprefix || '/' collate "C" and u.canonical_address < p_run.docprefix || '0' collate "C"
        and u.deleted_at is null;
    if v_rows <> approved.candidate_count or v_enacted <> (case when v_enacting then v_rows else 0 end) then
        return format('%s rows, %s enacted, %s approved', v_rows, v_enacted, approved.candidate_count);
    end if;
    if v_enacting then
        select count(*) into v_logged from public.iu_lifecycle_log l
        join cutter_governance.cut_change_set c on c.change_set_id = l.change_set_id
        where c.run_id = p_run.run_id and l.to_status = 'enacted' and l.review_decision_id = approved.review_decision_id;
        if v_logged <> v_rows then
            return format('%s units enacted, %s in the lifecycle log', v_rows, v_logged);
        end if;
    end if;
    return null;
end
$$;
