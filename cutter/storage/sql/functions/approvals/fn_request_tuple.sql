-- Returns what a request asks people to sign, with the findings that a person accepted by name.
create or replace function cutter_governance.fn_request_tuple(
    p_run cutter_governance.run, p_epoch cutter_governance.policy_epoch, p_gate text, p_pins jsonb,
    p_change_set_id uuid, p_decision uuid, p_nonce text) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select jsonb_build_object(
        'deployment_id', p_epoch.deployment_id, 'gate', p_gate, 'run_id', p_run.run_id, 'document_id', p_run.document_id,
        'source_version_id', p_run.source_version_id, 'writer_digest', p_pins -> 'writer_digest',
        'manifest_digest', p_pins -> 'manifest_digest', 'region_sha', p_pins -> 'region_sha',
        'candidate_count', p_pins -> 'candidate_count', 'findings_digest', p_pins -> 'findings_digest',
        'accepted_findings', coalesce(nullif(array_to_string(
            cutter_governance.fn_accepted_findings(p_run.source_version_id), ' '), ''), 'none'),
        'change_set_id', p_change_set_id,
        'grants_sha256', p_pins -> 'grants_sha256', 'review_decision_id', p_decision, 'nonce', p_nonce)
$$;
