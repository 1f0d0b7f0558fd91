-- Returns why a worker's recorded policy decisions do not open a gate, or null. The content of a decision is the
-- worker's own word. Checked here are that it decided, that nothing was denied, and that as many people as a tier
-- asks for have approved.
create or replace function cutter_governance.fn_policy_refusal(
    p_run_id text, p_step cutter_governance.gate_catalogue, p_policy jsonb) returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select case
        when cutter_governance.fn_form_problem('policy', p_policy - 'text') is not null then 'policy_malformed'
        when p_step.writes is not null and not exists (
            select from jsonb_array_elements(p_policy -> 'decisions') as d
            where d ->> 'connector' = 'database' and d ->> 'operation' = p_step.writes)
            then 'policy_not_decided'
        when exists (
            select from jsonb_array_elements(p_policy -> 'decisions') as d
            -- readers of a receipt expect the key `tier`, and only people sign for a tier
            where d ->> 'verdict' is null or d ->> 'verdict' not in ('allow', 'needs_approval')
                or not d ? 'tier' or (d ->> 'verdict' = 'needs_approval') <> (d ->> 'tier' is not null)
                or d ->> 'tier' not in ('low', 'medium', 'high'))
            or (p_policy is not null and coalesce(p_policy ->> 'sha256', '') !~ '^[0-9a-f]{64}$')
            then 'policy_denied'
        when p_policy is not null and coalesce(p_policy ->> 'text', '') = '' and not exists (
            select from cutter_governance.governing_policy where sha256 = p_policy ->> 'sha256') then 'policy_without_text'
        when p_step.sovereign is null and exists (
            select from jsonb_array_elements(p_policy -> 'decisions') as d
            where d ->> 'verdict' = 'needs_approval'
                and (cutter_governance.fn_gate_approvers(p_run_id, p_step.gate) ->> (d ->> 'tier'))::integer
                    < (cutter_governance.fn_gate_needs(p_step.gate) ->> (d ->> 'tier'))::integer)
            then 'policy_approval_missing' end
$$;
