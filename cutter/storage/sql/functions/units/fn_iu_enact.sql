-- Enacts one draft unit that the approved change set names, and logs it; returns a status and raises nothing. The
-- approval of the review decision must have been consumed in this transaction. With p_dry_run every check runs and
-- nothing is written.
create or replace function public.fn_iu_enact(
    p_canonical_address text, p_actor text, p_review_decision_id uuid, p_target_lifecycle text default 'enacted',
    p_change_set_id uuid default null, p_reason text default null, p_tool_revision text default null,
    p_dry_run boolean default false) returns jsonb
language plpgsql volatile security definer
set search_path = pg_catalog, public, pg_temp
as $$
declare
    unit public.information_unit;
begin
    if p_target_lifecycle <> 'enacted' then
        return jsonb_build_object('status', 'refused_target', 'canonical_address', p_canonical_address);
    end if;
    if not exists (
        select from cutter_governance.review_decision d
        join cutter_governance.cut_change_set c on c.run_id = d.run_id
        where d.review_decision_id = p_review_decision_id and d.type = 'lifecycle_enactment' and d.verdict = 'PASS'
            and c.change_set_id = p_change_set_id)
    then
        return jsonb_build_object('status', 'refused_review_decision', 'canonical_address', p_canonical_address);
    end if;
    if not p_dry_run and not exists (
        select from cutter_governance.approval_consumption c
        where c.consumed_xid = pg_current_xact_id() and c.review_decision_id = p_review_decision_id)
    then
        return jsonb_build_object('status', 'refused_not_approved_here', 'canonical_address', p_canonical_address);
    end if;
    select * into unit from public.information_unit u
    where u.canonical_address = p_canonical_address and u.deleted_at is null for update;
    if not found then
        return jsonb_build_object('status', 'refused_unknown_unit', 'canonical_address', p_canonical_address);
    end if;
    if unit.lifecycle_status = 'enacted' then
        return jsonb_build_object('status', 'already_enacted', 'canonical_address', p_canonical_address);
    end if;
    if not exists (
        select from cutter_governance.cut_change_set_affected_row r
        join public.unit_version v on v.id = r.unit_version_id and v.id = unit.version_anchor_ref
        where r.change_set_id = p_change_set_id and r.unit_id = unit.id
            and r.content_hash = v.content_hash and v.content_hash = public.fn_content_hash(v.body))
    then
        return jsonb_build_object('status', 'refused_not_in_change_set', 'canonical_address', p_canonical_address);
    end if;
    if p_dry_run then
        return jsonb_build_object('status', 'dry_run_ok', 'canonical_address', p_canonical_address);
    end if;
    perform set_config('app.canonical_writer', 'fn_iu_enact', true);
    update public.unit_version v set lifecycle_status = 'enacted', enacted_at = clock_timestamp()
    where v.id = unit.version_anchor_ref;
    update public.information_unit u
    set lifecycle_status = 'enacted', updated_at = clock_timestamp(), updated_by = p_actor
    where u.id = unit.id;
    perform set_config('app.canonical_writer', '', true);
    insert into public.iu_lifecycle_log (
        unit_id, from_status, to_status, actor, review_decision_id, change_set_id, reason, tool_revision)
    values (unit.id, 'draft', 'enacted', p_actor, p_review_decision_id, p_change_set_id, p_reason, p_tool_revision);
    return jsonb_build_object('status', 'enacted', 'canonical_address', p_canonical_address, 'unit_id', unit.id);
end
$$;
