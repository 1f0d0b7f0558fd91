-- Returns how many people each tier asks for at a gate that is not sovereign.
create or replace function cutter_governance.fn_gate_needs(p_gate text) returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select jsonb_object_agg(tier,
        cutter_governance.fn_approvals_needed(cutter_governance.fn_gate_sovereign(p_gate), tier))
    from unnest(array['low', 'medium', 'high']) as tier
$$;
