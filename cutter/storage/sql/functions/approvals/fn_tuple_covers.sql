-- Returns whether an approval that was signed before a batch ran is for this run, and for a rehearsal of the same
-- queue. For an enactment the stored units must be the rehearsed ones, and verified.
create or replace function cutter_governance.fn_tuple_covers(
    p_statement jsonb, p_run cutter_governance.run, p_request cutter_governance.approval_request) returns boolean
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select coalesce(p_run.mode = 'live' and p_run.batch_id = p_statement ->> 'batch_id'
        and p_run.document_id = p_statement ->> 'document_id'
        and p_run.source_version_id::text = p_statement ->> 'source_version_id'
        and p_request.tuple ->> 'writer_digest' = p_statement ->> 'writer_digest'
        and p_request.tuple ->> 'candidate_count' = p_statement ->> 'candidate_count'
        and p_request.tuple ->> 'findings_digest' = p_statement ->> 'findings_digest'
        and p_request.tuple ->> 'accepted_findings' = p_statement ->> 'accepted_findings'
        and p_request.gate = p_statement ->> 'gate'
        and exists (
            select from cutter_governance.run r join cutter_governance.approval_request q on q.run_id = r.run_id
            where r.batch_id = p_run.batch_id || '-dryrun' and r.document_id = p_run.document_id
                and r.mode = 'dryrun' and q.request_sha256 = p_statement ->> 'request_sha256')
        and (p_request.gate <> 'SG_lifecycle_authz' or (
            exists (select from cutter_governance.prepared_decision d
                    where d.review_decision_id = p_request.review_decision_id and d.batch_id = p_run.batch_id
                        and d.document_id = p_run.document_id)
            and cutter_governance.fn_stored_digest(p_run.run_id) = p_statement ->> 'writer_digest'
            and exists (select from cutter_governance.cut_change_set c
                        join cutter_governance.verify_result v on v.change_set_id = c.change_set_id
                        where c.run_id = p_run.run_id and v.verdict = 'pass'))), false)
$$;
