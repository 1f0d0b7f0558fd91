-- The form of what a role may write: a row that a reader could not read is refused where it enters. Forms are checked by
-- triggers, so that every writer is covered; what was stored before is left as it is (readers take anything).

-- What is wrong with a JSON value for any reader, or null: its size, its depth, numbers that only PostgreSQL can hold.
create function cutter_governance.fn_json_problem(p_value jsonb, p_bytes integer) returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
return case
    when octet_length(p_value::text) > p_bytes then format('is longer than %s bytes', p_bytes)
    when jsonb_path_exists(p_value, 'strict $.**{16 to last}') then 'is nested more than 15 deep'
    when jsonb_path_exists(p_value, 'strict $.** ? (@.type() == "number" && (@ > 9007199254740991 || @ < -9007199254740991))')
        then 'has a number beyond 2^53'
end;

-- Whether a key is absent, null, or of this JSON type; `digest` is a text of 64 hex characters.
create function cutter_governance.fn_key_is(p_value jsonb, p_key text, p_type text) returns boolean
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
return coalesce(jsonb_typeof(p_value -> p_key), 'null') = 'null' or case p_type
    when 'digest' then jsonb_typeof(p_value -> p_key) = 'string' and p_value ->> p_key ~ '^[0-9a-f]{64}$'
    when 'count' then jsonb_typeof(p_value -> p_key) = 'number' and p_value ->> p_key ~ '^[0-9]{1,15}$'
    when 'line' then jsonb_typeof(p_value -> p_key) = 'string' and length(p_value ->> p_key) <= 500
    else jsonb_typeof(p_value -> p_key) = p_type end;

-- The first key of a value that is not as declared (key → type), or null; the value must be an object.
create function cutter_governance.fn_keys_problem(p_value jsonb, p_declared jsonb) returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
return case when jsonb_typeof(p_value) is distinct from 'object' then 'is no object' else (
    select format('has a %s that is no %s', key, type)
    from jsonb_each_text(p_declared) as declared (key, type)
    where not cutter_governance.fn_key_is(p_value, key, type) order by key limit 1) end;

