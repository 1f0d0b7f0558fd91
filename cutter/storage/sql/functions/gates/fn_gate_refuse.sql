-- Records in its own transaction that an attempt did not pass, and moves the run when p_state is given.
create or replace function cutter_governance.fn_gate_refuse(
    p_run_id text, p_gate text, p_attempt integer, p_outcome text, p_reason text, p_report jsonb default null,
    p_state text default null, p_retry_seconds double precision default null) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_policy jsonb;
    v_report jsonb := case when jsonb_typeof(p_report -> 'policy') = 'object' then p_report #- '{policy,text}' else p_report end;
begin
    if not exists (select from cutter_governance.gate_catalogue where gate = p_gate and role = session_user) then
        raise exception '% may not refuse %', session_user, p_gate using errcode = 'CU006';
    end if;
    if cutter_governance.fn_prev_hash(p_run_id, p_gate) is null then
        raise exception '% of %: the gate before it is not sealed, so there is nothing to refuse', p_gate, p_run_id
            using errcode = 'CU022';
    end if;
    -- Only the first gate skips: it finds its version enacted.
    if p_outcome is null or p_outcome !~ '^[a-z_]{1,40}$'
        or p_outcome = 'passed' or (p_outcome = 'skipped' and p_gate <> 'IG_source_pin') then
        raise exception '% of %: % is no outcome of an attempt that did not pass', p_gate, p_run_id, left(p_outcome, 100)
            using errcode = 'CU021';
    end if;
    v_policy := cutter_governance.fn_policy_note(p_report -> 'policy');
    -- said once more by the attempt's row; this covers a refusal that finds none to write on
    if cutter_governance.fn_form_problem('report', v_report) is not null then
        raise exception 'the report of % was refused: it %', p_gate, cutter_governance.fn_form_problem('report', v_report)
            using errcode = 'CU021';
    end if;
    update cutter_governance.gate_attempt
    set finished_at = clock_timestamp(), outcome = p_outcome, reason = left(p_reason, 500), report = v_report,
        last_error = left(p_reason, 500),
        -- shown to people only: a day bounds what may be claimed
        next_eligible_at = case when p_retry_seconds is not null then
            clock_timestamp() + make_interval(secs => least(greatest(p_retry_seconds, 0), 86400)) end
    where run_id = p_run_id and gate = p_gate and n = p_attempt and outcome is null;
    if p_state is null or p_attempt is distinct from (
            select max(n) from cutter_governance.gate_attempt where run_id = p_run_id and gate = p_gate)
        or exists (select from cutter_governance.gate_receipt where run_id = p_run_id and gate = p_gate)
        or (select ended_at from cutter_governance.run where run_id = p_run_id) is not null
        or p_state !~ '^(failed|stopped)_[a-z0-9_]{1,80}$'
    then
        return;
    end if;
    update cutter_governance.run set last_error = jsonb_build_object('gate', p_gate, 'outcome', p_outcome,
        'reason', left(p_reason, 500), 'report', v_report, 'at', cutter_governance.fn_utc(clock_timestamp()))
    where run_id = p_run_id;
    perform cutter_governance.fn_run_move(p_run_id, p_state, p_gate, 'error',
        jsonb_build_object('reason', left(p_reason, 500))
        || case when v_policy is null then '{}' else jsonb_build_object('policy', v_policy) end);
end
$$;
