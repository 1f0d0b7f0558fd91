-- Returns what the second survey must be after the gate's declared effect. Dimensions that are left out may differ.
create or replace function cutter_governance.fn_effect_pins(p_effect text, p_before jsonb, p_result jsonb) returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select case p_effect
        when 'none' then p_before
        when 'units_created' then (p_before - 'row_content') || jsonb_build_object(
            'row_count', (p_before ->> 'row_count')::integer + (p_result -> 'pins' ->> 'units_created')::integer)
        when 'decision_recorded' then (p_before - 'review_decision') || jsonb_build_object('review_decision',
            jsonb_build_object('count', (p_before -> 'review_decision' ->> 'count')::integer + 1))
        when 'units_enacted' then (p_before - array['row_content_enacted', 'base'])
            || jsonb_build_object('row_content', p_before -> 'row_content_enacted')
        else jsonb_build_object('functions', 'unknown effect') end
$$;
