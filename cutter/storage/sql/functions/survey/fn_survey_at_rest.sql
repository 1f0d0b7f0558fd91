-- Returns the survey of the database as it will be after this transaction is rolled back; a person acknowledges its
-- fingerprint when the second survey of a gate drifts.
create or replace function cutter_governance.fn_survey_at_rest(p_before jsonb, p_after jsonb) returns jsonb
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
return (p_before - array['row_content_enacted', 'row_versions'])
    || (p_after - array['row_count', 'row_content', 'review_decision', 'row_versions']);
