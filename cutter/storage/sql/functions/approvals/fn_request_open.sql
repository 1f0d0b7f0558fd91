-- Opens a request for approval at a sovereign gate, or returns the open one, or why there is none. A request of the
-- lifecycle gate makes its review decision.
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
    if v_run.run_id is null then
        return jsonb_build_object('status', 'refused', 'code', 'unknown_run');
    end if;
    if epoch.number is null then
        return jsonb_build_object('status', 'refused', 'code', 'no_policy_epoch');
    end if;
    if v_run.ended_at is not null then
        return jsonb_build_object('status', 'refused', 'code', 'run_ended');
    end if;
    if latch.stopped then
        return jsonb_build_object('status', 'stopped', 'kind', latch.kind, 'reason', latch.reason);
    end if;
    if v_run.state like 'stopped\_%' then
        return jsonb_build_object('status', 'stopped', 'kind', substr(v_run.state, 9),
            'reason', 'the run is ' || v_run.state || ' and was not resumed');
    end if;
    if exists (select from cutter_governance.gate_receipt r
               join cutter_governance.gate_catalogue c on c.gate = r.gate
               where r.run_id = p_run_id and c.sovereign = p_gate and r.sealed_at is not null)
    then
        return jsonb_build_object('status', 'refused', 'code', 'gate_sealed_before');
    end if;
    if cutter_governance.fn_prev_hash(p_run_id, (
        select gate from cutter_governance.gate_catalogue where sovereign = p_gate)) is null
    then
        return jsonb_build_object('status', 'refused', 'code', 'predecessor_not_sealed');
    end if;
    select * into request from cutter_governance.approval_request
    where run_id = p_run_id and gate = p_gate and status = 'requested';
    if found and request.expires_at > v_now and request.kb_id is not null then
        perform cutter_governance.fn_run_move(p_run_id,
            case p_gate when 'SG_cut_authz' then 'awaiting_cut_authorization' else 'awaiting_lifecycle_authorization' end, p_gate);
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
        -- the one that was prepared for this document's night, once; else a new one
        select coalesce((
            select p.review_decision_id from cutter_governance.prepared_decision p
            where p.batch_id = v_run.batch_id and p.document_id = v_run.document_id and v_run.mode = 'live'
                and p.actor = epoch.lifecycle_group and not exists (
                    select from cutter_governance.review_decision d where d.review_decision_id = p.review_decision_id)
            order by p.created_at desc limit 1), gen_random_uuid()) into v_decision;
        insert into cutter_governance.review_decision (
            review_decision_id, run_id, type, manifest_id, actor, cut_change_set_ref, prior_review_decision_id, created_by)
        select v_decision, p_run_id, 'lifecycle_enactment', c.manifest_id, epoch.lifecycle_group, c.change_set_id,
            c.review_decision_id, session_user
        from cutter_governance.cut_change_set c where c.run_id = p_run_id;
    end if;
    v_survey := cutter_governance.fn_survey(p_run_id, v_run.docprefix);
    v_tuple := jsonb_build_object(
        'deployment_id', epoch.deployment_id, 'gate', p_gate, 'run_id', p_run_id, 'document_id', v_run.document_id,
        'source_version_id', v_run.source_version_id, 'writer_digest', v_pins -> 'writer_digest',
        'manifest_digest', v_pins -> 'manifest_digest', 'region_sha', v_pins -> 'region_sha',
        'candidate_count', v_pins -> 'candidate_count', 'change_set_id', p_change_set_id,
        'grants_sha256', v_pins -> 'grants_sha256', 'review_decision_id', v_decision, 'nonce', v_nonce);
    insert into cutter_governance.approval_request (
        run_id, gate, n, tuple, nonce, challenge, review_decision_id, requested_at, expires_at, after_pins, pin_seq)
    values (p_run_id, p_gate,
        1 + (select count(*) from cutter_governance.approval_request where run_id = p_run_id and gate = p_gate),
        v_tuple, v_nonce, cutter_governance.fn_digest(cutter_governance.fn_canonical_flat(v_tuple)), v_decision, v_now,
        v_now + make_interval(secs => p_ttl_seconds), v_survey, nextval('cutter_governance.pin_seq'))
    returning * into request;
    perform cutter_governance.fn_run_move(p_run_id,
        case p_gate when 'SG_cut_authz' then 'awaiting_cut_authorization' else 'awaiting_lifecycle_authorization' end, p_gate,
        'info', jsonb_build_object('challenge', request.challenge));
    return jsonb_build_object('status', 'opened', 'request', to_jsonb(request));
end
$$;
