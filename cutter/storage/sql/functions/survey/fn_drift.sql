-- Returns the first dimension that differs from what was expected, with its diff, or null. Dimensions that p_expected
-- lacks are not compared. For the review decisions an expectation may give the count alone.
create or replace function cutter_governance.fn_drift(p_expected jsonb, p_observed jsonb) returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    name text;
    before jsonb;
    after jsonb;
begin
    foreach name in array array['base', 'source', 'functions', 'triggers', 'tables', 'grants', 'row_count', 'row_content',
        'review_decision']
    loop
        before := p_expected -> name;
        after := p_observed -> name;
        if before is null or before = after or (name = 'review_decision' and after @> before) then
            continue;
        end if;
        return jsonb_build_object('dimension', name, 'expected', before, 'observed', after,
            'fingerprint', cutter_governance.fn_digest(p_observed::text),
            'diff', cutter_governance.fn_drift_diff(
                coalesce((select detail from cutter_governance.definition_snapshot where fingerprint = before #>> '{}'), before),
                coalesce((select detail from cutter_governance.definition_snapshot where fingerprint = after #>> '{}'), after)));
    end loop;
    return null;
end
$$;
