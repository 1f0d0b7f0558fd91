-- Returns the count and fingerprint of a run's review decisions, as a survey shows them.
create or replace function cutter_governance.fn_review_decision_pin(p_run_id text) returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select jsonb_build_object('count', count(*), 'fingerprint', cutter_governance.fn_digest(
        coalesce(string_agg(to_jsonb(d)::text, E'\n' order by d.review_decision_id), '')))
    from cutter_governance.review_decision d where d.run_id = p_run_id
$$;
