-- Returns the status with which fn_iu_enact refuses every unit of a change set, or null.
create or replace function cutter_governance.fn_enact_refusal(
    p_review_decision_id uuid, p_change_set_id uuid, p_target_lifecycle text, p_dry_run boolean) returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select case
        when p_target_lifecycle not in ('enacted', 'retired') then 'refused_target'
        when not exists (
            select from cutter_governance.review_decision d
            join cutter_governance.cut_change_set c on c.run_id = d.run_id
            where d.review_decision_id = p_review_decision_id and d.type = 'lifecycle_enactment' and d.verdict = 'PASS'
                and c.change_set_id = p_change_set_id) then 'refused_review_decision'
        when not p_dry_run and not exists (
            select from cutter_governance.approval_consumption c
            where c.consumed_xid = pg_current_xact_id() and c.review_decision_id = p_review_decision_id)
            then 'refused_not_approved_here' end
$$;
