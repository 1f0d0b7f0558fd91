-- Raises the tier of an open request, because the policy asks for more people now; a tier never falls.
create or replace function cutter_governance.fn_request_raise(p_run_id text, p_gate text, p_tier text) returns void
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
    update cutter_governance.approval_request set tier = p_tier
    where run_id = p_run_id and gate = p_gate and status = 'requested' and p_tier in ('low', 'medium', 'high')
        and array_position(array['low', 'medium', 'high'], p_tier)
            > coalesce(array_position(array['low', 'medium', 'high'], tier), 0)
$$;
