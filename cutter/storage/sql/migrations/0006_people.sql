-- What people decide: requests, verdicts, stops, acknowledgements, voids; and the projections' source.

create function cutter_governance.fn_request_open(
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

-- Each end of a request is a transition of an approval (seed 003), on the chain of its run.
create function cutter_governance.fn_approval_moved() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform cutter_governance.fn_audit(new.run_id, 'approval_transition', jsonb_build_object(
        'timestamp', cutter_governance.fn_utc(clock_timestamp()), 'event_type', 'approval_state_transition',
        'severity', case new.status when 'approved' then 'info' else 'warning' end, 'entity_id', new.request_id,
        'from_state', old.status, 'to_state', new.status, 'trigger', new.status,
        'metadata', jsonb_build_object('run_id', new.run_id, 'gate', new.gate, 'n', new.n)));
    return null;
end
$$;
create trigger trg_approval_request_moved after update of status on cutter_governance.approval_request
    for each row when (old.status is distinct from new.status) execute function cutter_governance.fn_approval_moved();

-- Binds the rendered document to its request, in the request's own transaction.
create function cutter_governance.fn_request_document(p_request_id uuid, p_kb_id text, p_body text, p_tier text)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    request cutter_governance.approval_request;
begin
    update cutter_governance.approval_request
    set kb_id = p_kb_id, request_sha256 = cutter_governance.fn_digest(p_body), tier = p_tier
    where request_id = p_request_id and kb_id is null returning * into request;
    if not found then
        raise exception 'request %: has its document already', p_request_id using errcode = 'CU005';
    end if;
    insert into cutter_governance.outbox (run_id, kind, subject, kb_id, body)
    values (request.run_id, 'request', request.gate, p_kb_id, p_body);
end
$$;

-- Approvals of this very request that may still open its gate: not over, not taken back, of the epoch in force.
create function cutter_governance.fn_request_approvals(p_request cutter_governance.approval_request)
returns setof cutter_governance.approval_verdict
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select v.* from cutter_governance.approval_verdict v
    where v.run_id = p_request.run_id and v.gate = p_request.gate and v.accepted and v.decision = 'approve'
        and v.challenge = p_request.challenge and v.not_after > clock_timestamp()
        and v.policy_sha256 = (select e.sha256 from cutter_governance.policy_epoch e order by e.number desc limit 1)
        and not exists (select from cutter_governance.approval_revocation x where x.approval_sha256 = v.approval_sha256)
$$;

-- More people are asked for than when the request was opened: the policy's tier may rise, never fall.
create function cutter_governance.fn_request_raise(p_run_id text, p_gate text, p_tier text) returns void
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
    update cutter_governance.approval_request set tier = p_tier
    where run_id = p_run_id and gate = p_gate and status = 'requested' and p_tier in ('low', 'medium', 'high')
        and array_position(array['low', 'medium', 'high'], p_tier)
            > coalesce(array_position(array['low', 'medium', 'high'], tier), 0)
$$;

create function cutter_governance.fn_verdict_record(p_run_id text, p_gate text, p_kb_id text, p_verdict jsonb) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if session_user <> 'cutter_read' then
        raise exception 'verdicts are recorded by cutter_read, not by %', session_user using errcode = 'CU006';
    end if;
    -- the run before its chain, as a gate has them: a verdict that comes while one writes waits, and holds nothing
    perform from cutter_governance.run where run_id = p_run_id for update;
    insert into cutter_governance.approval_verdict (
        run_id, gate, kb_id, approval_sha256, accepted, code, reason, decision, approver, fingerprint, challenge,
        writer_digest, review_decision_id, not_after, policy_sha256, statement)
    values (p_run_id, p_gate, p_kb_id, p_verdict ->> 'approval_sha256', (p_verdict ->> 'accepted')::boolean,
        p_verdict ->> 'code', left(p_verdict ->> 'reason', 500), p_verdict ->> 'decision', p_verdict ->> 'approver',
        p_verdict ->> 'fingerprint', p_verdict ->> 'challenge', p_verdict ->> 'writer_digest',
        (p_verdict ->> 'review_decision_id')::uuid, (p_verdict ->> 'not_after')::timestamptz,
        p_verdict ->> 'policy_sha256', p_verdict -> 'statement')
    on conflict (run_id, gate, approval_sha256) where accepted do nothing;
    if not found then
        return jsonb_build_object('status', 'duplicate');
    end if;
    perform cutter_governance.fn_audit(p_run_id, 'verdict', jsonb_build_object('gate', p_gate, 'kb_id', p_kb_id,
        'accepted', p_verdict -> 'accepted', 'code', p_verdict -> 'code', 'approval_sha256', p_verdict -> 'approval_sha256',
        'fingerprint', p_verdict -> 'fingerprint'));
    return jsonb_build_object('status', 'recorded');
end
$$;

create function cutter_governance.fn_refusal_record(p_run_id text, p_gate text, p_message text, p_code text, p_reason text)
returns void
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
    insert into cutter_governance.message_refusal (run_id, gate, message, code, reason)
    values (p_run_id, p_gate, left(p_message, 100), left(p_code, 100), left(p_reason, 500))
$$;

-- Ends an open request by rejection or expiry; rejection consumes the signed statement and ends the run. A request that
-- its gate has approved meanwhile is not ended any more.
create function cutter_governance.fn_request_end(p_run_id text, p_gate text, p_status text, p_approval_sha256 text default null)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    verdict cutter_governance.approval_verdict;
    request cutter_governance.approval_request;
begin
    perform from cutter_governance.run where run_id = p_run_id for update;
    select * into request from cutter_governance.approval_request
    where run_id = p_run_id and gate = p_gate and status = 'requested' for update;
    if not found or p_status not in ('rejected', 'expired')
        or (p_status = 'expired' and request.expires_at > clock_timestamp())
    then
        return;
    end if;
    if p_status = 'rejected' then
        select * into verdict from cutter_governance.approval_verdict
        where run_id = p_run_id and gate = p_gate and accepted and decision = 'reject'
            and approval_sha256 = p_approval_sha256 and challenge = request.challenge;
        if not found then
            raise exception 'run %: no accepted rejection %', p_run_id, p_approval_sha256 using errcode = 'CU006';
        end if;
        insert into cutter_governance.order_consumption (statement_sha256, run_id, decision, approver, fingerprint)
        values (verdict.approval_sha256, p_run_id, 'reject', verdict.approver, verdict.fingerprint);
    end if;
    update cutter_governance.approval_request set status = p_status where request_id = request.request_id;
    if p_status = 'rejected' then
        perform cutter_governance.fn_run_move(p_run_id, 'failed_rejected', p_gate, 'warning',
            jsonb_build_object('statement_sha256', p_approval_sha256));
    else
        perform cutter_governance.fn_run_move(p_run_id, 'stopped_expired', p_gate, 'warning');
    end if;
end
$$;

-- Sets the stop latch. Waits for a gate that holds the latch's row, at most until that gate's cap; who must not wait is
-- answered `busy`.
create function cutter_governance.fn_stop_set(
    p_run_id text, p_kind text, p_reason text, p_by text, p_wait boolean default true) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run cutter_governance.run;
begin
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

-- Moves a run into stopped_<reason>, or cancels one that has written nothing. A drift is believed when the database sees
-- it too; its report is what a signed acknowledgement then names, and of no drift the one given. A run that is there
-- already keeps what is recorded.
create function cutter_governance.fn_run_stop(p_run_id text, p_state text, p_reason text, p_report jsonb default null)
returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run cutter_governance.run;
    v_survey jsonb;
    v_drift jsonb;
    v_wrote boolean := exists (
        select from cutter_governance.gate_receipt where run_id = p_run_id and gate = 'IG_cut_leg_a_execute');
begin
    select * into v_run from cutter_governance.run where run_id = p_run_id for update;
    if v_run.ended_at is not null or v_run.state = p_state or (cutter_governance.fn_stop_is_signed(v_run.state)
        and p_state like 'stopped\_%' and (not cutter_governance.fn_stop_is_signed(p_state)
            -- as a policy's stop it would go on by the approvals that are there already
            or p_state like 'stopped\_policy\_%'))
    then
        return jsonb_build_object('state', v_run.state);
    end if;
    if p_state !~ '^(stopped|failed)_[a-z0-9_]+$' and (p_state <> 'voided_cancelled' or v_wrote
        or not (select stopped and kind = 'cancel' from cutter_governance.stop_latch where run_id = p_run_id))
    then
        raise exception 'run %: % is neither a stop nor a failure', p_run_id, p_state using errcode = 'CU006';
    end if;
    if p_state like 'stopped\_drift\_%' then
        v_survey := cutter_governance.fn_survey(p_run_id, coalesce(v_run.docprefix, ''));
        v_drift := cutter_governance.fn_drift(cutter_governance.fn_expected_pins(p_run_id), v_survey);
        if v_drift is null then
            return jsonb_build_object('state', v_run.state);
        end if;
    end if;
    update cutter_governance.run set last_error = jsonb_build_object('outcome', p_state, 'reason', left(p_reason, 500),
        'report', coalesce(v_drift, p_report), 'at', cutter_governance.fn_utc(clock_timestamp())) where run_id = p_run_id;
    if p_state = 'voided_cancelled' then
        update cutter_governance.approval_request set status = 'canceled' where run_id = p_run_id and status = 'requested';
    end if;
    perform cutter_governance.fn_run_move(p_run_id, p_state, 'stop', 'warning', jsonb_build_object('reason', left(p_reason, 500)));
    return jsonb_build_object('state', (select state from cutter_governance.run where run_id = p_run_id));
end
$$;

-- The next state that a stopped run goes on from: what its newest sealed receipt reached.
create function cutter_governance.fn_reached_state(p_run_id text) returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select coalesce((
        select c.to_state from cutter_governance.gate_receipt r
        join cutter_governance.gate_catalogue c on c.gate = r.gate
        where r.run_id = p_run_id and r.sealed_at is not null order by c.ordinal desc limit 1), 'pending')
$$;

-- Notes the drift that a person would acknowledge now, where the statement was about another one.
create function cutter_governance.fn_drift_note(p_run_id text, p_survey jsonb) returns void
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
    update cutter_governance.run r
    set last_error = coalesce(r.last_error, '{}') || jsonb_build_object(
        'at', cutter_governance.fn_utc(clock_timestamp()), 'report',
        coalesce(cutter_governance.fn_drift(cutter_governance.fn_expected_pins(p_run_id), p_survey),
            jsonb_build_object('dimension', 'none', 'diff', '[]'::jsonb))
        || jsonb_build_object('fingerprint', cutter_governance.fn_digest(p_survey::text)))
    where r.run_id = p_run_id
$$;

-- The drift of a run that it has stopped, as it is now: what a person is shown and signs. It may have grown since the run
-- stopped, or be undone.
create function cutter_governance.fn_drift_look(p_run_id text) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run cutter_governance.run;
    v_survey jsonb;
begin
    select * into v_run from cutter_governance.run where run_id = p_run_id for update;
    if v_run.ended_at is not null or v_run.state is null or v_run.state not like 'stopped\_drift\_%' then
        return null;
    end if;
    v_survey := cutter_governance.fn_survey(p_run_id, coalesce(v_run.docprefix, ''));
    if cutter_governance.fn_digest(v_survey::text) is distinct from v_run.last_error -> 'report' ->> 'fingerprint' then
        perform cutter_governance.fn_drift_note(p_run_id, v_survey);
    end if;
    return (select last_error -> 'report' from cutter_governance.run where run_id = p_run_id);
end
$$;

-- What the policy has stopped a run for, and how far people are with it; null for a run that it has not stopped. `stop` is
-- this very stop. Without a known tier the highest asks; what people have stopped as well, takes a signature.
create function cutter_governance.fn_policy_stop(p_run_id text) returns jsonb
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

-- Records what somebody decides of a policy's stop without a signature: `p_account` is what they were known by, such as
-- a Slack user. Decided again, the first answer stands. A rejection cancels the run; an approval is counted.
create function cutter_governance.fn_unsigned_decide(
    p_run_id text, p_stop text, p_decision text, p_approver text, p_account text) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run cutter_governance.run;
    v_stop jsonb;
    mine cutter_governance.unsigned_decision;
begin
    perform from cutter_governance.stop_latch where run_id = p_run_id for update;
    select * into v_run from cutter_governance.run where run_id = p_run_id for update;
    v_stop := cutter_governance.fn_policy_stop(p_run_id);
    select * into mine from cutter_governance.unsigned_decision
    where stop = p_stop and (approver = p_approver or account = p_account) order by id limit 1;
    if mine.id is null then
        if v_stop ->> 'stop' is distinct from p_stop then
            return jsonb_build_object('status', 'refused', 'code', 'decided_already');
        end if;
        if not (v_stop -> 'unsigned')::boolean then
            return jsonb_build_object('status', 'refused', 'code', 'signature_needed');
        end if;
        if p_approver = v_run.starter then
            return jsonb_build_object('status', 'refused', 'code', 'approver_is_starter');
        end if;
        insert into cutter_governance.unsigned_decision (run_id, gate, stop, tier, decision, approver, account)
        values (p_run_id, v_stop ->> 'gate', p_stop, v_stop ->> 'tier', p_decision, p_approver, p_account)
        returning * into mine;
        perform cutter_governance.fn_audit(p_run_id, 'unsigned_decision', to_jsonb(mine) - 'id');
        if p_decision = 'reject' then
            perform cutter_governance.fn_stop_set(p_run_id, 'cancel', 'rejected by ' || p_approver, p_approver);
        end if;
    elsif (mine.approver, mine.account, mine.decision) <> (p_approver, p_account, p_decision) then
        return jsonb_build_object('status', 'refused', 'code', 'same_person');
    end if;
    return jsonb_build_object('status', 'recorded',
        'have', cutter_governance.fn_gate_approvers(p_run_id, mine.gate) -> mine.tier,
        'needed', cutter_governance.fn_gate_needs(mine.gate) -> mine.tier);
end
$$;

-- Resumes a stopped run. A latched stop, drift and the hard cap need an accepted signed statement, judged after the run
-- stopped and consumed here; but a policy's stop goes on by itself once enough people have approved. Acknowledging drift
-- lifts no stop: that takes a `resume` of its own.
create function cutter_governance.fn_run_resume(p_run_id text, p_statement_sha256 text default null) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run cutter_governance.run;
    latch cutter_governance.stop_latch;
    verdict cutter_governance.approval_verdict;
    v_stop jsonb;
    v_after jsonb;
    v_survey jsonb;
    v_needed text;
begin
    select * into latch from cutter_governance.stop_latch where run_id = p_run_id for update;
    select * into v_run from cutter_governance.run where run_id = p_run_id for update;
    if v_run.state is null or v_run.state not like 'stopped\_%' then
        return jsonb_build_object('status', 'not_stopped', 'state', v_run.state);
    end if;
    v_stop := cutter_governance.fn_policy_stop(p_run_id);
    if (latch.stopped or cutter_governance.fn_stop_is_signed(v_run.state))
        and not coalesce(p_statement_sha256 is null and not latch.stopped
            and (v_stop -> 'have')::integer >= (v_stop -> 'needed')::integer, false)
    then
        v_needed := case when v_run.state like 'stopped\_drift\_%' then 'acknowledge_drift' else 'resume' end;
        select * into verdict from cutter_governance.approval_verdict v
        where v.run_id = p_run_id and v.accepted and v.approval_sha256 = p_statement_sha256 and v.decision = v_needed;
        if not found or verdict.not_after <= clock_timestamp()
            or verdict.recorded_at <= greatest(v_run.state_at,
                case when v_needed = 'resume' and latch.stopped then latch.set_at end)
            or exists (select from cutter_governance.approval_revocation where approval_sha256 = p_statement_sha256)
            or exists (select from cutter_governance.order_consumption where statement_sha256 = p_statement_sha256)
        then
            return jsonb_build_object('status', 'refused', 'code', 'signed_statement_needed', 'decision', v_needed);
        end if;
        if v_needed = 'acknowledge_drift' then
            v_survey := cutter_governance.fn_survey(p_run_id, coalesce(v_run.docprefix, ''));
            if cutter_governance.fn_digest(v_survey::text) is distinct from verdict.statement ->> 'fingerprint' then
                perform cutter_governance.fn_drift_note(p_run_id, v_survey);
                return jsonb_build_object('status', 'refused', 'code', 'not_what_was_acknowledged', 'decision', v_needed);
            end if;
        end if;
        insert into cutter_governance.order_consumption (
            statement_sha256, run_id, decision, approver, fingerprint, stopped_state, stopped_at)
        values (verdict.approval_sha256, p_run_id, verdict.decision, verdict.approver, verdict.fingerprint, v_run.state,
            greatest(v_run.state_at, case when latch.stopped then latch.set_at end));
        v_after := cutter_governance.fn_policy_stop(p_run_id);
        if v_needed = 'resume' and (v_after -> 'have')::integer < (v_after -> 'needed')::integer then
            return v_after || jsonb_build_object('state', v_run.state, 'decision', v_needed)
                || case when v_after -> 'have' = v_stop -> 'have'
                    then jsonb_build_object('status', 'refused', 'code', 'approved_before')
                    else jsonb_build_object('status', 'more_needed', 'code', 'more_needed') end;
        end if;
        if v_needed = 'acknowledge_drift' then
            insert into cutter_governance.drift_acknowledgement (run_id, statement_sha256, after_pins, pin_seq)
            values (p_run_id, verdict.approval_sha256, v_survey, nextval('cutter_governance.pin_seq'));
        else
            update cutter_governance.stop_latch set stopped = false, kind = null where run_id = p_run_id;
        end if;
    end if;
    perform cutter_governance.fn_run_move(p_run_id, cutter_governance.fn_reached_state(p_run_id), 'resume', 'info',
        jsonb_build_object('statement_sha256', verdict.approval_sha256, 'approver', verdict.approver));
    return jsonb_build_object('status', 'resumed', 'state', cutter_governance.fn_reached_state(p_run_id));
end
$$;

-- The signed documents that let a stopped run go on, and what they stand against as of then: who writes judges them again,
-- since whoever has the reader's password can record a verdict. Epoch, gate, stop and times are this database's own,
-- whatever the verdict says.
create function cutter_governance.fn_run_orders(p_run_id text) returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select coalesce(jsonb_agg(jsonb_build_object('kb_id', v.kb_id, 'statement_sha256', o.statement_sha256,
        'decision', o.decision, 'consumed_at', o.consumed_at, 'stopped_state', o.stopped_state,
        'stopped_at', o.stopped_at,
        'policy_sha256', (select e.sha256 from cutter_governance.policy_epoch e where e.installed_at <= v.recorded_at
            order by e.number desc limit 1),
        'gate', case when exists (select from cutter_governance.gate_receipt r where r.run_id = p_run_id
                and r.gate = 'IG_cut_leg_a_execute' and r.sealed_at <= v.recorded_at)
            then 'SG_lifecycle_authz' else 'SG_cut_authz' end,
        -- fn_run_resume has held it against the survey
        'fingerprint', v.statement ->> 'fingerprint') order by o.consumed_at), '[]')
    from cutter_governance.order_consumption o
    join cutter_governance.approval_verdict v on v.run_id = o.run_id and v.accepted
        and v.approval_sha256 = o.statement_sha256
    where o.run_id = p_run_id and o.decision in ('resume', 'acknowledge_drift')
$$;

-- Since when what stops this run holds; null for one that goes on.
create function cutter_governance.fn_stopped_at(p_run_id text) returns timestamptz
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select greatest(r.state_at, case when l.stopped then l.set_at end)
    from cutter_governance.run r join cutter_governance.stop_latch l on l.run_id = r.run_id
    where r.run_id = p_run_id and r.state like 'stopped\_%'
$$;

-- When people last stopped, rejected or voided another run of the same document in the same batch: what was signed for the
-- batch before that is not what they want any more.
create function cutter_governance.fn_ended_by_people_at(p_run_id text) returns timestamptz
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select max(greatest(
        (select max(e.at) from cutter_governance.audit_event e where e.chain = other.run_id and e.kind = 'stop'),
        (select max(o.consumed_at) from cutter_governance.order_consumption o
         where o.run_id = other.run_id and o.decision in ('reject', 'void'))))
    from cutter_governance.run r
    join cutter_governance.run other on other.batch_id = r.batch_id and other.document_id = r.document_id
        and other.run_id <> r.run_id
    where r.run_id = p_run_id
$$;

create function cutter_governance.fn_revocation_record(
    p_run_id text, p_approval_sha256 text, p_revocation_sha256 text, p_kb_id text) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    verdict cutter_governance.approval_verdict;
begin
    select * into verdict from cutter_governance.approval_verdict
    where run_id = p_run_id and accepted and decision = 'revoke' and approval_sha256 = p_revocation_sha256
        and statement ->> 'approval_sha256' = p_approval_sha256;
    if not found then
        raise exception 'run %: no accepted revocation %', p_run_id, p_revocation_sha256 using errcode = 'CU006';
    end if;
    -- A signed approval may be taken back before anybody hands it over; one that was handed to another run may not.
    if (select count(*) > 0 and not bool_or(run_id = p_run_id) from cutter_governance.approval_verdict
        where approval_sha256 = p_approval_sha256)
    then
        return jsonb_build_object('status', 'revokes_nothing');
    end if;
    -- Each gate shares this row until COMMIT: a revocation comes before a gate opens or after it, never in between.
    perform from cutter_governance.stop_latch where run_id = p_run_id for update;
    if exists (select from cutter_governance.approval_consumption where approval_sha256 = p_approval_sha256) then
        return jsonb_build_object('status', 'consumed_already');
    end if;
    insert into cutter_governance.approval_revocation (approval_sha256, revocation_sha256, approver, kb_id)
    values (p_approval_sha256, p_revocation_sha256, verdict.approver, p_kb_id) on conflict do nothing;
    return jsonb_build_object('status', 'revoked');
end
$$;

create function cutter_governance.fn_void_open(p_run_id text, p_statement_sha256 text, p_policy jsonb default null)
returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run cutter_governance.run;
    verdict cutter_governance.approval_verdict;
    v_refusal text;
begin
    if session_user <> 'cutter_exec' then
        return jsonb_build_object('status', 'refused', 'code', 'wrong_role');
    end if;
    if current_setting('transaction_isolation') <> 'read committed' then
        return jsonb_build_object('status', 'refused', 'code', 'isolation');
    end if;
    perform from cutter_governance.stop_latch where run_id = p_run_id for share;
    select * into v_run from cutter_governance.run where run_id = p_run_id for update;
    if v_run.state like 'voided\_%' then
        return jsonb_build_object('status', 'voided_before', 'state', v_run.state);
    end if;
    if v_run.run_id is null or exists (
        select from cutter_governance.gate_receipt where run_id = p_run_id and gate = 'IG_lifecycle_enact_execute')
    then
        return jsonb_build_object('status', 'refused', 'code',
            case when v_run.run_id is null then 'unknown_run' else 'enacted_law_is_never_voided' end);
    end if;
    select * into verdict from cutter_governance.approval_verdict
    where run_id = p_run_id and accepted and decision = 'void' and approval_sha256 = p_statement_sha256;
    if not found or verdict.not_after <= clock_timestamp()
        or exists (select from cutter_governance.approval_revocation where approval_sha256 = p_statement_sha256)
        or exists (select from cutter_governance.order_consumption where statement_sha256 = p_statement_sha256)
    then
        return jsonb_build_object('status', 'refused', 'code', 'signed_statement_needed');
    end if;
    select case
        when decision is null then 'policy_not_decided'
        when decision ->> 'verdict' = 'allow' then null
        when decision ->> 'verdict' is distinct from 'needs_approval'
            or coalesce(decision ->> 'tier' not in ('low', 'medium', 'high'), true) then 'policy_denied'
        -- a void carries one signature; how many its tier asks for, the sovereign gate says that the run has before it
        when cutter_governance.fn_approvals_needed(case when exists (
                select from cutter_governance.gate_receipt
                where run_id = p_run_id and gate = 'IG_cut_leg_a_execute' and sealed_at is not null)
            then 'SG_lifecycle_authz' else 'SG_cut_authz' end, decision ->> 'tier') > 1
            then 'policy_approval_missing' end
    into v_refusal from (select (
        select d from jsonb_array_elements(p_policy -> 'decisions') as d
        where d ->> 'connector' = 'database' and d ->> 'operation' = 'withdraw_drafts') as decision) as decided;
    if v_refusal is not null then
        return jsonb_build_object('status', 'refused', 'code', v_refusal);
    end if;
    perform cutter_governance.fn_policy_note(p_policy);
    insert into cutter_governance.order_consumption (statement_sha256, run_id, decision, approver, fingerprint)
    values (verdict.approval_sha256, p_run_id, 'void', verdict.approver, verdict.fingerprint);
    insert into cutter_governance.void_record (run_id, statement_sha256, reason, policy)
    values (p_run_id, verdict.approval_sha256, coalesce(verdict.statement ->> 'reason', 'void'), p_policy - 'text');
    return jsonb_build_object('status', 'opened');
end
$$;

create function public.fn_iu_withdraw_drafts(p_run_id text) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, public, pg_temp
as $$
declare
    opened cutter_governance.void_record;
    v_docprefix text;
    v_count integer := 0;
begin
    select * into opened from cutter_governance.void_record v
    where v.run_id = p_run_id and v.opened_xid = pg_current_xact_id() and v.closed_at is null;
    if not found then
        return jsonb_build_object('status', 'refused_no_void_open');
    end if;
    select r.docprefix into v_docprefix from cutter_governance.run r where r.run_id = p_run_id;
    if exists (select from cutter_governance.gate_receipt g
               where g.run_id = p_run_id and g.gate = 'IG_cut_leg_a_execute' and g.sealed_at is not null)
    then
        perform set_config('app.canonical_writer', 'fn_iu_withdraw_drafts', true);
        update public.information_unit u
        set deleted_at = clock_timestamp(), withdrawn_reason = 'void ' || p_run_id, updated_at = clock_timestamp(),
            updated_by = session_user
        where u.canonical_address >= v_docprefix || '/' collate "C" and u.canonical_address < v_docprefix || '0' collate "C"
            and u.deleted_at is null and u.lifecycle_status = 'draft';
        get diagnostics v_count = row_count;
        perform set_config('app.canonical_writer', '', true);
    end if;
    return jsonb_build_object('status', 'withdrawn', 'count', v_count);
end
$$;

-- Ends the run, when none of its drafts stands any more; how many were withdrawn is counted here.
create function cutter_governance.fn_void_close(p_run_id text, p_state text) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_docprefix text;
    v_drafts integer := 0;
    v_withdrawn integer := 0;
begin
    -- `voided_cancelled` is what ends without a signature: a signed void is never mistaken for it
    if p_state !~ '^voided_[a-z0-9]+(_[a-z0-9]+)*$' or length(p_state) > 47 or p_state = 'voided_cancelled' then
        raise exception 'run %: a signed void does not end in %', p_run_id, left(p_state, 100) using errcode = 'CU006';
    end if;
    if exists (select from cutter_governance.gate_receipt
               where run_id = p_run_id and gate = 'IG_cut_leg_a_execute' and sealed_at is not null)
    then
        select docprefix into v_docprefix from cutter_governance.run where run_id = p_run_id;
        select count(*) filter (where deleted_at is null and lifecycle_status = 'draft'), count(*) filter (where withdrawn_reason = 'void ' || p_run_id)
        into v_drafts, v_withdrawn
        from public.information_unit u
        where u.canonical_address >= v_docprefix || '/' collate "C" and u.canonical_address < v_docprefix || '0' collate "C";
    end if;
    if v_drafts > 0 then
        raise exception 'run %: % drafts were not withdrawn', p_run_id, v_drafts using errcode = 'CU010';
    end if;
    update cutter_governance.void_record set closed_at = clock_timestamp(), withdrawn = v_withdrawn
    where run_id = p_run_id and opened_xid = pg_current_xact_id() and closed_at is null;
    if not found then
        raise exception 'run %: no void is open here', p_run_id using errcode = 'CU006';
    end if;
    update cutter_governance.approval_request set status = 'canceled' where run_id = p_run_id and status = 'requested';
    perform cutter_governance.fn_run_move(p_run_id, p_state, 'void', 'warning', jsonb_build_object('withdrawn', v_withdrawn));
    return jsonb_build_object('status', 'voided', 'state', p_state, 'withdrawn', v_withdrawn);
end
$$;

create function cutter_governance.fn_check_void() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if (select closed_at from cutter_governance.void_record where run_id = new.run_id) is null then
        raise exception 'void of %: not closed', new.run_id using errcode = 'CU009';
    end if;
    return null;
end
$$;
create constraint trigger trg_void_at_commit after insert on cutter_governance.void_record
    deferrable initially deferred for each row execute function cutter_governance.fn_check_void();

create function cutter_governance.fn_source_register(
    p_document jsonb, p_bytes bytea, p_version jsonb, p_by text) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    document public.source_document;
    version public.source_version;
    v_sha text := encode(sha256(p_bytes), 'hex');
begin
    insert into public.source_document (
        source_document_ref, doc_code, tenant, address_docprefix, source_url, source_family, authority_class,
        display_vi, display_en, forbidden_ids, registered_by)
    values (
        p_document ->> 'document_id', p_document ->> 'document_id', coalesce(p_document ->> 'tenant', 'default'),
        p_document ->> 'docprefix', p_document ->> 'source_uri', coalesce(p_document ->> 'family', 'law'),
        coalesce(p_document ->> 'authority', 'internal'), p_document ->> 'display_vi', p_document ->> 'display_en',
        coalesce((select array_agg(value) from jsonb_array_elements_text(p_document -> 'forbidden_ids')), '{}'), p_by)
    on conflict do nothing;
    select * into document from public.source_document where doc_code = p_document ->> 'document_id' for update;
    if not found then
        return jsonb_build_object('status', 'conflict', 'field', 'docprefix of another document:', 'registered', (
            select doc_code from public.source_document where address_docprefix = p_document ->> 'docprefix'));
    end if;
    if document.address_docprefix <> p_document ->> 'docprefix' then
        return jsonb_build_object('status', 'conflict', 'field', 'docprefix', 'registered', document.address_docprefix);
    end if;
    select * into version from public.source_version v
    where v.source_document_ref = document.source_document_ref and v.content_checksum = v_sha
        and v.profile_sha256 = p_version ->> 'profile_sha256' and v.marking_options = p_version -> 'options';
    if found then
        return jsonb_build_object('status', 'registered_before', 'source_version_id', version.id,
            'version_seq', version.version_seq, 'sha256', v_sha);
    end if;
    insert into public.source_snapshot (sha256, bytes) values (v_sha, p_bytes) on conflict do nothing;
    insert into public.source_version (
        document_version_id, source_document_ref, version_seq, content_checksum, size_bytes, source_format, provenance,
        profile_id, profile_sha256, profile_body, marking_options, registered_by)
    select document.doc_code || '@' || next.seq, document.source_document_ref, next.seq, v_sha, length(p_bytes),
        coalesce(p_version ->> 'format', 'markdown'), coalesce(p_version -> 'provenance', '{}'),
        p_version ->> 'profile_id', p_version ->> 'profile_sha256', p_version ->> 'profile_body', p_version -> 'options', p_by
    from (select coalesce(max(version_seq), 0) + 1 as seq from public.source_version
          where source_document_ref = document.source_document_ref) as next
    returning * into version;
    return jsonb_build_object('status', 'registered', 'source_version_id', version.id, 'version_seq', version.version_seq,
        'sha256', v_sha);
end
$$;

-- What became of an action before it is done again: null, or its recorded response. Another payload is a conflict.
create function cutter_governance.fn_action_find(
    p_run_id text, p_connector text, p_operation text, p_target text, p_payload_sha256 text) returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    found_there cutter_governance.action_receipt;
begin
    select * into found_there from cutter_governance.action_receipt a
    where a.idempotency_key = p_connector || ':' || p_operation || ':' || p_target
        and a.tenant = coalesce((select r.tenant from cutter_governance.run r where r.run_id = p_run_id), 'default');
    if found_there.payload_sha256 <> p_payload_sha256 then
        raise exception '% was done with fields of sha256 %, now % is asked for: nothing was overwritten',
            found_there.idempotency_key, found_there.payload_sha256, p_payload_sha256 using errcode = 'CU011';
    end if;
    return found_there.response_metadata;
end
$$;

create function cutter_governance.fn_action_note(
    p_run_id text, p_gate text, p_connector text, p_operation text, p_target text, p_payload_sha256 text,
    p_request jsonb, p_response jsonb, p_reversible boolean, p_how_to_reverse text) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_key text := p_connector || ':' || p_operation || ':' || p_target;
    v_tenant text := coalesce((select tenant from cutter_governance.run where run_id = p_run_id), 'default');
    existing cutter_governance.action_receipt;
begin
    insert into cutter_governance.action_receipt (
        tenant, idempotency_key, run_id, gate, connector, operation, target, payload_sha256, request_metadata,
        response_metadata, status, reversible, how_to_reverse)
    values (v_tenant, v_key, p_run_id, p_gate, p_connector, p_operation, p_target, p_payload_sha256, p_request, p_response,
        'succeeded', p_reversible, p_how_to_reverse)
    on conflict (tenant, idempotency_key) do nothing;
    select * into existing from cutter_governance.action_receipt where tenant = v_tenant and idempotency_key = v_key;
    if existing.payload_sha256 <> p_payload_sha256 then
        -- Raised and not answered: who sends it with other statements and reads no answer may not miss it.
        raise exception '% was done with fields of sha256 %, now % is asked for: nothing was overwritten',
            v_key, existing.payload_sha256, p_payload_sha256 using errcode = 'CU011';
    end if;
    return existing.response_metadata;
end
$$;

-- The receipt of an action that has no row in an outbox: each is its own role's, since receipts are never taken back.
create function cutter_governance.fn_action_record(
    p_run_id text, p_gate text, p_connector text, p_operation text, p_target text, p_payload_sha256 text,
    p_request jsonb, p_response jsonb, p_reversible boolean, p_how_to_reverse text) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_role text := case p_connector when 'backup' then 'cutter_backup' when 'kb' then 'cutter_read'
        when 'evidence' then 'cutter_read' end;
begin
    if v_role is distinct from session_user then
        raise exception 'an action of % is recorded by %, not by %', p_connector, coalesce(v_role, 'nobody'), session_user
            using errcode = 'CU006';
    end if;
    return cutter_governance.fn_action_note(p_run_id, p_gate, p_connector, p_operation, p_target, p_payload_sha256,
        p_request, p_response, p_reversible, p_how_to_reverse);
end
$$;

-- Everything that a run's projections are made of (state.json, transitions.jsonl), in one answer.
create function cutter_governance.fn_run_sidecar(p_run_id text) returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select jsonb_build_object(
        'run', to_jsonb(r),
        'latch', (select to_jsonb(l) from cutter_governance.stop_latch l where l.run_id = r.run_id),
        'receipts', (select coalesce(jsonb_agg(cutter_governance.fn_receipt_view(g) order by c.ordinal), '[]')
                     from cutter_governance.gate_receipt g join cutter_governance.gate_catalogue c on c.gate = g.gate
                     where g.run_id = r.run_id and g.sealed_at is not null),
        'attempts', (select coalesce(jsonb_agg(to_jsonb(a) order by a.started_at), '[]')
                     from cutter_governance.gate_attempt a where a.run_id = r.run_id),
        'requests', (select coalesce(jsonb_agg(to_jsonb(q) - 'after_pins' order by q.requested_at), '[]')
                     from cutter_governance.approval_request q where q.run_id = r.run_id),
        'verdicts', (select coalesce(jsonb_agg(to_jsonb(v) order by v.id), '[]')
                     from cutter_governance.approval_verdict v where v.run_id = r.run_id),
        'consumptions', (select coalesce(jsonb_agg(to_jsonb(n) order by n.consumed_at), '[]')
                         from cutter_governance.approval_consumption n where n.run_id = r.run_id),
        'documents', (select coalesce(jsonb_agg(jsonb_build_object('kb_id', o.kb_id, 'kind', o.kind, 'subject', o.subject,
                          'sha256', o.sha256) order by o.id), '[]') from cutter_governance.outbox o where o.run_id = r.run_id),
        'transitions', (select coalesce(jsonb_agg(e.body order by e.seq), '[]') from cutter_governance.audit_event e
                        where e.chain = r.run_id and e.kind = 'transition'),
        'approval_moves', (select coalesce(jsonb_agg(e.body order by e.seq), '[]') from cutter_governance.audit_event e
                           where e.chain = r.run_id and e.kind = 'approval_transition'),
        'audit_head', (select h.hash from cutter_governance.audit_head h where h.chain = r.run_id),
        'global_audit_head', (select h.hash from cutter_governance.audit_head h where h.chain = 'global'))
    from cutter_governance.run r where r.run_id = p_run_id
$$;

create function cutter_governance.fn_outbox_waiting(p_run_id text) returns setof cutter_governance.outbox
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select * from cutter_governance.outbox where run_id = p_run_id and done_at is null order by id
$$;

-- Marks a document as put, with its action receipt. What a gate's report holds is known outside alone: the gate's own role
-- says it, or cutter_read, which every run needs to go on anyway.
create function cutter_governance.fn_outbox_done(p_kb_id text, p_sha256 text, p_size integer, p_policy jsonb) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    entry cutter_governance.outbox;
begin
    select * into entry from cutter_governance.outbox where kb_id = p_kb_id for update;
    if not found then
        raise exception 'no outbox row for %', p_kb_id using errcode = 'CU006';
    end if;
    if entry.body is null and session_user <> 'cutter_read' and not exists (
        select from cutter_governance.gate_catalogue where gate = entry.subject and role = session_user)
    then
        raise exception '% is not for % to put', p_kb_id, session_user using errcode = 'CU006';
    end if;
    if entry.body is not null and cutter_governance.fn_digest(entry.body) <> p_sha256 then
        raise exception '% holds a body of sha256 %, now % was put: nothing was overwritten',
            p_kb_id, cutter_governance.fn_digest(entry.body), p_sha256 using errcode = 'CU011';
    end if;
    perform cutter_governance.fn_action_note(entry.run_id, entry.subject, 'kb', 'put', p_kb_id, p_sha256,
        jsonb_build_object('kind', entry.kind, 'policy', p_policy), jsonb_build_object('size_bytes', p_size), false,
        'write-once; a later document says more');
    update cutter_governance.outbox set done_at = clock_timestamp(), sha256 = p_sha256 where id = entry.id and done_at is null;
    return cutter_governance.fn_run_sidecar(entry.run_id);
end
$$;

create function cutter_governance.fn_stop_route_record(p_run_id text, p_kb_id text, p_body text) returns void
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
    insert into cutter_governance.outbox (run_id, kind, subject, kb_id, body)
    values (p_run_id, 'stop_route', 'SG_failure_escalation', p_kb_id, p_body) on conflict (kb_id) do nothing
$$;

-- Ends a run that writes nothing: a rehearsal, or a version that is law already.
create function cutter_governance.fn_run_outcome(p_run_id text, p_outcome text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run cutter_governance.run;
begin
    select * into v_run from cutter_governance.run where run_id = p_run_id for update;
    if v_run.ended_at is not null or p_outcome not in ('rehearsed', 'skipped') or (v_run.mode <> 'dryrun'
        and (p_outcome = 'rehearsed' or exists (
            select from cutter_governance.gate_receipt where run_id = p_run_id and gate = 'IG_cut_leg_a_execute')))
    then
        return;
    end if;
    update cutter_governance.run set outcome = p_outcome, ended_at = clock_timestamp() where run_id = p_run_id;
    perform cutter_governance.fn_audit(p_run_id, 'ended', jsonb_build_object('outcome', p_outcome, 'state', v_run.state));
    perform cutter_governance.fn_audit_anchor(p_run_id, 'run_ended');
end
$$;

create function cutter_governance.fn_policy_install(
    p_number integer, p_deployment_id uuid, p_body text, p_thresholds jsonb, p_tiers jsonb, p_lifecycle_group text)
returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    newest cutter_governance.policy_epoch;
    v_sha text := cutter_governance.fn_digest(p_body);
begin
    -- shared by each gate that consumes approvals: behind this, nothing is written that the epoch before approved
    perform pg_advisory_xact_lock(hashtext('cutter.policy_epoch'));
    select * into newest from cutter_governance.policy_epoch order by number desc limit 1;
    if newest.sha256 = v_sha then
        return v_sha;
    end if;
    if p_number <> coalesce(newest.number, 0) + 1 or (newest.number is not null and newest.deployment_id <> p_deployment_id) then
        raise exception 'policy epoch %: the newest is % of deployment %', p_number, newest.number, newest.deployment_id
            using errcode = 'CU006';
    end if;
    insert into cutter_governance.policy_epoch (number, deployment_id, sha256, body, thresholds, tiers, lifecycle_group)
    values (p_number, p_deployment_id, v_sha, p_body, p_thresholds, p_tiers, p_lifecycle_group);
    return v_sha;
end
$$;
