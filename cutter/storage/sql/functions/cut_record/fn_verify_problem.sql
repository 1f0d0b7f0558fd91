-- Returns why the verifier's record of a run is incomplete, or null.
create or replace function cutter_governance.fn_verify_problem(p_run cutter_governance.run) returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select case when not exists (
        select from cutter_governance.verify_result v
        join cutter_governance.cut_change_set c on c.change_set_id = v.change_set_id
        join cutter_governance.dot_pair_signature g on g.signature_id = v.verifier_signature_id
            and g.cross_reference_verify_result_id = v.verify_result_id
        where c.run_id = p_run.run_id and v.verdict = 'pass' and v.manifest_version = c.manifest_version
            and v.manifest_id = c.manifest_id and v.review_decision_id = c.review_decision_id
            and v.executor_signature_id = c.executor_signature_id
            and v.executor_tool_revision = c.executor_tool_revision
            and v.verifier_tool_revision = c.verifier_tool_revision)
        then 'no passing, signed verify_result for its change set' end
$$;
