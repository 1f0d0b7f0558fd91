-- Returns the code of the first rule that keeps a claimed gate shut, or null. A dry run rehearses one gate. A policy's
-- decision is the worker's own word: it must be made, deny nothing, and have as many approvals as its tiers.
create or replace function cutter_governance.fn_gate_refusal(
    p_run cutter_governance.run, p_step cutter_governance.gate_catalogue, p_attempt integer, p_prev_hash text,
    p_rehearse boolean, p_policy jsonb) returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select case
        when p_run.ended_at is not null then 'run_ended'
        when p_prev_hash is null then 'predecessor_not_sealed'
        when p_attempt is distinct from (select max(n) from cutter_governance.gate_attempt
                                         where run_id = p_run.run_id and gate = p_step.gate) then 'stale_attempt'
        when p_rehearse and (p_run.mode <> 'dryrun' or not p_step.rehearsable) then 'mode_forbids_rehearsal'
        when not p_rehearse and p_run.mode = 'dryrun' and exists (
            select from cutter_governance.gate_catalogue g where g.rehearsable and g.ordinal <= p_step.ordinal)
            then 'mode_forbids_write'
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
                and (cutter_governance.fn_gate_approvers(p_run.run_id, p_step.gate) ->> (d ->> 'tier'))::integer
                    < (cutter_governance.fn_gate_needs(p_step.gate) ->> (d ->> 'tier'))::integer)
            then 'policy_approval_missing' end
$$;
