-- Makes the lifecycle decision of a run and returns its id: that of an unused prepared and signed one, else a new one.
create or replace function cutter_governance.fn_decision_make(
    p_run cutter_governance.run, p_epoch cutter_governance.policy_epoch) returns uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_decision uuid;
begin
    select coalesce((
        select p.review_decision_id from cutter_governance.prepared_decision p
        where p.batch_id = p_run.batch_id and p.document_id = p_run.document_id and p_run.mode = 'live'
            and p.actor = p_epoch.lifecycle_group and not exists (
                select from cutter_governance.review_decision d where d.review_decision_id = p.review_decision_id)
        order by p.created_at desc limit 1), gen_random_uuid()) into v_decision;
    insert into cutter_governance.review_decision (
        review_decision_id, run_id, type, manifest_id, actor, cut_change_set_ref, prior_review_decision_id, created_by)
    select v_decision, p_run.run_id, 'lifecycle_enactment', c.manifest_id, p_epoch.lifecycle_group, c.change_set_id,
        c.review_decision_id, session_user
    from cutter_governance.cut_change_set c where c.run_id = p_run.run_id;
    return v_decision;
end
$$;