-- Which policy decided, and which rule of it (a receipt's `policy`); an empty one names none.
create function cutter_governance.fn_rule_problem(p_rule jsonb) returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
return case
    when jsonb_typeof(p_rule) is distinct from 'object' then 'has a policy that is no object'
    when p_rule <> '{}' and coalesce(p_rule ->> 'sha256', '') !~ '^[0-9a-f]{64}$' then 'has a policy without its sha256'
    else cutter_governance.fn_keys_problem(p_rule, '{"sha256": "digest", "rule": "line", "line": "count"}')
end;

-- What a policy said of all that a gate does. The sha256 is empty where there was no file to read.
create function cutter_governance.fn_policy_problem(p_policy jsonb) returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
return case
    when jsonb_typeof(p_policy) is distinct from 'object' then 'has a policy that is no object'
    when exists (select from jsonb_object_keys(p_policy) as key where key not in ('sha256', 'decisions'))
        then 'has a policy with other keys than sha256 and decisions'
    when jsonb_typeof(p_policy -> 'sha256') is distinct from 'string' or p_policy ->> 'sha256' !~ '^([0-9a-f]{64})?$'
        then 'has a policy whose sha256 is not 64 hex characters'
    when jsonb_typeof(p_policy -> 'decisions') is distinct from 'array' then 'has a policy whose decisions are no array'
    when jsonb_array_length(p_policy -> 'decisions') > 100 then 'has a policy with more than 100 decisions'
    else (
        select format('has decision %s of its policy, which %s', number, problem)
        from jsonb_array_elements(p_policy -> 'decisions') with ordinality as one (decision, number), lateral (select case
            when jsonb_typeof(decision) <> 'object' then 'is no object'
            when exists (select from jsonb_object_keys(decision) as key where key not in (
                'connector', 'operation', 'verdict', 'tier', 'rule', 'line', 'why')) then 'has unknown keys'
            when decision ->> 'connector' is null or decision ->> 'operation' is null
                then 'lacks its connector or operation'
            else cutter_governance.fn_keys_problem(decision, '{"connector": "line", "operation": "line",
                "verdict": "line", "tier": "line", "rule": "line", "line": "count", "why": "string"}')
            end as problem) as judged
        where problem is not null order by number limit 1)
end;

-- A gate's report, of an attempt or a receipt, and the reason of a stop: known keys have their types.
create function cutter_governance.fn_report_problem(p_report jsonb) returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
return coalesce(
    cutter_governance.fn_json_problem(p_report, 262144),
    cutter_governance.fn_keys_problem(p_report, '{"gate": "line", "invariants": "array", "pins": "object",
        "notes": "array", "approvals": "array", "history": "object", "cpu_ms": "number", "tier": "string",
        "dimension": "string", "fingerprint": "line", "diff": "array"}'),
    (select 'has an invariant that is not name, ok, observed and expected' as problem
     from jsonb_array_elements(p_report -> 'invariants') as one
     where jsonb_typeof(one) <> 'object' or jsonb_typeof(one -> 'name') is distinct from 'string'
        or jsonb_typeof(one -> 'ok') is distinct from 'boolean' or jsonb_typeof(one -> 'observed') is distinct from 'string'
        or jsonb_typeof(one -> 'expected') is distinct from 'string' limit 1),
    (select format('has %s that are no texts', key)
     from unnest(array['notes', 'approvals', 'diff']) as key, jsonb_array_elements(p_report -> key) as one
     where jsonb_typeof(one) <> 'string' limit 1),
    (select format('has a pin %s of another type', key) from jsonb_each(p_report -> 'pins') as pin (key, value)
     where jsonb_typeof(value) <> 'null' and case
        when key ~ '_(sha256|digest|artifact|id)$' then jsonb_typeof(value) <> 'string'
        when key in ('candidate_count', 'units_created', 'units_enacted') then
            not cutter_governance.fn_key_is(p_report -> 'pins', key, 'count')
        else false end limit 1),
    case when p_report ? 'policy' then cutter_governance.fn_policy_problem(p_report -> 'policy') end);

-- A worker's queues: [{queue, slots, used}].
create function cutter_governance.fn_queues_problem(p_queues jsonb) returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
return case when jsonb_typeof(p_queues) is distinct from 'array' then 'is no array' else (
    select 'has an entry that is not queue, slots and used' as problem from jsonb_array_elements(p_queues) as one
    where jsonb_typeof(one) <> 'object' or jsonb_typeof(one -> 'queue') is distinct from 'string'
        or one -> 'slots' is null or one -> 'used' is null
        or cutter_governance.fn_keys_problem(one, '{"slots": "count", "used": "count"}') is not null limit 1) end;

-- Why a value is not of a named form, or null; an absent one is of any. The answer continues "<column> ...".
create function cutter_governance.fn_form_problem(p_form text, p_value jsonb) returns text
language sql stable parallel safe
set search_path = pg_catalog, pg_temp
return case when p_value is null then null else case p_form
    when 'digest' then case when p_value #>> '{}' !~ '^[0-9a-f]{64}$' then 'is no sha256 of 64 hex characters' end
    when 'document id' then case when p_value #>> '{}' !~ '^([A-Za-z0-9_-][A-Za-z0-9._-]*/)*[A-Za-z0-9_-][A-Za-z0-9._-]*\.md$'
        or length(p_value #>> '{}') > 512 then 'is no name of a document' end
    when 'name' then case when length(p_value #>> '{}') > 100 then 'is longer than 100 characters' end
    when 'line' then case when length(p_value #>> '{}') > 512 then 'is longer than 512 characters' end
    when 'target' then case when length(p_value #>> '{}') > 2048 then 'is longer than 2048 characters' end
    when 'rules' then case when octet_length(p_value #>> '{}') > 65536 then 'is longer than 64 KiB' end
    when 'document' then case when octet_length(p_value #>> '{}') > 16777216 then 'is longer than 16 MiB' end
    when 'statement' then coalesce(
        cutter_governance.fn_json_problem(p_value, 131072), cutter_governance.fn_keys_problem(p_value, '{}'))
    when 'findings' then coalesce(cutter_governance.fn_json_problem(p_value, 262144),
        case when jsonb_typeof(p_value) <> 'array' then 'is no array' end)
    when 'error' then coalesce(cutter_governance.fn_json_problem(p_value, 524288), cutter_governance.fn_keys_problem(
        p_value, '{"gate": "line", "outcome": "line", "reason": "line", "at": "line", "report": "object"}'))
    when 'caps' then coalesce(cutter_governance.fn_json_problem(p_value, 16384),
        cutter_governance.fn_keys_problem(p_value, '{"soft_seconds": "object", "retry_delays_seconds": "array"}'), (
        select format('has a %s that is no number', key) from jsonb_each(p_value) as cap (key, value)
        where key not in ('soft_seconds', 'retry_delays_seconds')
            and jsonb_typeof(value) not in ('number', 'boolean', 'null') limit 1))
    when 'queues' then coalesce(
        cutter_governance.fn_json_problem(p_value, 16384), cutter_governance.fn_queues_problem(p_value))
    when 'report' then cutter_governance.fn_report_problem(p_value)
    when 'policy' then coalesce(
        cutter_governance.fn_json_problem(p_value, 262144), cutter_governance.fn_policy_problem(p_value))
    when 'request' then coalesce(cutter_governance.fn_json_problem(p_value, 16384),
        cutter_governance.fn_keys_problem(p_value, '{"kind": "line", "risk": "line", "recipient": "line", "attempts": "count"}'),
        case when coalesce(jsonb_typeof(p_value -> 'policy'), 'null') <> 'null'
            then cutter_governance.fn_rule_problem(p_value -> 'policy') end)
    when 'response' then coalesce(cutter_governance.fn_json_problem(p_value, 16384), cutter_governance.fn_keys_problem(
            p_value, '{"sha256": "digest", "size_bytes": "count", "taken_utc": "line", "message_ts": "line"}'),
        case when p_value ->> 'taken_utc' is not null and not pg_input_is_valid(p_value ->> 'taken_utc', 'timestamptz')
            then 'has a taken_utc that is no time' end)
    else 'has an unknown form ' || p_form
end end;

-- Refuses a row one of whose columns is not of its form; arguments: column, form, column, form ... A column that an
-- update leaves as it is, is not looked at: a row from before stays usable.
create function cutter_governance.fn_check_form() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_row jsonb := to_jsonb(new);
    v_old jsonb := case when tg_op = 'UPDATE' then to_jsonb(old) end;
    v_value jsonb;
    v_problem text;
begin
    for number in 0 .. tg_nargs - 2 by 2 loop
        v_value := v_row -> tg_argv[number];
        if (jsonb_typeof(v_value) <> 'null' or tg_argv[number + 1] in ('request', 'response', 'caps', 'queues', 'findings'))
            and (v_old is null or v_value is distinct from v_old -> tg_argv[number])
        then
            v_problem := cutter_governance.fn_form_problem(tg_argv[number + 1], v_value);
            if v_problem is not null then
                raise exception 'a row of % was refused: its % %', tg_table_name, tg_argv[number], v_problem
                    using errcode = 'CU021';
            end if;
        end if;
    end loop;
    return new;
end
$$;


create trigger trg_ab_form before insert or update on cutter_governance.run
    for each row execute function cutter_governance.fn_check_form('document_id', 'line', 'starter', 'name', 'state', 'name',
        'outcome', 'name', 'tenant', 'name', 'caps', 'caps', 'last_error', 'error', 'workflow_version_id', 'name',
        'first_execution_id', 'line', 'batch_id', 'line', 'docprefix', 'line');
create trigger trg_ab_form before insert or update on cutter_governance.gate_attempt
    for each row execute function cutter_governance.fn_check_form('lease_owner', 'line', 'outcome', 'name', 'reason', 'line',
        'last_error', 'line', 'report', 'report');
create trigger trg_ab_form before insert or update on cutter_governance.gate_receipt
    for each row execute function cutter_governance.fn_check_form('payload_sha256', 'name', 'policy', 'policy',
        'result', 'report');
create trigger trg_ab_form before insert on cutter_governance.governing_policy
    for each row execute function cutter_governance.fn_check_form('sha256', 'digest', 'body', 'rules');
create trigger trg_ab_form before insert on cutter_governance.approval_verdict
    for each row execute function cutter_governance.fn_check_form('gate', 'name', 'kb_id', 'line', 'code', 'name',
        'reason', 'line', 'approval_sha256', 'digest', 'decision', 'name', 'approver', 'name', 'fingerprint', 'name',
        'challenge', 'line', 'writer_digest', 'digest', 'policy_sha256', 'digest', 'statement', 'statement');
create trigger trg_ab_form before insert on cutter_governance.message_refusal
    for each row execute function cutter_governance.fn_check_form('gate', 'name', 'message', 'name', 'code', 'name',
        'reason', 'line');
create trigger trg_ab_form before insert or update on cutter_governance.void_record
    for each row execute function cutter_governance.fn_check_form('reason', 'document', 'policy', 'policy');
create trigger trg_ab_form before insert on cutter_governance.verify_result
    for each row execute function cutter_governance.fn_check_form('findings', 'findings', 'axis_1_status', 'name',
        'axis_2_status', 'name', 'state', 'name', 'verify_kind', 'name', 'created_by', 'name');
create trigger trg_ab_form before insert on cutter_governance.action_receipt
    for each row execute function cutter_governance.fn_check_form('idempotency_key', 'target', 'gate', 'line',
        'connector', 'name', 'operation', 'name', 'target', 'target', 'payload_sha256', 'digest',
        'request_metadata', 'request', 'response_metadata', 'response', 'how_to_reverse', 'line');
create trigger trg_ab_form before insert or update on cutter_governance.outbox
    for each row execute function cutter_governance.fn_check_form('subject', 'line', 'kb_id', 'document id', 'body', 'document',
        'sha256', 'digest');
create trigger trg_ab_form before insert or update on cutter_governance.worker_heartbeat
    for each row execute function cutter_governance.fn_check_form('queues', 'queues');
create trigger trg_ab_form before insert on cutter_governance.batch
    for each row execute function cutter_governance.fn_check_form('queue_sha256', 'digest', 'caps', 'caps',
        'created_by', 'name', 'starter', 'name');
create trigger trg_ab_form before insert or update on cutter_governance.batch_item
    for each row execute function cutter_governance.fn_check_form('document_id', 'line', 'tenant', 'name',
        'source_uri', 'target', 'marking_profile', 'line', 'reason', 'line');
create trigger trg_ab_form before insert or update on cutter_governance.batch_queue
    for each row execute function cutter_governance.fn_check_form('state', 'name', 'code', 'name', 'reason', 'line',
        'kb_id', 'line');

-- A backup is recorded after it was taken, with the sha256 of what was stored.
create function cutter_governance.fn_check_backup() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if new.response_metadata ->> 'sha256' is null or new.response_metadata ->> 'taken_utc' is null then
        raise exception 'the backup % was refused: its record lacks its sha256 or its time', new.target
            using errcode = 'CU021';
    end if;
    if (new.response_metadata ->> 'taken_utc')::timestamptz > clock_timestamp() + interval '1 minute' then
        raise exception 'the backup % was refused: it would have been taken in the future', new.target
            using errcode = 'CU021';
    end if;
    return new;
end
$$;
create trigger trg_ac_backup before insert on cutter_governance.action_receipt
    for each row when (new.connector = 'backup' and new.operation = 'take')
    execute function cutter_governance.fn_check_backup();

-- Whether an action is on record under this name, with whatever fields.
create function cutter_governance.fn_action_is_recorded(p_run_id text, p_connector text, p_operation text, p_target text)
returns boolean
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select exists (select from cutter_governance.action_receipt a
        where a.idempotency_key = p_connector || ':' || p_operation || ':' || p_target
            and a.tenant = coalesce((select r.tenant from cutter_governance.run r where r.run_id = p_run_id), 'default'))
$$;

-- Keeps the text of a policy that a worker decided by; answers what is kept beside each decision.
create or replace function cutter_governance.fn_policy_note(p_policy jsonb) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_policy jsonb := case when jsonb_typeof(p_policy) = 'object' then p_policy - 'text' else p_policy end;
    v_problem text;
begin
    if v_policy is null then
        return null;
    end if;
    v_problem := coalesce(cutter_governance.fn_form_problem('policy', v_policy), case
        when coalesce(jsonb_typeof(p_policy -> 'text'), 'null') not in ('null', 'string') then 'has a text that is none'
        when p_policy ->> 'text' <> '' and cutter_governance.fn_digest(p_policy ->> 'text') <> p_policy ->> 'sha256'
            then 'has a text of another sha256' end);
    if v_problem is not null then
        raise exception 'a record of the policy was refused: it %', v_problem using errcode = 'CU021';
    end if;
    if coalesce(p_policy ->> 'text', '') <> '' then
        insert into cutter_governance.governing_policy (sha256, body)
        values (p_policy ->> 'sha256', p_policy ->> 'text') on conflict do nothing;
    end if;
    return v_policy;
end
$$;

-- Why the decisions that a worker recorded do not open a gate, or null. What it has decided is its own word; that it has
-- decided, that nothing was denied, and that as many people as a tier asks for have approved, is seen here.
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

-- Registers an attempt, or answers with the sealed receipt. The attempt is the visible retry and the fence in one. None
-- is registered before the gate's turn.
create or replace function cutter_governance.fn_gate_attempt(p_run_id text, p_gate text, p_worker text, p_lease_seconds integer)
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
    if cutter_governance.fn_prev_hash(p_run_id, p_gate) is null then
        return answer || jsonb_build_object('status', 'predecessor_not_sealed');
    end if;
    loop
        select coalesce(max(n), 0) + 1 into v_n from cutter_governance.gate_attempt
        where run_id = p_run_id and gate = p_gate;
        insert into cutter_governance.gate_attempt (run_id, gate, n, lease_owner, lease_expires_at)
        values (p_run_id, p_gate, v_n, left(p_worker, 200), clock_timestamp() + make_interval(secs => p_lease_seconds))
        on conflict do nothing;
        exit when found;
    end loop;
    return answer || jsonb_build_object('status', 'registered', 'attempt', v_n);
end
$$;

-- Records what became of an attempt that did not pass, in a transaction of its own; moves the run when p_state is given.
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

-- Whether a document is the session's to put. What a gate's report holds is known outside alone: the gate's own role says
-- it, or cutter_read, which every run needs to go on anyway; what has a body is cutter_read's.
create function cutter_governance.fn_outbox_is_mine(p_entry cutter_governance.outbox) returns boolean
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select session_user = 'cutter_read' or (p_entry.body is null and exists (
        select from cutter_governance.gate_catalogue where gate = p_entry.subject and role = session_user))
$$;

-- What waits for the session's own role: the reports of its gates, and for cutter_read everything. Nobody else reads, or
-- puts, what people are asked to sign.
create or replace function cutter_governance.fn_outbox_waiting(p_run_id text) returns setof cutter_governance.outbox
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select * from cutter_governance.outbox o
    where o.run_id = p_run_id and o.done_at is null and cutter_governance.fn_outbox_is_mine(o) order by o.id
$$;

-- Marks a document as put, with its action receipt; only the role that puts it says so.
create or replace function cutter_governance.fn_outbox_done(p_kb_id text, p_sha256 text, p_size integer, p_policy jsonb) returns jsonb
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
    if not cutter_governance.fn_outbox_is_mine(entry) then
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

create or replace function cutter_governance.fn_verdict_record(p_run_id text, p_gate text, p_kb_id text, p_verdict jsonb) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_problem text;
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
        when not coalesce(pg_input_is_valid(p_verdict ->> 'not_after', 'timestamptz'), true) then 'has a not_after that is no time'
        when (p_verdict ->> 'accepted')::boolean and not exists (
            select from cutter_governance.policy_epoch where sha256 = p_verdict ->> 'policy_sha256')
            then 'accepts by a policy epoch that is not installed' end);
    if v_problem is not null then
        raise exception 'a verdict was refused: it %', v_problem using errcode = 'CU021';
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

create or replace function cutter_governance.fn_refusal_record(p_run_id text, p_gate text, p_message text, p_code text, p_reason text)
returns void
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
    insert into cutter_governance.message_refusal (run_id, gate, message, code, reason)
    values (p_run_id, left(p_gate, 100), left(p_message, 100), left(p_code, 100), left(p_reason, 500))
$$;
