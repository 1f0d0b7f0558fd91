-- A gate's transaction (spec "A gate's transaction"): attempt, open, close, refuse; and the checks at COMMIT.
-- Refusals are values; nothing can be committed without a sealed receipt, so a caller who ignores one gains nothing.

create function cutter_governance.fn_append_only() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    raise exception '% is append-only: % refused', tg_table_name, tg_op using errcode = 'CU005';
end
$$;

create function cutter_governance.fn_receipt_immutable() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if tg_op in ('DELETE', 'TRUNCATE') or old.sealed_at is not null then
        raise exception 'gate_receipt is immutable once sealed: % refused', tg_op using errcode = 'CU005';
    end if;
    return new;
end
$$;

do $$
declare
    name text;
begin
    foreach name in array array['audit_event', 'approval_consumption', 'approval_verdict', 'approval_revocation',
        'order_consumption', 'unsigned_decision', 'drift_acknowledgement', 'message_refusal', 'decision_backlog_history', 'manifest_unit_block',
        'cut_change_set', 'cut_change_set_affected_row', 'dot_pair_signature', 'verify_result', 'action_receipt',
        'policy_epoch', 'governing_policy', 'prepared_decision', 'definition_snapshot', 'definition_cache', 'schema_baseline', 'gate_catalogue']
    loop
        execute format('create trigger trg_%1$s_append_only before update or delete on cutter_governance.%1$I
            for each row execute function cutter_governance.fn_append_only()', name);
        execute format('create trigger trg_%1$s_no_truncate before truncate on cutter_governance.%1$I
            for each statement execute function cutter_governance.fn_append_only()', name);
        execute format('alter table cutter_governance.%1$I enable always trigger trg_%1$s_append_only', name);
        execute format('alter table cutter_governance.%1$I enable always trigger trg_%1$s_no_truncate', name);
    end loop;
    foreach name in array array['source_version', 'source_snapshot', 'iu_lifecycle_log', 'vocabulary']
    loop
        execute format('create trigger trg_%1$s_append_only before update or delete on public.%1$I
            for each row execute function cutter_governance.fn_append_only()', name);
        execute format('create trigger trg_%1$s_no_truncate before truncate on public.%1$I
            for each statement execute function cutter_governance.fn_append_only()', name);
        execute format('alter table public.%1$I enable always trigger trg_%1$s_append_only', name);
        execute format('alter table public.%1$I enable always trigger trg_%1$s_no_truncate', name);
    end loop;
end
$$;
create trigger trg_gate_receipt_immutable before update or delete on cutter_governance.gate_receipt
    for each row execute function cutter_governance.fn_receipt_immutable();
create trigger trg_gate_receipt_no_truncate before truncate on cutter_governance.gate_receipt
    for each statement execute function cutter_governance.fn_receipt_immutable();
alter table cutter_governance.gate_receipt enable always trigger trg_gate_receipt_immutable;
alter table cutter_governance.gate_receipt enable always trigger trg_gate_receipt_no_truncate;

create function cutter_governance.fn_utc(p_at timestamptz) returns text
language sql stable parallel safe
set search_path = pg_catalog, pg_temp
return to_char(p_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"');

-- One event at the end of a chain. Lock order: a run's chain, then the global one.
create function cutter_governance.fn_audit_append(p_chain text, p_run_id text, p_kind text, p_event jsonb) returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    head cutter_governance.audit_head;
    v_at timestamptz := clock_timestamp();
    v_body text;
    v_hash text;
begin
    insert into cutter_governance.audit_head (chain, seq, hash)
    values (p_chain, 0, cutter_governance.fn_digest(p_chain)) on conflict do nothing;
    select * into head from cutter_governance.audit_head where chain = p_chain for update;
    v_body := (p_event || jsonb_build_object('run_id', p_run_id, 'kind', p_kind, 'seq', head.seq + 1,
        'at', cutter_governance.fn_utc(v_at)))::text;
    v_hash := cutter_governance.fn_digest(head.hash || v_body);
    insert into cutter_governance.audit_event (chain, seq, run_id, kind, body, prev_hash, hash, at)
    values (p_chain, head.seq + 1, p_run_id, p_kind, v_body, head.hash, v_hash, v_at);
    update cutter_governance.audit_head set seq = head.seq + 1, hash = v_hash where chain = p_chain;
    return v_hash;
end
$$;

-- One event on the chain of a run (lock order: chain head last).
create function cutter_governance.fn_audit(p_run_id text, p_kind text, p_event jsonb) returns text
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
    select cutter_governance.fn_audit_append(p_run_id, p_run_id, p_kind, p_event)
$$;

-- The head of a chain, written on the global one when its run or batch begins and when it ends, so that a whole chain
-- cannot be lost or replaced unseen.
create function cutter_governance.fn_audit_anchor(p_run_id text, p_kind text) returns text
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
    select cutter_governance.fn_audit_append('global', p_run_id, p_kind,
        jsonb_build_object('run_head', h.hash, 'run_seq', h.seq))
    from cutter_governance.audit_head h where h.chain = p_run_id
$$;

-- Whether only a signed document leads out of a state. The stop latch asks for one too, whatever the state.
create function cutter_governance.fn_stop_is_signed(p_state text) returns boolean
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
return p_state like 'stopped\_%' and p_state not like 'stopped\_unavailable\_%'
    and p_state not like 'stopped\_soft\_cap\_%'
    and p_state not in ('stopped_expired', 'stopped_signal_flood', 'stopped_terminated');

-- Moves a run and records the transition with seed 004's fields; every state change goes through here. A stop that only
-- a signature resumes is not turned into one that anybody resumes.
create function cutter_governance.fn_run_move(
    p_run_id text, p_to text, p_trigger text, p_severity text default 'info', p_metadata jsonb default '{}')
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_from text;
    v_ended boolean := p_to in ('closeout_reported') or p_to like 'failed\_%' or p_to like 'voided\_%';
begin
    select state into v_from from cutter_governance.run where run_id = p_run_id for update;
    if v_from = p_to or (cutter_governance.fn_stop_is_signed(v_from) and p_to like 'stopped\_%'
        and not cutter_governance.fn_stop_is_signed(p_to))
    then
        return;
    end if;
    update cutter_governance.run
    set state = p_to, state_at = clock_timestamp(), ended_at = case when v_ended then clock_timestamp() end
    where run_id = p_run_id;
    perform cutter_governance.fn_audit(p_run_id, 'transition', jsonb_build_object(
        'timestamp', cutter_governance.fn_utc(clock_timestamp()), 'event_type', 'document_run_state_transition',
        'severity', case when p_to like 'failed\_%' then 'error' else p_severity end, 'entity_id', p_run_id,
        'from_state', v_from, 'to_state', p_to, 'trigger', p_trigger, 'metadata', p_metadata));
    if v_ended then
        perform cutter_governance.fn_audit_anchor(p_run_id, 'run_ended');
    end if;
end
$$;

-- Makes a run, or finds it again by its id or its first execution. A document has one live run at a time: while one is
-- open, a second is not made, and the answer names the open one; rehearsals write nothing and are not counted. A tenant
-- at one of its caps gets none either: the answer says which, and when to ask again. Nobody calls it directly.
create function cutter_governance.fn_run_make(
    p_run_id text, p_document_id text, p_mode text, p_starter text, p_caps jsonb, p_first_execution_id text,
    p_batch_id text, p_amends text)
returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    existing cutter_governance.run;
    active cutter_governance.run;
    v_tenant text := coalesce((select tenant from public.source_document where doc_code = p_document_id), 'default');
    turn jsonb;
begin
    for v_try in 1 .. 8 loop
        select * into existing from cutter_governance.run
        where run_id = p_run_id or (p_first_execution_id is not null and first_execution_id = p_first_execution_id);
        exit when found;
        select * into active from cutter_governance.run
        where document_id = p_document_id and mode = 'live' and ended_at is null
            and run_id <> p_run_id and coalesce(first_execution_id <> p_first_execution_id, true);
        if found and p_mode = 'live' then
            return jsonb_build_object('status', 'busy', 'run_id', active.run_id,
                'document_id', active.document_id, 'mode', active.mode, 'state', active.state);
        end if;
        turn := cutter_governance.fn_tenant_turn(v_tenant, case when p_batch_id is null then 'document' else 'batch' end);
        if turn ->> 'room' = '0' then
            -- it may be this very run that has just taken the last place
            select * into existing from cutter_governance.run
            where run_id = p_run_id or (p_first_execution_id is not null and first_execution_id = p_first_execution_id);
            exit when found;
            return turn || jsonb_build_object('status', 'waits', 'run_id', p_run_id, 'document_id', p_document_id);
        end if;
        -- what another registration has made meanwhile is found, or named, on the next look
        insert into cutter_governance.run (
            run_id, document_id, mode, starter, caps, first_execution_id, batch_id, amends, tenant)
        values (p_run_id, p_document_id, p_mode, p_starter, p_caps, p_first_execution_id, p_batch_id, p_amends, v_tenant)
        on conflict do nothing;
        if found then
            insert into cutter_governance.stop_latch (run_id) values (p_run_id);
            perform cutter_governance.fn_audit(p_run_id, 'registered', jsonb_build_object(
                'document_id', p_document_id, 'mode', p_mode, 'starter', p_starter, 'by', session_user));
            perform cutter_governance.fn_audit_anchor(p_run_id, 'run_registered');
        end if;
    end loop;
    if existing.run_id is null then
        raise exception 'run %: others registered and ended all the while', p_run_id using errcode = '40001';
    end if;
    if existing.document_id <> p_document_id or existing.mode <> p_mode then
        return jsonb_build_object('status', 'conflict', 'run_id', existing.run_id,
            'document_id', existing.document_id, 'mode', existing.mode);
    end if;
    return jsonb_build_object('status', 'registered', 'run_id', existing.run_id, 'document_id', existing.document_id,
        'mode', existing.mode, 'state', existing.state, 'caps', existing.caps);
end
$$;

-- The same for whoever starts a run. A batch's runs are made by the batch alone (fn_batch_item_start), and found here: what
-- was signed for a batch is for nobody who merely names it.
create function cutter_governance.fn_run_register(
    p_run_id text, p_document_id text, p_mode text, p_starter text, p_caps jsonb default '{}',
    p_first_execution_id text default null, p_batch_id text default null, p_amends text default null)
returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if p_batch_id is not null and not exists (
        select from cutter_governance.run where run_id = p_run_id and batch_id = p_batch_id)
    then
        return jsonb_build_object('status', 'not_in_batch', 'run_id', p_run_id, 'document_id', p_document_id,
            'batch_id', p_batch_id);
    end if;
    return cutter_governance.fn_run_make(
        p_run_id, p_document_id, p_mode, p_starter, p_caps, p_first_execution_id, p_batch_id, p_amends);
end
$$;

-- Pins of all sealed gates, merged in order, with what identifies the run.
create function cutter_governance.fn_run_pins(p_run_id text) returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    pins jsonb := '{}';
    one jsonb;
begin
    for one in
        select r.result -> 'pins' from cutter_governance.gate_receipt r
        join cutter_governance.gate_catalogue c on c.gate = r.gate
        where r.run_id = p_run_id and r.sealed_at is not null and not r.rehearsal
        order by c.ordinal
    loop
        pins := pins || coalesce(one, '{}');
    end loop;
    return pins;
end
$$;

create function cutter_governance.fn_receipt_view(p_receipt cutter_governance.gate_receipt) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select jsonb_build_object('run_id', p_receipt.run_id, 'gate', p_receipt.gate, 'attempt', p_receipt.attempt,
        'payload_sha256', p_receipt.payload_sha256, 'result', p_receipt.result, 'prev_hash', p_receipt.prev_hash,
        'receipt_hash', p_receipt.receipt_hash, 'before_pins', p_receipt.before_pins, 'after_pins', p_receipt.after_pins,
        'opened_at', cutter_governance.fn_utc(p_receipt.opened_at), 'sealed_at', cutter_governance.fn_utc(p_receipt.sealed_at),
        'role', p_receipt.role, 'policy', p_receipt.policy)
$$;

-- What a receipt's hash is taken over: everything in its row that a later gate relies on.
create function cutter_governance.fn_receipt_body(p_receipt cutter_governance.gate_receipt) returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select jsonb_build_object('version', 'receipt/1', 'run_id', p_receipt.run_id, 'gate', p_receipt.gate,
        'attempt', p_receipt.attempt, 'role', p_receipt.role, 'payload_sha256', p_receipt.payload_sha256,
        'before_pins', p_receipt.before_pins, 'after_pins', p_receipt.after_pins, 'policy', p_receipt.policy,
        'result', p_receipt.result)::text
$$;

-- The drift of sealed receipts that are not what was sealed, or do not follow each other; null when all is well.
create function cutter_governance.fn_receipts_drift(p_run_id text) returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select case when count(*) > 0 then jsonb_build_object('dimension', 'receipts', 'expected', 'as sealed',
        'observed', 'altered', 'fingerprint', cutter_governance.fn_digest(string_agg(gate || problem, ',' order by ordinal)),
        'diff', jsonb_agg(gate || ': ' || problem order by ordinal)) end
    from (
        select r.gate, c.ordinal, case
            when c.ordinal <> row_number() over chain then 'the receipt before it is missing'
            when r.prev_hash is distinct from coalesce(lag(r.receipt_hash) over chain, cutter_governance.fn_digest(p_run_id))
                then 'it does not follow the receipt before it'
            when r.sealed_body is distinct from cutter_governance.fn_receipt_body(r) then 'the row is not what was sealed'
            when r.receipt_hash is distinct from cutter_governance.fn_digest(r.prev_hash || r.sealed_body)
                then 'the hash is not that of the body' end as problem
        from cutter_governance.gate_receipt r
        join cutter_governance.gate_catalogue c on c.gate = r.gate
        where r.run_id = p_run_id and r.sealed_at is not null
        window chain as (order by c.ordinal)) as judged
    where problem is not null
$$;

create function cutter_governance.fn_prev_hash(p_run_id text, p_gate text) returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select case when c.ordinal = 1 then cutter_governance.fn_digest(p_run_id) else (
        select r.receipt_hash from cutter_governance.gate_receipt r
        join cutter_governance.gate_catalogue b on b.gate = r.gate
        where r.run_id = p_run_id and b.ordinal = c.ordinal - 1 and r.sealed_at is not null) end
    from cutter_governance.gate_catalogue c where c.gate = p_gate
$$;

-- How many people a sovereign gate asks for: by its own tier, and by a higher one where that is given (two at least for
-- a high one).
create function cutter_governance.fn_approvals_needed(p_sovereign text, p_tier text) returns integer
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select greatest(1, case p_tier when 'high' then 2 end, (
        select greatest((e.thresholds ->> p_sovereign)::integer, (e.tiers -> p_sovereign ->> p_tier)::integer)
        from cutter_governance.policy_epoch e order by e.number desc limit 1))
$$;

-- The sovereign gate that a gate goes on (its own or the last one before it), or for the first gates the one ahead.
create function cutter_governance.fn_gate_sovereign(p_gate text) returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select s.sovereign from cutter_governance.gate_catalogue g, cutter_governance.gate_catalogue s
    where g.gate = p_gate and s.sovereign is not null
    order by s.ordinal > g.ordinal, abs(s.ordinal - g.ordinal) limit 1
$$;

-- How many people each tier asks for at a gate that is no sovereign one.
create function cutter_governance.fn_gate_needs(p_gate text) returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select jsonb_object_agg(tier,
        cutter_governance.fn_approvals_needed(cutter_governance.fn_gate_sovereign(p_gate), tier))
    from unnest(array['low', 'medium', 'high']) as tier
$$;

-- Whether what a tier asks for may be decided without a signature: in a rehearsal, when the signed epoch says that signing
-- is optional. A live run takes signatures whatever the epoch says, and the sovereign gates never ask this.
create function cutter_governance.fn_unsigned_may(p_mode text, p_tier text) returns boolean
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select coalesce((select e.body ~ '(?n)^signing: optional$' from cutter_governance.policy_epoch e
                     order by e.number desc limit 1), false)
        and coalesce(p_mode = 'dryrun' and p_tier in ('low', 'medium', 'high'), false)
$$;

-- How many different people have approved what a gate does, as each tier counts them: those whose approval its sovereign
-- gate has consumed, those who signed that the run may go on when the policy had stopped it here, and those who said so
-- without a signature where the tier lets them. One person by two keys, as after a rotation, is one.
create function cutter_governance.fn_gate_approvers(p_run_id text, p_gate text) returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    with signed as (
        select n.fingerprint, n.approver from cutter_governance.gate_catalogue g
        join cutter_governance.gate_catalogue s on s.sovereign is not null and s.ordinal <= g.ordinal
            and s.sovereign = cutter_governance.fn_gate_sovereign(g.gate)
        join cutter_governance.approval_consumption n on n.run_id = p_run_id and n.gate = s.sovereign
        where g.gate = p_gate
        union
        select o.fingerprint, o.approver from cutter_governance.gate_catalogue g
        join cutter_governance.order_consumption o on o.run_id = p_run_id and o.decision = 'resume'
        join cutter_governance.approval_verdict v on v.run_id = o.run_id and v.accepted
            and v.approval_sha256 = o.statement_sha256 and v.statement ->> 'stopped_state' = 'stopped_policy_' || g.phase
        where g.gate = p_gate),
    unsigned as (
        select least(count(distinct u.approver), count(distinct u.account)) as people
        from cutter_governance.unsigned_decision u
        where u.run_id = p_run_id and u.gate = p_gate and u.decision = 'approve'
            and u.approver not in (select approver from signed))
    select jsonb_object_agg(tier, (select least(count(distinct fingerprint), count(distinct approver)) from signed)
        + case when cutter_governance.fn_unsigned_may(r.mode, tier) then (select people from unsigned) else 0 end)
    from unnest(array['low', 'medium', 'high']) as tier, cutter_governance.run r where r.run_id = p_run_id
$$;

-- Keeps the text of a policy that a worker decided by; answers what is kept beside each decision.
create function cutter_governance.fn_policy_note(p_policy jsonb) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if coalesce(p_policy ->> 'text', '') <> '' then
        insert into cutter_governance.governing_policy (sha256, body)
        values (cutter_governance.fn_digest(p_policy ->> 'text'), p_policy ->> 'text') on conflict do nothing;
    end if;
    return p_policy - 'text';
end
$$;

-- Why the decisions that a worker recorded do not open a gate, or null. What it has decided is its own word; that it has
-- decided, that nothing was denied, and that as many people as a tier asks for have approved, is seen here.
create function cutter_governance.fn_policy_refusal(
    p_run_id text, p_step cutter_governance.gate_catalogue, p_policy jsonb) returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select case
        when p_step.writes is not null and not exists (
            select from jsonb_array_elements(p_policy -> 'decisions') as d
            where d ->> 'connector' = 'database' and d ->> 'operation' = p_step.writes)
            then 'policy_not_decided'
        when exists (
            select from jsonb_array_elements(p_policy -> 'decisions') as d
            where d ->> 'verdict' is null or d ->> 'verdict' not in ('allow', 'needs_approval')
                or (d ->> 'verdict' = 'needs_approval') <> coalesce(d ->> 'tier' in ('low', 'medium', 'high'), false))
            or (p_policy is not null and coalesce(p_policy ->> 'sha256', '') !~ '^[0-9a-f]{64}$')
            then 'policy_denied'
        when p_step.sovereign is null and exists (
            select from jsonb_array_elements(p_policy -> 'decisions') as d
            where d ->> 'verdict' = 'needs_approval'
                and (cutter_governance.fn_gate_approvers(p_run_id, p_step.gate) ->> (d ->> 'tier'))::integer
                    < (cutter_governance.fn_gate_needs(p_step.gate) ->> (d ->> 'tier'))::integer)
            then 'policy_approval_missing' end
$$;

-- Registers an attempt, or answers with the sealed receipt. The attempt is the visible retry and the fence in one.
create function cutter_governance.fn_gate_attempt(p_run_id text, p_gate text, p_worker text, p_lease_seconds integer)
returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run cutter_governance.run;
    receipt cutter_governance.gate_receipt;
    v_n integer;
    answer jsonb;
begin
    select * into v_run from cutter_governance.run where run_id = p_run_id;
    if not found then
        return jsonb_build_object('status', 'unknown_run');
    end if;
    answer := jsonb_build_object('run', to_jsonb(v_run), 'pins', cutter_governance.fn_run_pins(p_run_id),
        'prev_hash', cutter_governance.fn_prev_hash(p_run_id, p_gate),
        'now', cutter_governance.fn_utc(clock_timestamp()),
        'approvers', cutter_governance.fn_gate_approvers(p_run_id, p_gate),
        'needed', cutter_governance.fn_gate_needs(p_gate));
    select * into receipt from cutter_governance.gate_receipt r
    where r.run_id = p_run_id and r.gate = p_gate and r.sealed_at is not null;
    if found then
        return answer || jsonb_build_object('status', 'sealed', 'receipt', cutter_governance.fn_receipt_view(receipt),
            'outbox', (select jsonb_agg(jsonb_build_object('id', id, 'kb_id', kb_id)) from cutter_governance.outbox
                       where run_id = p_run_id and subject = p_gate and done_at is null));
    end if;
    if v_run.ended_at is not null then
        return answer || jsonb_build_object('status', 'ended');
    end if;
    if not exists (select from cutter_governance.gate_catalogue where gate = p_gate and role = session_user) then
        return answer || jsonb_build_object('status', 'wrong_role');
    end if;
    loop
        select coalesce(max(n), 0) + 1 into v_n from cutter_governance.gate_attempt
        where run_id = p_run_id and gate = p_gate;
        insert into cutter_governance.gate_attempt (run_id, gate, n, lease_owner, lease_expires_at)
        values (p_run_id, p_gate, v_n, p_worker, clock_timestamp() + make_interval(secs => p_lease_seconds))
        on conflict do nothing;
        exit when found;
    end loop;
    return answer || jsonb_build_object('status', 'registered', 'attempt', v_n);
end
$$;

-- The pins that the next survey must equal: those of the newest sealed receipt, request or acknowledgement.
create function cutter_governance.fn_expected_pins(p_run_id text) returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select coalesce(
        (select after_pins from (
            select after_pins, pin_seq from cutter_governance.gate_receipt
            where run_id = p_run_id and sealed_at is not null
            union all select after_pins, pin_seq from cutter_governance.approval_request where run_id = p_run_id
            union all select after_pins, pin_seq from cutter_governance.drift_acknowledgement where run_id = p_run_id
        ) as all_pins order by pin_seq desc limit 1),
        (select pins from cutter_governance.schema_baseline order by id desc limit 1),
        jsonb_build_object('functions', 'no baseline: type `cutter migrate`'))
$$;

-- Consumes the approvals of a sovereign gate inside the transaction that they authorise; null when all is well.
create function cutter_governance.fn_approvals_consume(
    p_run cutter_governance.run, p_sovereign text, p_approvals jsonb, p_policy jsonb default null) returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    request cutter_governance.approval_request;
    epoch cutter_governance.policy_epoch;
    verdict cutter_governance.approval_verdict;
    offered jsonb;
    v_slot integer := 0;
    v_needed integer;
    v_now timestamptz;
    v_pins jsonb := cutter_governance.fn_run_pins(p_run.run_id);
begin
    perform pg_advisory_xact_lock_shared(hashtext('cutter.policy_epoch'));
    select * into epoch from cutter_governance.policy_epoch order by number desc limit 1;
    if not found then
        return 'no_policy_epoch';
    end if;
    -- locked, so that a rejection comes before or after, never in between
    select * into request from cutter_governance.approval_request
    where run_id = p_run.run_id and gate = p_sovereign and status = 'requested' for update;
    if not found then
        return 'no_open_request';
    end if;
    if request.request_sha256 is null then
        return 'request_without_document';
    end if;
    if request.expires_at <= clock_timestamp() then
        return 'request_expired';
    end if;
    -- as many as either worker's policy asks for: the one that asked people, and the one that is about to write
    select max(cutter_governance.fn_approvals_needed(p_sovereign, asked.tier)) into v_needed from (
        select request.tier union all
        select d ->> 'tier' from jsonb_array_elements(p_policy -> 'decisions') as d) as asked (tier);
    if request.tuple ->> 'writer_digest' is distinct from v_pins ->> 'writer_digest' then
        return 'request_of_other_digest';
    end if;
    for offered in select value from jsonb_array_elements(p_approvals) order by value ->> 'approval_sha256'
    loop
        v_slot := v_slot + 1;
        if v_slot > v_needed then
            return 'more_approvals_than_slots';
        end if;
        select * into verdict from cutter_governance.approval_verdict v
        where v.run_id = p_run.run_id and v.gate = p_sovereign and v.accepted
            and v.approval_sha256 = offered ->> 'approval_sha256';
        if not found then
            return 'no_accepted_verdict';
        end if;
        if verdict.decision <> 'approve' then
            return 'not_an_approval';
        end if;
        if (case when verdict.statement ->> 'binding' = 'tuple'
                then not cutter_governance.fn_tuple_covers(verdict.statement, p_run, request)
                else verdict.challenge is distinct from request.challenge
                    or verdict.challenge is distinct from offered ->> 'challenge' end)
            or verdict.writer_digest is distinct from request.tuple ->> 'writer_digest'
            or verdict.review_decision_id is distinct from request.review_decision_id
        then
            return 'approval_of_other_tuple';
        end if;
        if verdict.policy_sha256 <> epoch.sha256 then
            return 'approval_of_other_epoch';
        end if;
        -- The moment that is judged is the one that is recorded: no approval is ever consumed after its end.
        v_now := clock_timestamp();
        if verdict.not_after <= v_now then
            return 'approval_expired';
        end if;
        if exists (select from cutter_governance.approval_revocation r where r.approval_sha256 = verdict.approval_sha256) then
            return 'approval_revoked';
        end if;
        if exists (select from cutter_governance.approval_consumption c
                   where c.approval_sha256 = verdict.approval_sha256
                       or (c.run_id = p_run.run_id and c.gate = p_sovereign and (c.slot = v_slot or c.approver = verdict.approver
                           or c.fingerprint = verdict.fingerprint))
                       or (request.review_decision_id is not null and c.review_decision_id = request.review_decision_id
                           and c.slot = v_slot))
        then
            return 'approval_consumed_before';
        end if;
        insert into cutter_governance.approval_consumption (
            approval_sha256, run_id, gate, slot, request_id, approver, fingerprint, document_id, source_version_id,
            writer_digest, candidate_count, challenge, review_decision_id, policy_sha256, consumed_at)
        values (
            verdict.approval_sha256, p_run.run_id, p_sovereign, v_slot, request.request_id, verdict.approver,
            verdict.fingerprint, p_run.document_id, p_run.source_version_id, request.tuple ->> 'writer_digest',
            (request.tuple ->> 'candidate_count')::integer, request.challenge, request.review_decision_id, epoch.sha256,
            v_now);
    end loop;
    if v_slot < v_needed then
        return 'threshold_not_met';
    end if;
    update cutter_governance.approval_request set status = 'approved' where request_id = request.request_id;
    perform cutter_governance.fn_audit(p_run.run_id, 'approvals_consumed', jsonb_build_object('gate', p_sovereign,
        'approvals', (select jsonb_agg(value ->> 'approval_sha256' order by value ->> 'approval_sha256')
                      from jsonb_array_elements(p_approvals))));
    return null;
end
$$;

-- Opens a gate: role, predecessor, fence, mode, stop latch, approval, claim, survey. Returns a status; everything but
-- 'opened' must be rolled back by the caller, and COMMIT refuses it anyway.
create function cutter_governance.fn_gate_open(
    p_run_id text, p_gate text, p_attempt integer, p_payload_sha256 text, p_approvals jsonb default '[]',
    p_rehearse boolean default false, p_policy jsonb default null) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    step cutter_governance.gate_catalogue;
    v_run cutter_governance.run;
    latch cutter_governance.stop_latch;
    receipt cutter_governance.gate_receipt;
    v_prev text;
    v_docprefix text;
    v_refusal text;
    v_survey jsonb;
    v_drift jsonb;
begin
    select * into step from cutter_governance.gate_catalogue where gate = p_gate;
    if not found or step.role <> session_user then
        return jsonb_build_object('status', 'refused', 'code', 'wrong_role');
    end if;
    if current_setting('transaction_isolation') <> 'read committed' then
        -- an older snapshot would not see a revocation, a newer attempt or a stop
        return jsonb_build_object('status', 'refused', 'code', 'isolation');
    end if;
    -- one leg A and one enactment at a time, across all runs and workers; an enactment is short enough to wait for
    if step.ordinal = 6 and not pg_try_advisory_xact_lock(hashtext('cutter.write_lane')) then
        return jsonb_build_object('status', 'lane_busy');
    elsif step.ordinal = 10 then
        begin
            perform pg_advisory_xact_lock(hashtext('cutter.enact_lane'));
        exception when lock_not_available then
            return jsonb_build_object('status', 'lane_busy');
        end;
    end if;
    select * into latch from cutter_governance.stop_latch where run_id = p_run_id for share;
    if not found then
        return jsonb_build_object('status', 'refused', 'code', 'unknown_run');
    end if;
    insert into cutter_governance.gate_receipt (
        run_id, gate, attempt, role, rehearsal, payload_sha256, prev_hash, before_pins, policy)
    values (p_run_id, p_gate, p_attempt, session_user, p_rehearse, p_payload_sha256, '', '{}', p_policy - 'text')
    on conflict (run_id, gate) do nothing;
    if not found then
        select * into receipt from cutter_governance.gate_receipt where run_id = p_run_id and gate = p_gate;
        if receipt.sealed_at is null then
            return jsonb_build_object('status', 'refused', 'code', 'open_already');
        end if;
        return jsonb_build_object('receipt', cutter_governance.fn_receipt_view(receipt), 'status',
            case when receipt.payload_sha256 = p_payload_sha256 then 'sealed' else 'conflict' end);
    end if;
    select * into v_run from cutter_governance.run where run_id = p_run_id;
    if latch.stopped then
        return jsonb_build_object('status', 'stopped', 'kind', latch.kind, 'reason', latch.reason);
    end if;
    if v_run.state like 'stopped\_%' then
        return jsonb_build_object('status', 'stopped', 'kind', substr(v_run.state, 9),
            'reason', 'the run is ' || v_run.state || ' and was not resumed');
    end if;
    v_prev := cutter_governance.fn_prev_hash(p_run_id, p_gate);
    v_refusal := case
        when v_run.ended_at is not null then 'run_ended'
        when v_prev is null then 'predecessor_not_sealed'
        when p_attempt is distinct from (select max(n) from cutter_governance.gate_attempt
                                         where run_id = p_run_id and gate = p_gate) then 'stale_attempt'
        when p_rehearse and (v_run.mode <> 'dryrun' or step.ordinal <> 6) then 'mode_forbids_rehearsal'
        when not p_rehearse and v_run.mode = 'dryrun' and step.ordinal > 5 then 'mode_forbids_write'
        else cutter_governance.fn_policy_refusal(p_run_id, step, p_policy) end;
    if v_refusal is not null then
        return jsonb_build_object('status', 'refused', 'code', v_refusal);
    end if;
    v_drift := cutter_governance.fn_receipts_drift(p_run_id);
    if v_drift is not null then
        return jsonb_build_object('status', 'drift', 'drift', v_drift);
    end if;
    if step.sovereign is not null and not p_rehearse then
        v_refusal := cutter_governance.fn_approvals_consume(v_run, step.sovereign, p_approvals, p_policy);
        if v_refusal is not null then
            return jsonb_build_object('status', 'approval_refused', 'code', v_refusal);
        end if;
    end if;
    v_docprefix := coalesce(v_run.docprefix,
        (select address_docprefix from public.source_document where doc_code = v_run.document_id), '');
    v_survey := cutter_governance.fn_survey(p_run_id, v_docprefix);
    v_drift := cutter_governance.fn_drift(cutter_governance.fn_expected_pins(p_run_id), v_survey);
    if v_drift is not null then
        return jsonb_build_object('status', 'drift', 'drift', v_drift);
    end if;
    if step.effect = 'units_enacted' then
        v_survey := v_survey || jsonb_build_object('row_content_enacted',
            cutter_governance.fn_rows_fingerprint(v_docprefix, 'enacted') -> 'fingerprint');
    end if;
    update cutter_governance.gate_receipt set prev_hash = v_prev, before_pins = v_survey
    where run_id = p_run_id and gate = p_gate;
    perform cutter_governance.fn_policy_note(p_policy);
    return jsonb_build_object('status', 'opened', 'before_pins', v_survey, 'docprefix', v_docprefix,
        'now', cutter_governance.fn_utc(clock_timestamp()));
end
$$;

-- What the second survey must be, given the first and the gate's declared effect; dimensions left out may differ.
create function cutter_governance.fn_effect_pins(p_effect text, p_before jsonb, p_result jsonb) returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select case p_effect
        when 'none' then p_before
        when 'units_created' then (p_before - 'row_content') || jsonb_build_object(
            'row_count', (p_before ->> 'row_count')::integer + (p_result -> 'pins' ->> 'units_created')::integer)
        when 'decision_recorded' then (p_before - 'review_decision') || jsonb_build_object('review_decision',
            jsonb_build_object('count', (p_before -> 'review_decision' ->> 'count')::integer + 1))
        when 'units_enacted' then (p_before - 'row_content_enacted')
            || jsonb_build_object('row_content', p_before -> 'row_content_enacted')
        else jsonb_build_object('functions', 'unknown effect') end
$$;

-- Pins of the first gate that are not the registered source's, or pins that an earlier gate has pinned otherwise.
create function cutter_governance.fn_pins_refusal(p_run cutter_governance.run, p_ordinal integer, p_pins jsonb) returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select case
        when p_pins is null or jsonb_typeof(p_pins) <> 'object' then 'result_without_pins'
        when p_ordinal = 1 and not exists (
            select from public.source_document d
            join public.source_version v on v.source_document_ref = d.source_document_ref
            where d.doc_code = p_run.document_id and d.address_docprefix = p_pins ->> 'docprefix'
                and d.id::text = p_pins ->> 'source_document_id' and v.id::text = p_pins ->> 'source_version_id')
            then 'pins_not_registered'
        when exists (
            select from jsonb_each(cutter_governance.fn_run_pins(p_run.run_id)) as pinned
            where p_pins ? pinned.key and p_pins -> pinned.key <> pinned.value) then 'pins_contradict' end
$$;

-- The fingerprint that a person acknowledges when the second survey drifts: of the database as it will be once this
-- transaction is rolled back.
create function cutter_governance.fn_survey_at_rest(p_before jsonb, p_after jsonb) returns jsonb
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
return (p_before - 'row_content_enacted') || (p_after - array['row_count', 'row_content', 'review_decision']);

create function cutter_governance.fn_gate_close(p_run_id text, p_gate text, p_attempt integer, p_result jsonb,
    p_kb_id text default null) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    step cutter_governance.gate_catalogue;
    receipt cutter_governance.gate_receipt;
    v_run cutter_governance.run;
    v_survey jsonb;
    v_drift jsonb;
    v_refusal text;
begin
    select * into step from cutter_governance.gate_catalogue where gate = p_gate;
    select * into receipt from cutter_governance.gate_receipt where run_id = p_run_id and gate = p_gate;
    -- a claim whose opening was refused has no previous hash
    if receipt.opened_xid is distinct from pg_current_xact_id() or receipt.sealed_at is not null or receipt.prev_hash = ''
    then
        return jsonb_build_object('status', 'refused', 'code', 'not_open_here');
    end if;
    if p_attempt is distinct from receipt.attempt or p_attempt is distinct from (
        select max(n) from cutter_governance.gate_attempt where run_id = p_run_id and gate = p_gate)
    then
        return jsonb_build_object('status', 'refused', 'code', 'stale_attempt');
    end if;
    select * into v_run from cutter_governance.run where run_id = p_run_id for update;
    v_refusal := case when v_run.ended_at is not null then 'run_ended' else
        cutter_governance.fn_pins_refusal(v_run, step.ordinal, p_result -> 'pins') end;
    if v_refusal is not null then
        return jsonb_build_object('status', 'refused', 'code', v_refusal);
    end if;
    if step.ordinal = 1 then
        update cutter_governance.run r
        set docprefix = p_result -> 'pins' ->> 'docprefix', source_document_id = (p_result -> 'pins' ->> 'source_document_id')::uuid,
            source_version_id = (p_result -> 'pins' ->> 'source_version_id')::uuid
        where r.run_id = p_run_id
        returning * into v_run;
    end if;
    v_drift := cutter_governance.fn_receipts_drift(p_run_id);
    if v_drift is not null then
        return jsonb_build_object('status', 'drift', 'drift', v_drift);
    end if;
    v_survey := cutter_governance.fn_survey(p_run_id, coalesce(v_run.docprefix, ''));
    v_drift := cutter_governance.fn_drift(
        cutter_governance.fn_effect_pins(step.effect, receipt.before_pins, p_result), v_survey);
    if v_drift is not null then
        return jsonb_build_object('status', 'drift', 'drift', v_drift || jsonb_build_object('fingerprint',
            cutter_governance.fn_digest(cutter_governance.fn_survey_at_rest(receipt.before_pins, v_survey)::text)));
    end if;
    receipt.result := p_result;
    receipt.after_pins := v_survey;
    receipt.sealed_body := cutter_governance.fn_receipt_body(receipt);
    update cutter_governance.gate_receipt
    set result = p_result, after_pins = v_survey, sealed_at = clock_timestamp(), sealed_body = receipt.sealed_body,
        pin_seq = nextval('cutter_governance.pin_seq'),
        receipt_hash = cutter_governance.fn_digest(receipt.prev_hash || receipt.sealed_body)
    where run_id = p_run_id and gate = p_gate
    returning * into receipt;
    update cutter_governance.gate_attempt set finished_at = clock_timestamp(), outcome = 'passed'
    where run_id = p_run_id and gate = p_gate and n = p_attempt;
    if p_kb_id is not null then
        insert into cutter_governance.outbox (run_id, kind, subject, kb_id) values (p_run_id, 'gate_report', p_gate, p_kb_id);
    end if;
    if not receipt.rehearsal then
        perform cutter_governance.fn_run_move(p_run_id, step.to_state, p_gate, 'info', jsonb_build_object(
            'receipt_hash', receipt.receipt_hash, 'attempt', p_attempt));
    end if;
    return jsonb_build_object('status', 'sealed', 'receipt', cutter_governance.fn_receipt_view(receipt));
end
$$;

-- Records what became of an attempt that did not pass, in a transaction of its own; moves the run when p_state is given.
create function cutter_governance.fn_gate_refuse(
    p_run_id text, p_gate text, p_attempt integer, p_outcome text, p_reason text, p_report jsonb default null,
    p_state text default null, p_retry_seconds double precision default null) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_policy jsonb;
    v_report jsonb := p_report #- '{policy,text}';
begin
    if not exists (select from cutter_governance.gate_catalogue where gate = p_gate and role = session_user) then
        raise exception '% may not refuse %', session_user, p_gate using errcode = 'CU006';
    end if;
    v_policy := cutter_governance.fn_policy_note(p_report -> 'policy');
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
        -- a gate that was asked for out of its order says nothing about the run
        or cutter_governance.fn_prev_hash(p_run_id, p_gate) is null
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

-- At COMMIT, for each written row: its gate was opened in this very transaction.
create function cutter_governance.fn_check_gate_of_row() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if not exists (select from cutter_governance.gate_receipt r
                   where r.opened_xid = pg_current_xact_id() and r.gate = any (tg_argv))
        and not ('VOID' = any (tg_argv) and exists (select from cutter_governance.void_record v
                                                    where v.opened_xid = pg_current_xact_id()))
    then
        raise exception '% on %: none of % was opened in this transaction', tg_op, tg_table_name, array_to_string(tg_argv, ', ')
            using errcode = 'CU007';
    end if;
    return null;
end
$$;

create constraint trigger trg_zz_iu_insert_gate after insert on public.information_unit deferrable initially deferred
    for each row execute function cutter_governance.fn_check_gate_of_row('IG_cut_leg_a_execute');
create constraint trigger trg_zz_iu_update_gate after update on public.information_unit deferrable initially deferred
    for each row execute function cutter_governance.fn_check_gate_of_row('IG_lifecycle_enact_execute', 'VOID');
create constraint trigger trg_zz_uv_insert_gate after insert on public.unit_version deferrable initially deferred
    for each row execute function cutter_governance.fn_check_gate_of_row('IG_cut_leg_a_execute');
create constraint trigger trg_zz_uv_update_gate after update on public.unit_version deferrable initially deferred
    for each row execute function cutter_governance.fn_check_gate_of_row('IG_lifecycle_enact_execute');
create constraint trigger trg_zz_log_gate after insert on public.iu_lifecycle_log deferrable initially deferred
    for each row execute function cutter_governance.fn_check_gate_of_row('IG_lifecycle_enact_execute');
alter table public.information_unit enable always trigger trg_zz_iu_insert_gate;
alter table public.information_unit enable always trigger trg_zz_iu_update_gate;
alter table public.unit_version enable always trigger trg_zz_uv_insert_gate;
alter table public.unit_version enable always trigger trg_zz_uv_update_gate;

-- A governance row is written while its gate stands open and unsealed in this transaction ...
create function cutter_governance.fn_governance_guard() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform from cutter_governance.gate_receipt r
    where r.opened_xid = pg_current_xact_id() and r.sealed_at is null and r.prev_hash <> '' and r.gate = any (tg_argv);
    if not found then
        raise exception '% on %: none of % stands open in this transaction', tg_op, tg_table_name,
            array_to_string(tg_argv, ', ') using errcode = 'CU007';
    end if;
    return new;
end
$$;

-- ... and at COMMIT it belongs to that gate's own run (a signature goes in before what it signs).
create function cutter_governance.fn_check_run_of_row() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run text;
begin
    case tg_table_name
        when 'decision_backlog_history' then
            select e.run_id into v_run from cutter_governance.decision_backlog_entry e where e.entry_id = new.entry_id;
        when 'manifest_unit_block' then
            select e.run_id into v_run from cutter_governance.manifest_envelope e where e.envelope_id = new.envelope_id;
        when 'cut_change_set_affected_row', 'verify_result' then
            select c.run_id into v_run from cutter_governance.cut_change_set c where c.change_set_id = new.change_set_id;
        when 'dot_pair_signature' then
            select c.run_id into v_run from cutter_governance.cut_change_set c
            left join cutter_governance.verify_result v on v.change_set_id = c.change_set_id
                and v.verify_result_id = new.cross_reference_verify_result_id
            where c.change_set_id = new.cross_reference_change_set_id or v.verify_result_id is not null;
        else
            v_run := new.run_id;
    end case;
    if not exists (select from cutter_governance.gate_receipt r
                   where r.opened_xid = pg_current_xact_id() and r.run_id = v_run and r.gate = any (tg_argv))
    then
        raise exception '% on %: none of % of its run was opened in this transaction', tg_op, tg_table_name,
            array_to_string(tg_argv, ', ') using errcode = 'CU007';
    end if;
    return null;
end
$$;

do $$
declare
    name text;
    gates text;
begin
    for name, gates in values
        ('decision_backlog_entry', '''IG_leg_b_record'''), ('decision_backlog_history', '''IG_leg_b_record'''),
        ('manifest_envelope', '''IG_leg_b_record'''), ('manifest_unit_block', '''IG_leg_b_record'''),
        ('cut_change_set', '''IG_leg_b_record'''), ('cut_change_set_affected_row', '''IG_leg_b_record'''),
        ('verify_result', '''IG_write_verify'''), ('dot_pair_signature', '''IG_leg_b_record'', ''IG_write_verify''')
    loop
        execute format('create trigger trg_aa_%1$s_guard before insert or update on cutter_governance.%1$I
            for each row execute function cutter_governance.fn_governance_guard(%2$s)', name, gates);
        execute format('create constraint trigger trg_zz_%1$s_gate after insert or update on cutter_governance.%1$I
            deferrable initially deferred for each row
            execute function cutter_governance.fn_check_run_of_row(%2$s)', name, gates);
    end loop;
end
$$;
create trigger trg_aa_review_decision_guard before insert on cutter_governance.review_decision
    for each row when (new.type = 'cut') execute function cutter_governance.fn_governance_guard('IG_leg_b_record');
create constraint trigger trg_zz_review_decision_gate after insert on cutter_governance.review_decision
    deferrable initially deferred for each row when (new.type = 'cut')
    execute function cutter_governance.fn_check_run_of_row('IG_leg_b_record');

-- A signature's kind is tied to who writes it; a CHECK would stop a restore.
create function cutter_governance.fn_signature_kind() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if not ((new.signature_kind = 'executor' and session_user = 'cutter_exec')
            or (new.signature_kind = 'verifier' and session_user = 'cutter_verify'))
    then
        raise exception 'a % signature is not for % to write', new.signature_kind, session_user using errcode = 'CU008';
    end if;
    return new;
end
$$;
create trigger trg_dot_pair_signature_kind before insert on cutter_governance.dot_pair_signature
    for each row execute function cutter_governance.fn_signature_kind();

-- A cut decision is leg B's; a lifecycle decision is made by fn_request_open alone, which runs as the owner.
create function cutter_governance.fn_review_decision_writer() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    if new.type = 'lifecycle_enactment' and current_user <> 'cutter_owner' then
        raise exception 'a lifecycle decision is made with its request, not by %', current_user using errcode = 'CU008';
    end if;
    return new;
end
$$;
create trigger trg_review_decision_writer before insert on cutter_governance.review_decision
    for each row execute function cutter_governance.fn_review_decision_writer();
create trigger trg_review_decision_append_only before update or delete on cutter_governance.review_decision
    for each row execute function cutter_governance.fn_append_only();
alter table cutter_governance.review_decision enable always trigger trg_review_decision_append_only;

-- Why leg B of a run is not whole, or null: one change set as approved and signed, one block and one affected row for
-- each approved unit, each naming the stored version.
create function cutter_governance.fn_leg_b_problem(p_run cutter_governance.run) returns text
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    approved cutter_governance.approval_consumption;
    change_set cutter_governance.cut_change_set;
    v_blocks integer;
    v_affected integer;
begin
    select c.* into approved from cutter_governance.approval_consumption c
    join cutter_governance.approval_request q on q.request_id = c.request_id
    where c.run_id = p_run.run_id and c.gate = 'SG_cut_authz' order by c.slot limit 1;
    select s.* into change_set from cutter_governance.cut_change_set s
    join cutter_governance.approval_request q on q.request_id = approved.request_id
    join cutter_governance.dot_pair_signature g on g.signature_id = s.executor_signature_id
        and g.cross_reference_change_set_id = s.change_set_id
    join cutter_governance.manifest_envelope e on e.envelope_id = s.manifest_id and e.run_id = s.run_id
    join cutter_governance.review_decision d on d.review_decision_id = s.review_decision_id and d.run_id = s.run_id
        and d.type = 'cut'
    where s.run_id = p_run.run_id and s.manifest_version = approved.writer_digest
        and s.change_set_id::text = q.tuple ->> 'change_set_id'
        and s.manifest_digest = q.tuple ->> 'manifest_digest' and s.region_sha = q.tuple ->> 'region_sha';
    if not found then
        return 'no change set as approved and signed';
    end if;
    select count(*) into v_blocks from cutter_governance.manifest_unit_block b
    join public.information_unit u on u.id = b.target_unit_id and u.canonical_address = b.proposed_canonical_address
    join public.unit_version v on v.id = u.version_anchor_ref and v.content_hash = b.span_sha256
    where b.envelope_id = change_set.manifest_id and u.deleted_at is null
        and starts_with(u.canonical_address, p_run.docprefix || '/');
    select count(*) into v_affected from cutter_governance.cut_change_set_affected_row a
    join public.information_unit u on u.id = a.unit_id and u.version_anchor_ref = a.unit_version_id
    join public.unit_version v on v.id = a.unit_version_id and v.content_hash = a.content_hash
    where a.change_set_id = change_set.change_set_id and u.deleted_at is null
        and starts_with(u.canonical_address, p_run.docprefix || '/');
    if v_blocks <> approved.candidate_count or v_affected <> approved.candidate_count then
        return format('%s blocks and %s affected rows for %s units', v_blocks, v_affected, approved.candidate_count);
    end if;
    return null;
end
$$;

-- Why the verifier's record of a run is not whole, or null.
create function cutter_governance.fn_verify_problem(p_run cutter_governance.run) returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select case when not exists (
        select from cutter_governance.verify_result v
        join cutter_governance.cut_change_set c on c.change_set_id = v.change_set_id
        join cutter_governance.dot_pair_signature g on g.signature_id = v.verifier_signature_id
            and g.cross_reference_verify_result_id = v.verify_result_id
        where c.run_id = p_run.run_id and v.verdict = 'pass' and v.manifest_version = c.manifest_version
            and v.manifest_id = c.manifest_id and v.review_decision_id = c.review_decision_id
            and v.executor_signature_id = c.executor_signature_id
            and v.executor_tool_revision = c.executor_tool_revision
            and v.verifier_tool_revision = c.verifier_tool_revision)
        then 'no passing, signed verify_result for its change set' end
$$;

-- Why the rows under a run's prefix are not what was approved in this very transaction, or null.
create function cutter_governance.fn_approved_rows_problem(p_run cutter_governance.run, p_gate text) returns text
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    approved cutter_governance.approval_consumption;
    v_enacting boolean := p_gate = 'IG_lifecycle_enact_execute';
    v_rows integer;
    v_enacted integer;
    v_logged integer;
begin
    select c.* into approved from cutter_governance.approval_consumption c
    join cutter_governance.gate_catalogue g on g.sovereign = c.gate
    where c.run_id = p_run.run_id and g.gate = p_gate and c.consumed_xid = pg_current_xact_id()
    order by c.slot limit 1;
    if not found then
        return 'no approval was consumed in this transaction';
    end if;
    if cutter_governance.fn_writer_digest(p_run.docprefix) is distinct from approved.writer_digest then
        return 'the rows do not digest to what was approved';
    end if;
    select count(*), count(*) filter (where u.lifecycle_status = 'enacted') into v_rows, v_enacted
    from public.information_unit u
    where u.canonical_address >= p_run.docprefix || '/' collate "C" and u.canonical_address < p_run.docprefix || '0' collate "C"
        and u.deleted_at is null;
    if v_rows <> approved.candidate_count or v_enacted <> (case when v_enacting then v_rows else 0 end) then
        return format('%s rows, %s enacted, %s approved', v_rows, v_enacted, approved.candidate_count);
    end if;
    if v_enacting then
        select count(*) into v_logged from public.iu_lifecycle_log l
        join cutter_governance.cut_change_set c on c.change_set_id = l.change_set_id
        where c.run_id = p_run.run_id and l.to_status = 'enacted' and l.review_decision_id = approved.review_decision_id;
        if v_logged <> v_rows then
            return format('%s units enacted, %s in the lifecycle log', v_rows, v_logged);
        end if;
    end if;
    return null;
end
$$;

-- At COMMIT, once a receipt: it is sealed, it is no rehearsal, and what its gate had to write is there, as approved.
create function cutter_governance.fn_check_receipt() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    receipt cutter_governance.gate_receipt;
    v_run cutter_governance.run;
    v_problem text;
begin
    select * into receipt from cutter_governance.gate_receipt where run_id = new.run_id and gate = new.gate;
    if receipt.sealed_at is null then
        raise exception '% of %: not sealed', new.gate, new.run_id using errcode = 'CU009';
    end if;
    if receipt.rehearsal then
        raise exception '% of %: a rehearsal may not be committed', new.gate, new.run_id using errcode = 'CU009';
    end if;
    if receipt.prev_hash is distinct from cutter_governance.fn_prev_hash(new.run_id, new.gate) then
        raise exception '% of %: it was never opened', new.gate, new.run_id using errcode = 'CU009';
    end if;
    select * into v_run from cutter_governance.run where run_id = new.run_id;
    v_problem := case receipt.gate
        when 'IG_cut_leg_a_execute' then cutter_governance.fn_approved_rows_problem(v_run, receipt.gate)
        when 'IG_leg_b_record' then cutter_governance.fn_leg_b_problem(v_run)
        when 'IG_write_verify' then cutter_governance.fn_verify_problem(v_run)
        when 'IG_lifecycle_enact_execute' then cutter_governance.fn_approved_rows_problem(v_run, receipt.gate) end;
    if v_problem is not null then
        raise exception '% of %: %', new.gate, new.run_id, v_problem using errcode = 'CU010';
    end if;
    return null;
end
$$;
create constraint trigger trg_gate_receipt_at_commit after insert on cutter_governance.gate_receipt
    deferrable initially deferred for each row execute function cutter_governance.fn_check_receipt();
alter table cutter_governance.gate_receipt enable always trigger trg_gate_receipt_at_commit;
