-- Opens a request at a sovereign gate, or returns the open one, or why there is none. SG_2 makes its decision.
create or replace function cutter_governance.fn_request_open(
    p_run_id text, p_gate text, p_ttl_seconds integer, p_change_set_id uuid) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run cutter_governance.run;
    request cutter_governance.approval_request;
    epoch cutter_governance.policy_epoch;
    latch cutter_governance.stop_latch;
    v_awaiting text := (select from_state from cutter_governance.gate_catalogue where sovereign = p_gate);
    v_answer jsonb;
    v_pins jsonb := cutter_governance.fn_run_pins(p_run_id);
    v_decision uuid;
    v_survey jsonb;
    v_drift jsonb;
    v_nonce text := left(encode(sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())), 'hex'), 32);
    v_tuple jsonb;
    v_now timestamptz := clock_timestamp();
begin
    if p_ttl_seconds not between 1 and (case p_gate when 'SG_cut_authz' then 86400 else 43200 end) then
        return jsonb_build_object('status', 'refused', 'code', 'ttl_out_of_range');
    end if;
    select * into latch from cutter_governance.stop_latch where run_id = p_run_id for share;
    select * into v_run from cutter_governance.run where run_id = p_run_id for update;
    select * into epoch from cutter_governance.policy_epoch order by number desc limit 1;
    v_answer := cutter_governance.fn_request_refusal(v_run, latch, epoch, p_gate);
    if v_answer is not null then
        return v_answer;
    end if;
    select * into request from cutter_governance.approval_request
    where run_id = p_run_id and gate = p_gate and status = 'requested';
    if found and request.expires_at > v_now and request.kb_id is not null then
        perform cutter_governance.fn_run_move(p_run_id, v_awaiting, p_gate);
        return jsonb_build_object('status', 'requested', 'request', to_jsonb(request));
    end if;
    if found then
        update cutter_governance.approval_request set status = 'expired' where request_id = request.request_id;
    end if;
    -- a statement of its own: the diff reads what the survey has just stored
    v_survey := cutter_governance.fn_survey(p_run_id, v_run.docprefix);
    v_drift := cutter_governance.fn_drift(cutter_governance.fn_expected_pins(p_run_id), v_survey);
    if v_drift is not null then
        return jsonb_build_object('status', 'drift', 'drift', v_drift);
    end if;
    if p_gate = 'SG_lifecycle_authz' then
        v_decision := cutter_governance.fn_decision_make(v_run, epoch);
        v_survey := cutter_governance.fn_survey(p_run_id, v_run.docprefix);
    end if;
    v_tuple := cutter_governance.fn_request_tuple(
        v_run, epoch, p_gate, v_pins, p_change_set_id, v_decision, v_nonce);
    insert into cutter_governance.approval_request (
        run_id, gate, n, tuple, nonce, challenge, review_decision_id, requested_at, expires_at, after_pins, pin_seq)
    values (p_run_id, p_gate,
        1 + (select count(*) from cutter_governance.approval_request where run_id = p_run_id and gate = p_gate),
        v_tuple, v_nonce, cutter_governance.fn_digest(cutter_governance.fn_canonical_flat(v_tuple)), v_decision, v_now,
        v_now + make_interval(secs => p_ttl_seconds), v_survey, nextval('cutter_governance.pin_seq'))
    returning * into request;
    perform cutter_governance.fn_run_move(p_run_id, v_awaiting, p_gate, 'info',
        jsonb_build_object('challenge', request.challenge));
    return jsonb_build_object('status', 'opened', 'request', to_jsonb(request));
end
$$;
