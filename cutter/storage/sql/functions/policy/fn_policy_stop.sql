-- Returns what the policy stopped a run for and how far its approval is, or null. `stop` identifies this stop. Without
-- a known tier the highest applies. A stop that people latched as well takes a signature.
create or replace function cutter_governance.fn_policy_stop(p_run_id text) returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select jsonb_build_object(
        'stop', 'stop:' || r.run_id || ':' || (extract(epoch from r.state_at) * 1000000)::bigint, 'gate', g.gate,
        'tier', asked.tier, 'unsigned', not l.stopped and cutter_governance.fn_unsigned_may(r.mode, asked.tier),
        'have', cutter_governance.fn_gate_approvers(r.run_id, g.gate) -> asked.tier,
        'needed', cutter_governance.fn_gate_needs(g.gate) -> asked.tier)
    from cutter_governance.run r
    join cutter_governance.stop_latch l on l.run_id = r.run_id
    join cutter_governance.gate_catalogue g on r.state = 'stopped_policy_' || g.phase,
    coalesce(substring(r.last_error -> 'report' ->> 'tier' from '^(low|medium)$'), 'high') as asked (tier)
    where r.run_id = p_run_id and r.ended_at is null
$$;
