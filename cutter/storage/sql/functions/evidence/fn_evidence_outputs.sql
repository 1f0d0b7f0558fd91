-- Returns what a run has written about its cut, as evidence: change set, result, review decisions, signatures.
create or replace function cutter_governance.fn_evidence_outputs(p_run_id text) returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
    select jsonb_build_object(
        'outputs', jsonb_build_object(
            'change_set', (select to_jsonb(s) from cutter_governance.cut_change_set s where s.run_id = p_run_id),
            'affected_rows', (select count(*) from cutter_governance.cut_change_set_affected_row a
                              join cutter_governance.cut_change_set s on s.change_set_id = a.change_set_id
                              where s.run_id = p_run_id),
            'verify_result', (select to_jsonb(x) from cutter_governance.verify_result x
                              join cutter_governance.cut_change_set s on s.change_set_id = x.change_set_id
                              where s.run_id = p_run_id),
            'review_decisions', (select coalesce(jsonb_agg(to_jsonb(d) order by d.created_at, d.review_decision_id), '[]')
                                 from cutter_governance.review_decision d where d.run_id = p_run_id)),
        'signatures', (
            select coalesce(jsonb_agg(to_jsonb(g) order by g.signature_kind), '[]')
            from cutter_governance.dot_pair_signature g
            where g.signature_id in (
                select e.signature_id from cutter_governance.cut_change_set s
                join cutter_governance.dot_pair_signature e on e.cross_reference_change_set_id = s.change_set_id
                where s.run_id = p_run_id
                union all select v.signature_id from cutter_governance.cut_change_set s
                join cutter_governance.verify_result x on x.change_set_id = s.change_set_id
                join cutter_governance.dot_pair_signature v on v.cross_reference_verify_result_id = x.verify_result_id
                where s.run_id = p_run_id)))
$$;
