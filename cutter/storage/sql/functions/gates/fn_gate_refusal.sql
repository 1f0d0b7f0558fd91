-- Returns the code of the first rule that keeps a claimed gate shut, or null: the run's end, the gate's turn, the
-- fence, the mode and the policy. A dry run rehearses one gate, and passes none from there on.
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
        else cutter_governance.fn_policy_refusal(p_run.run_id, p_step, p_policy) end
$$;
