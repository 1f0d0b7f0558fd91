-- Enacts the draft that the approved change set names for a unit, and ends the version that it replaces, or the unit.
-- Returns a status and raises nothing. The approval of the review decision must be consumed in this transaction.
create or replace function public.fn_iu_enact(
    p_canonical_address text, p_actor text, p_review_decision_id uuid, p_target_lifecycle text default 'enacted',
    p_change_set_id uuid default null, p_reason text default null, p_tool_revision text default null,
    p_dry_run boolean default false) returns jsonb
language plpgsql volatile security definer
set search_path = pg_catalog, public, pg_temp
as $$
declare
    unit public.information_unit;
    affected cutter_governance.cut_change_set_affected_row;
    enacted public.enactment;
    v_refusal text := cutter_governance.fn_enact_refusal(
        p_review_decision_id, p_change_set_id, p_target_lifecycle, p_dry_run);
begin
    if v_refusal is null then
        select * into unit from public.information_unit u
        where u.canonical_address = p_canonical_address and u.deleted_at is null for update;
        select * into affected from cutter_governance.cut_change_set_affected_row a
        where a.change_set_id = p_change_set_id and a.unit_id = unit.id;
        v_refusal := case
            when unit.id is null then 'refused_unknown_unit'
            when unit.lifecycle_status = 'enacted' and affected.ended_version_id is distinct from unit.version_anchor_ref
                then 'already_enacted'
            -- If no affected row names the unit, fn_affected_as_stored is false.
            when (affected.operation = 'repeal') <> (p_target_lifecycle = 'retired')
                or not cutter_governance.fn_affected_as_stored(affected, unit) then 'refused_not_in_change_set'
            when p_dry_run then 'dry_run_ok' end;
    end if;
    if v_refusal is not null then
        return jsonb_build_object('status', v_refusal, 'canonical_address', p_canonical_address);
    end if;
    enacted := cutter_governance.fn_enactment_of(p_change_set_id);
    perform set_config('app.canonical_writer', 'fn_iu_enact', true);
    update public.unit_version v
    set lifecycle_status = case affected.operation when 'repeal' then 'retired' else 'superseded' end,
        effective_until = enacted.effective_from, ended_by = p_change_set_id, ended_at = clock_timestamp()
    where v.id = affected.ended_version_id;
    update public.unit_version v
    set lifecycle_status = 'enacted', enacted_at = clock_timestamp(), enacted_by = p_change_set_id,
        effective_from = enacted.effective_from, continues_unit_id = (
            select w.continues_unit_id from cutter_governance.revision_row w
            where w.run_id = enacted.run_id and w.unit_id = unit.id)
    where v.id = affected.unit_version_id;
    update public.information_unit u
    set lifecycle_status = v.lifecycle_status, content_anchor_ref = v.id::text, version_anchor_ref = v.id,
        unit_kind = v.unit_kind, owner_ref = v.owner_ref, parent_or_container_ref = v.parent_unit_id,
        identity_profile = public.fn_version_profile(v), updated_at = clock_timestamp(), updated_by = p_actor
    from public.unit_version v
    where u.id = unit.id and v.id = coalesce(affected.unit_version_id, affected.ended_version_id) and v.unit_id = u.id;
    perform set_config('app.canonical_writer', '', true);
    insert into public.iu_lifecycle_log (
        unit_id, from_status, to_status, actor, review_decision_id, change_set_id, reason, tool_revision)
    values (unit.id, unit.lifecycle_status, p_target_lifecycle, p_actor, p_review_decision_id, p_change_set_id, p_reason,
        p_tool_revision);
    return jsonb_build_object('status', p_target_lifecycle, 'canonical_address', p_canonical_address, 'unit_id', unit.id);
end
$$;
