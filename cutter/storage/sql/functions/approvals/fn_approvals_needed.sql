-- Returns how many people a sovereign gate asks for: by its own tier, and by a higher one if that is given.
create or replace function cutter_governance.fn_approvals_needed(p_sovereign text, p_tier text) returns integer
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select greatest(1, case p_tier when 'high' then 2 end, (
        select greatest((e.thresholds ->> p_sovereign)::integer, (e.tiers -> p_sovereign ->> p_tier)::integer)
        from cutter_governance.policy_epoch e order by e.number desc limit 1))
$$;
