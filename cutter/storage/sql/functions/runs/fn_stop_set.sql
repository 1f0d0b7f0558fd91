-- Sets the stop latch of a run after a gate that holds it, and returns a status: without p_wait `busy` instead.
create or replace function cutter_governance.fn_stop_set(
    p_run_id text, p_kind text, p_reason text, p_by text, p_wait boolean default true) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run cutter_governance.run;
begin
    if p_kind is null then
        raise exception 'the stop of % has no kind', p_run_id using errcode = 'CU005';
    end if;
    select * into v_run from cutter_governance.run where run_id = p_run_id;
    if v_run.ended_at is not null then
        return jsonb_build_object('status', 'ended', 'state', v_run.state);
    end if;
    if not p_wait then
        perform from cutter_governance.stop_latch where run_id = p_run_id for update skip locked;
        if not found then
            return jsonb_build_object('status', 'busy', 'state', v_run.state);
        end if;
    end if;
    -- who stopped first stays on record; only a cancel outweighs a stop
    update cutter_governance.stop_latch
    set stopped = true, kind = case when stopped and kind = 'cancel' then kind else p_kind end,
        reason = case when stopped then reason else left(p_reason, 500) end,
        set_by = case when stopped then set_by else left(p_by, 100) end,
        set_at = case when stopped then set_at else clock_timestamp() end
    where run_id = p_run_id;
    if not found then
        return jsonb_build_object('status', 'unknown_run');
    end if;
    -- a gate may have ended the run while this waited for the latch
    select * into v_run from cutter_governance.run where run_id = p_run_id;
    if v_run.ended_at is not null then
        return jsonb_build_object('status', 'ended', 'state', v_run.state);
    end if;
    perform cutter_governance.fn_audit(p_run_id, 'stop', jsonb_build_object('stop', p_kind, 'reason', left(p_reason, 500),
        'by', left(p_by, 100)));
    return jsonb_build_object('status', 'stopped', 'state', v_run.state, 'wrote', exists (
        select from cutter_governance.gate_receipt where run_id = p_run_id and gate = 'IG_cut_leg_a_execute'));
end
$$;
