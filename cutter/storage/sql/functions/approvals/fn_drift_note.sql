-- Records the drift that a person could acknowledge now, after a statement named another one.
create or replace function cutter_governance.fn_drift_note(p_run_id text, p_survey jsonb) returns void
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
    update cutter_governance.run r
    set last_error = coalesce(r.last_error, '{}') || jsonb_build_object(
        'at', cutter_governance.fn_utc(clock_timestamp()), 'report',
        coalesce(cutter_governance.fn_drift(cutter_governance.fn_expected_pins(p_run_id), p_survey),
            jsonb_build_object('dimension', 'none', 'diff', '[]'::jsonb))
        || jsonb_build_object('fingerprint', cutter_governance.fn_digest(p_survey::text)))
    where r.run_id = p_run_id
$$;
