-- Records a judge's verdict, and the bytes of an accepted statement. Returns `recorded`, `duplicate` or `not_waiting`.
create or replace function cutter_governance.fn_verdict_record(
    p_run_id text, p_gate text, p_kb_id text, p_verdict jsonb, p_body bytea default null, p_signature bytea default null)
returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_problem text;
    v_run cutter_governance.run;
    v_id bigint;
begin
    if session_user <> 'cutter_read' then
        raise exception 'verdicts are recorded by cutter_read, not by %', session_user using errcode = 'CU006';
    end if;
    v_problem := coalesce(cutter_governance.fn_json_problem(p_verdict, 262144), cutter_governance.fn_keys_problem(p_verdict,
            '{"accepted": "boolean", "code": "string", "reason": "string", "approval_sha256": "digest", "decision": "line",
              "approver": "line", "fingerprint": "line", "challenge": "line", "writer_digest": "digest",
              "policy_sha256": "digest", "statement": "object"}'), case
        when p_verdict -> 'accepted' is null or p_verdict ->> 'code' is null or p_verdict ->> 'reason' is null
            then 'lacks accepted, code or reason'
        when not coalesce(pg_input_is_valid(p_verdict ->> 'review_decision_id', 'uuid'), true)
            then 'has a review_decision_id that is none'
        when not coalesce(pg_input_is_valid(p_verdict ->> 'not_after', 'timestamptz'), true) then 'has a not_after that is no time' end);
    -- the run before its chain, as a gate has them: a verdict that comes while one writes waits, and holds nothing
    select * into v_run from cutter_governance.run where run_id = p_run_id for update;
    if v_problem is null and (p_verdict ->> 'accepted')::boolean then
        v_problem := cutter_governance.fn_accepted_problem(v_run, p_gate, p_verdict, p_body, p_signature);
    end if;
    if v_problem is not null then
        raise exception 'a verdict was refused: it %', v_problem using errcode = 'CU021';
    end if;
    if (p_verdict ->> 'accepted')::boolean
        and not cutter_governance.fn_run_waits_for(v_run, p_gate, p_verdict -> 'statement')
        and not exists (select from cutter_governance.approval_verdict v where v.run_id = p_run_id and v.gate = p_gate
                        and v.approval_sha256 = p_verdict ->> 'approval_sha256' and v.accepted)
    then
        return jsonb_build_object('status', 'not_waiting');
    end if;
    insert into cutter_governance.approval_verdict (
        run_id, gate, kb_id, approval_sha256, accepted, code, reason, decision, approver, fingerprint, challenge,
        writer_digest, review_decision_id, not_after, policy_sha256, statement)
    values (p_run_id, p_gate, p_kb_id, p_verdict ->> 'approval_sha256', (p_verdict ->> 'accepted')::boolean,
        p_verdict ->> 'code', left(p_verdict ->> 'reason', 500), p_verdict ->> 'decision', p_verdict ->> 'approver',
        p_verdict ->> 'fingerprint', p_verdict ->> 'challenge', p_verdict ->> 'writer_digest',
        (p_verdict ->> 'review_decision_id')::uuid, (p_verdict ->> 'not_after')::timestamptz,
        p_verdict ->> 'policy_sha256', p_verdict -> 'statement')
    on conflict (run_id, gate, approval_sha256) where accepted do nothing
    returning id into v_id;
    if v_id is null then
        return jsonb_build_object('status', 'duplicate');
    end if;
    if (p_verdict ->> 'accepted')::boolean then
        insert into cutter_governance.signed_statement (verdict_id, body, signature) values (v_id, p_body, p_signature);
    end if;
    perform cutter_governance.fn_audit(p_run_id, 'verdict', jsonb_build_object('gate', p_gate, 'kb_id', p_kb_id,
        'accepted', p_verdict -> 'accepted', 'code', p_verdict -> 'code', 'approval_sha256', p_verdict -> 'approval_sha256',
        'signature_sha256', encode(sha256(p_signature), 'hex'), 'fingerprint', p_verdict -> 'fingerprint'));
    return jsonb_build_object('status', 'recorded');
end
$$;
