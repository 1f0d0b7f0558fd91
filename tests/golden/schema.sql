CREATE SCHEMA api;

CREATE SCHEMA cutter_governance;

CREATE FUNCTION api.law_version_recorded(recorded timestamp with time zone DEFAULT 'infinity'::timestamp with time zone, in_document text DEFAULT NULL::text) RETURNS TABLE(document text, version integer, title text, operation text, run_id text, change_set uuid, enacted_at timestamp with time zone, effective_from date, effective_until date, status text, source_version integer, source_sha256 text, region_sha256 text, writer_digest text, units integer, base_version integer, base_receipt_hash text, reason text)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select v.document, v.version, v.title, v.operation, v.run_id, v.change_set, v.enacted_at, v.effective_from,
        lead(v.effective_from) over later,
        case
            when v.effective_from > today.day then 'not_yet_in_force'
            when lead(v.effective_from) over later <= today.day then 'superseded'
            when v.operation = 'repeal' then 'repealed'
            else 'in_force' end,
        v.source_version, v.source_sha256, v.region_sha256, v.writer_digest, v.units, v.base_version,
        v.base_receipt_hash, v.reason
    from (
        select in_document as document where in_document is not null
        union all
        select d.doc_code from public.enactment e
        join public.source_document d on d.source_document_ref = e.source_document_ref
        where in_document is null and e.n = 1) as law
    cross join (select (least(recorded, now()) at time zone 'UTC')::date as day) as today
    -- each law by its key: `offset 0` keeps the condition inside
    cross join lateral (
        select * from api.law_version a where a.document = law.document and a.enacted_at <= recorded offset 0) as v
    window later as (partition by v.document order by v.version)
    order by v.document, v.version
$$;

CREATE FUNCTION api.search(words text, "on" date DEFAULT ((now() AT TIME ZONE 'UTC'::text))::date, in_document text DEFAULT NULL::text, in_version integer DEFAULT NULL::integer, at_most integer DEFAULT 20, recorded timestamp with time zone DEFAULT 'infinity'::timestamp with time zone, day date DEFAULT NULL::date) RETURNS TABLE(document text, version integer, address text, title text, body text, content_sha256 text, effective_from date, rank real)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
#variable_conflict use_column
declare
    v_most constant integer := least(at_most, 1000);
    v_corrected tsquery;
begin
    -- limits.SEARCH_WORDS_CHARACTERS_MAX
    if length(words) > 500 then
        raise exception 'a search has at most 500 characters' using errcode = '22023';
    end if;
    return query select * from cutter_governance.fn_search_units(
        cutter_governance.fn_search_query(words), words, coalesce(day, "on"), in_document, in_version, recorded,
        v_most);
    if not found and words !~ '(^|\s)-|"' then
        v_corrected := cutter_governance.fn_search_corrected(cutter_governance.fn_search_form(words));
        return query select * from cutter_governance.fn_search_units(
            v_corrected, words, coalesce(day, "on"), in_document, in_version, recorded, v_most) where v_corrected is not null;
    end if;
end
$$;

CREATE FUNCTION api.unit_in_force("on" date DEFAULT NULL::date, recorded timestamp with time zone DEFAULT 'infinity'::timestamp with time zone, in_document text DEFAULT NULL::text, day date DEFAULT NULL::date) RETURNS TABLE(document text, version integer, document_order integer, address text, unit_version integer, title text, unit_kind text, section_type text, parent text, body text, content_sha256 text, effective_from date, effective_until date)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select u.document, u.version, u.document_order, u.address, u.unit_version, u.title, u.unit_kind, u.section_type,
        u.parent, u.body, u.content_sha256, u.effective_from,
        case when u.ended_at <= recorded then u.effective_until end
    from (select coalesce(unit_in_force.day, "on", (least(recorded, now()) at time zone 'UTC')::date) as day) as asked
    join api.law_version_recorded(recorded, in_document) v
        on v.effective_from <= asked.day and (asked.day < v.effective_until or v.effective_until is null)
    cross join lateral (
        select * from api.unit_of_version a where a.document = v.document and a.version = v.version offset 0) as u
    order by u.document, u.document_order
$$;

CREATE FUNCTION cutter_governance.fn_accepted_findings(p_source_version_id uuid) RETURNS text[]
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select coalesce(array_agg(name order by name collate "C"), '{}')
    from public.source_version v, jsonb_object_keys(
        case jsonb_typeof(v.marking_options -> 'accept') when 'object' then v.marking_options -> 'accept' end) as name
    where v.id = p_source_version_id
$$;

CREATE TABLE cutter_governance.run (
    run_id text NOT NULL,
    document_id text NOT NULL,
    docprefix text COLLATE pg_catalog."C",
    source_document_id uuid,
    source_version_id uuid,
    mode text NOT NULL,
    state text DEFAULT 'pending'::text NOT NULL,
    outcome text,
    starter text NOT NULL,
    tenant text DEFAULT 'default'::text NOT NULL,
    batch_id text,
    amends text,
    first_execution_id text,
    caps jsonb DEFAULT '{}'::jsonb NOT NULL,
    last_error jsonb,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    state_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    ended_at timestamp with time zone,
    trigger_type text GENERATED ALWAYS AS (
CASE
    WHEN (batch_id IS NOT NULL) THEN 'batch'::text
    WHEN (first_execution_id IS NOT NULL) THEN 'workflow'::text
    ELSE 'command'::text
END) STORED NOT NULL,
    trigger_ref text GENERATED ALWAYS AS (COALESCE(first_execution_id, run_id)) STORED NOT NULL,
    workflow_version_id text,
    priority integer DEFAULT 100 NOT NULL,
    operation_kind text DEFAULT 'first_cut'::text NOT NULL,
    base_run_id text,
    base_source_version_id uuid,
    base_receipt_hash text,
    CONSTRAINT run_base_is_whole CHECK ((((operation_kind = 'first_cut'::text) = (base_run_id IS NULL)) AND ((base_run_id IS NULL) = (base_source_version_id IS NULL)) AND ((base_run_id IS NULL) = (base_receipt_hash IS NULL)))),
    CONSTRAINT run_id_form CHECK ((run_id ~ '^ictr-[0-9]{8}T[0-9]{6}Z-[0-9a-f-]{36}$'::text)),
    CONSTRAINT run_mode_check CHECK ((mode = ANY (ARRAY['dryrun'::text, 'live'::text]))),
    CONSTRAINT run_operation_kind CHECK ((operation_kind = ANY (ARRAY['first_cut'::text, 'revision'::text, 'correction'::text, 'repeal'::text]))),
    CONSTRAINT run_priority_check CHECK (((priority >= 0) AND (priority <= 9999)))
);

CREATE FUNCTION cutter_governance.fn_accepted_problem(p_run cutter_governance.run, p_gate text, p_verdict jsonb, p_body bytea, p_signature bytea) RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
    select case
        when p_run.run_id is null then 'accepts a statement about an unknown run'
        when coalesce(octet_length(p_body) not between 1 and 65536 or octet_length(p_signature) not between 1 and 16384, true)
            then 'accepts a statement without the bytes of the statement and its signature'
        when encode(sha256(p_body), 'hex') is distinct from p_verdict ->> 'approval_sha256'
            then 'accepts other bytes than it names'
        when said.decision is distinct from p_verdict ->> 'decision'
            or coalesce(said.decision not in (
                'approve', 'reject', 'resume', 'void', 'acknowledge_drift', 'include_failed', 'revoke'), true)
            then 'accepts a decision that is none'
        when exists (select from jsonb_each_text(kept.statement) as field (name, value)
                     where position(convert_to(E'\n' || name || ': ' || value || E'\n', 'UTF8') in p_body) = 0)
            then 'accepts a field that was not signed'
        when (said.gate, said.approver, said.document_id) is distinct from (p_gate, p_verdict ->> 'approver', p_run.document_id)
            or (said.challenge, said.writer_digest, said.review_decision_id) is distinct from (
                p_verdict ->> 'challenge', p_verdict ->> 'writer_digest', p_verdict ->> 'review_decision_id')
            or said.not_after is distinct from p_verdict ->> 'not_after'
            or not coalesce(case said.binding when 'run' then said.run_id = p_run.run_id
                when 'tuple' then said.batch_id = p_run.batch_id end, false)
            then 'says otherwise than the statement that it accepts'
        when said.approver = p_run.starter then 'accepts a statement of the person who started the run'
        when not exists (
            select from cutter_governance.policy_epoch e
            where e.sha256 = p_verdict ->> 'policy_sha256' and p_verdict ->> 'fingerprint' ~ '^[0-9A-F]{40,64}$'
                and position(p_verdict ->> 'fingerprint' in e.body) > 0 and position(said.approver in e.body) > 0)
            then 'accepts a signer who is not in an installed policy epoch' end
    from (select coalesce(nullif(p_verdict -> 'statement', 'null'), '{}') as statement) as kept,
        lateral jsonb_to_record(kept.statement) as said (decision text, binding text, gate text, approver text,
        document_id text, run_id text, batch_id text, challenge text, writer_digest text, review_decision_id text,
        not_after text)
$_$;

CREATE FUNCTION cutter_governance.fn_action_find(p_run_id text, p_connector text, p_operation text, p_target text, p_payload_sha256 text) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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

CREATE FUNCTION cutter_governance.fn_action_is_recorded(p_run_id text, p_connector text, p_operation text, p_target text) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select exists (select from cutter_governance.action_receipt a
        where a.idempotency_key = p_connector || ':' || p_operation || ':' || p_target
            and a.tenant = coalesce((select r.tenant from cutter_governance.run r where r.run_id = p_run_id), 'default'))
$$;

CREATE FUNCTION cutter_governance.fn_action_note(p_run_id text, p_gate text, p_connector text, p_operation text, p_target text, p_payload_sha256 text, p_request jsonb, p_response jsonb, p_reversible boolean, p_how_to_reverse text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_key text := p_connector || ':' || p_operation || ':' || p_target;
    v_tenant text := coalesce((select tenant from cutter_governance.run where run_id = p_run_id), 'default');
    -- such a name is for the bytes of this digest only, so a document whose other names are taken gets this one
    v_digest text := substring(p_target from '(?:/source-snapshot-|/evidence-|-other)([0-9a-f]{12,16})(?:-other[0-9]+)?\.');
    existing cutter_governance.action_receipt;
begin
    if left(p_payload_sha256, length(v_digest)) <> v_digest then
        raise exception '% names other bytes than those of sha256 %', p_target, p_payload_sha256 using errcode = 'CU011';
    end if;
    insert into cutter_governance.action_receipt (
        tenant, idempotency_key, run_id, gate, connector, operation, target, payload_sha256, request_metadata,
        response_metadata, status, reversible, how_to_reverse)
    values (v_tenant, v_key, p_run_id, p_gate, p_connector, p_operation, p_target, p_payload_sha256, p_request, p_response,
        'succeeded', p_reversible, p_how_to_reverse)
    on conflict (tenant, idempotency_key) do nothing;
    select * into existing from cutter_governance.action_receipt where tenant = v_tenant and idempotency_key = v_key;
    if existing.payload_sha256 <> p_payload_sha256 and v_digest is null then
        -- Raised and not answered: who sends it with other statements and reads no answer may not miss it.
        raise exception '% was done with fields of sha256 %, now % is asked for: nothing was overwritten',
            v_key, existing.payload_sha256, p_payload_sha256 using errcode = 'CU011';
    end if;
    return existing.response_metadata;
end
$$;

CREATE FUNCTION cutter_governance.fn_action_record(p_run_id text, p_gate text, p_connector text, p_operation text, p_target text, p_payload_sha256 text, p_request jsonb, p_response jsonb, p_reversible boolean, p_how_to_reverse text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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

CREATE TABLE cutter_governance.cut_change_set_affected_row (
    affected_row_id uuid NOT NULL,
    change_set_id uuid NOT NULL,
    unit_id uuid NOT NULL,
    unit_version_id uuid,
    content_hash text NOT NULL,
    operation text DEFAULT 'create'::text NOT NULL,
    ended_version_id uuid,
    CONSTRAINT cut_change_set_affected_row_operation CHECK ((operation = ANY (ARRAY['create'::text, 'revise'::text, 'repeal'::text]))),
    CONSTRAINT cut_change_set_affected_row_versions CHECK ((((operation = 'repeal'::text) = (unit_version_id IS NULL)) AND ((operation = 'create'::text) = (ended_version_id IS NULL))))
);

CREATE TABLE public.information_unit (
    id uuid NOT NULL,
    canonical_address text NOT NULL COLLATE pg_catalog."C",
    unit_kind text NOT NULL,
    lifecycle_status text DEFAULT 'draft'::text NOT NULL,
    content_anchor_ref text,
    version_anchor_ref uuid,
    owner_ref text NOT NULL,
    parent_or_container_ref uuid,
    conformance_status text DEFAULT 'open'::text NOT NULL,
    identity_profile jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    created_by text NOT NULL,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    updated_by text NOT NULL,
    deleted_at timestamp with time zone,
    withdrawn_reason text,
    CONSTRAINT information_unit_address_form CHECK ((canonical_address ~ '^[A-Z0-9-]+(/[A-Za-z0-9~._-]+)+$'::text)),
    CONSTRAINT information_unit_title_form CHECK ((((identity_profile ->> 'title'::text) IS NOT NULL) AND ((identity_profile ->> 'title'::text) !~ '[\n\x1f]'::text))),
    CONSTRAINT information_unit_withdrawn_with_reason CHECK (((deleted_at IS NULL) = (withdrawn_reason IS NULL)))
);

CREATE FUNCTION cutter_governance.fn_affected_as_stored(p_row cutter_governance.cut_change_set_affected_row, p_unit public.information_unit) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select (p_row.ended_version_id is null or exists (
            select from public.unit_version v
            where v.id = p_row.ended_version_id and v.id = p_unit.version_anchor_ref and v.lifecycle_status = 'enacted'))
        and exists (
            select from public.unit_version v
            where v.id = coalesce(p_row.unit_version_id, p_row.ended_version_id) and v.unit_id = p_unit.id
                and v.withdrawn_at is null and v.content_hash = p_row.content_hash
                and v.content_hash = encode(sha256(convert_to(v.body, 'UTF8')), 'hex')
                and (p_row.unit_version_id is null or v.lifecycle_status = 'draft'))
$$;

CREATE FUNCTION cutter_governance.fn_append_only() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    raise exception '% is append-only: % refused', tg_table_name, tg_op using errcode = 'CU005';
end
$$;

CREATE TABLE cutter_governance.approval_request (
    request_id uuid DEFAULT gen_random_uuid() NOT NULL,
    run_id text NOT NULL,
    gate text NOT NULL,
    n integer NOT NULL,
    status text DEFAULT 'requested'::text NOT NULL,
    tuple jsonb NOT NULL,
    nonce text NOT NULL,
    challenge text NOT NULL,
    review_decision_id uuid,
    requested_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    kb_id text,
    request_sha256 text,
    tier text,
    after_pins jsonb NOT NULL,
    pin_seq bigint NOT NULL,
    CONSTRAINT approval_request_gate_check CHECK ((gate = ANY (ARRAY['SG_cut_authz'::text, 'SG_lifecycle_authz'::text]))),
    CONSTRAINT approval_request_status_check CHECK ((status = ANY (ARRAY['requested'::text, 'approved'::text, 'rejected'::text, 'expired'::text, 'canceled'::text]))),
    CONSTRAINT approval_request_tier_check CHECK ((tier = ANY (ARRAY['low'::text, 'medium'::text, 'high'::text])))
);

CREATE TABLE cutter_governance.policy_epoch (
    number integer NOT NULL,
    deployment_id uuid NOT NULL,
    sha256 text NOT NULL,
    body text NOT NULL,
    thresholds jsonb NOT NULL,
    tiers jsonb DEFAULT '{}'::jsonb NOT NULL,
    lifecycle_group text NOT NULL,
    installed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT policy_epoch_addressed_by_content CHECK ((sha256 = encode(sha256(convert_to(body, 'UTF8'::name)), 'hex'::text))),
    CONSTRAINT policy_epoch_number_check CHECK ((number > 0))
);

CREATE FUNCTION cutter_governance.fn_approval_consume_one(p_run cutter_governance.run, p_request cutter_governance.approval_request, p_epoch cutter_governance.policy_epoch, p_slot integer, p_offered jsonb) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    verdict cutter_governance.approval_verdict;
    v_refusal text;
    v_now timestamptz;
begin
    select * into verdict from cutter_governance.approval_verdict v
    where v.run_id = p_run.run_id and v.gate = p_request.gate and v.accepted
        and v.approval_sha256 = p_offered ->> 'approval_sha256';
    if not found then
        return 'no_accepted_verdict';
    end if;
    v_refusal := cutter_governance.fn_approval_mismatch(p_run, p_request, p_epoch, verdict, p_offered ->> 'challenge');
    if v_refusal is not null then
        return v_refusal;
    end if;
    perform pg_advisory_xact_lock(hashtextextended(verdict.approval_sha256, 0));
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
                   or (c.run_id = p_run.run_id and c.gate = p_request.gate
                       and (c.slot = p_slot or c.approver = verdict.approver or c.fingerprint = verdict.fingerprint))
                   or (p_request.review_decision_id is not null
                       and c.review_decision_id = p_request.review_decision_id and c.slot = p_slot))
    then
        return 'approval_consumed_before';
    end if;
    insert into cutter_governance.approval_consumption (
        approval_sha256, run_id, gate, slot, request_id, approver, fingerprint, document_id, source_version_id,
        writer_digest, candidate_count, challenge, review_decision_id, policy_sha256, consumed_at)
    values (
        verdict.approval_sha256, p_run.run_id, p_request.gate, p_slot, p_request.request_id, verdict.approver,
        verdict.fingerprint, p_run.document_id, p_run.source_version_id, p_request.tuple ->> 'writer_digest',
        (p_request.tuple ->> 'candidate_count')::integer, p_request.challenge, p_request.review_decision_id,
        p_epoch.sha256, v_now);
    return null;
end
$$;

CREATE TABLE cutter_governance.approval_verdict (
    id bigint NOT NULL,
    run_id text NOT NULL,
    gate text NOT NULL,
    kb_id text NOT NULL,
    approval_sha256 text,
    accepted boolean NOT NULL,
    code text NOT NULL,
    reason text NOT NULL,
    decision text,
    approver text,
    fingerprint text,
    challenge text,
    writer_digest text,
    review_decision_id uuid,
    not_after timestamp with time zone,
    policy_sha256 text,
    statement jsonb,
    recorded_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT approval_verdict_accepted_is_whole CHECK (((NOT accepted) OR ((approval_sha256 IS NOT NULL) AND (decision IS NOT NULL) AND (approver IS NOT NULL) AND (fingerprint IS NOT NULL) AND (not_after IS NOT NULL) AND (policy_sha256 IS NOT NULL))))
);

CREATE FUNCTION cutter_governance.fn_approval_mismatch(p_run cutter_governance.run, p_request cutter_governance.approval_request, p_epoch cutter_governance.policy_epoch, p_verdict cutter_governance.approval_verdict, p_challenge text) RETURNS text
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    if p_verdict.decision <> 'approve' then
        return 'not_an_approval';
    end if;
    if (case when p_verdict.statement ->> 'binding' = 'tuple'
            then not cutter_governance.fn_tuple_covers(p_verdict.statement, p_run, p_request)
            else p_verdict.challenge is distinct from p_request.challenge
                or p_verdict.challenge is distinct from p_challenge end)
        or p_verdict.writer_digest is distinct from p_request.tuple ->> 'writer_digest'
        or p_verdict.review_decision_id is distinct from p_request.review_decision_id
    then
        return 'approval_of_other_tuple';
    end if;
    if p_verdict.policy_sha256 <> p_epoch.sha256 then
        return 'approval_of_other_epoch';
    end if;
    return null;
end
$$;

CREATE FUNCTION cutter_governance.fn_approval_moved() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    perform cutter_governance.fn_audit(new.run_id, 'approval_transition', jsonb_build_object(
        'timestamp', cutter_governance.fn_utc(clock_timestamp()), 'event_type', 'approval_state_transition',
        'severity', case new.status when 'approved' then 'info' else 'warning' end, 'entity_id', new.request_id,
        'from_state', old.status, 'to_state', new.status, 'trigger', new.status,
        'metadata', jsonb_build_object('run_id', new.run_id, 'gate', new.gate, 'n', new.n)));
    return null;
end
$$;

CREATE FUNCTION cutter_governance.fn_approvals_consume(p_run cutter_governance.run, p_sovereign text, p_approvals jsonb, p_policy jsonb DEFAULT NULL::jsonb) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    request cutter_governance.approval_request;
    epoch cutter_governance.policy_epoch;
    offered jsonb;
    v_slot integer := 0;
    v_needed integer;
    v_refusal text;
    v_pins jsonb := cutter_governance.fn_run_pins(p_run.run_id);
begin
    -- shared by all gates that consume approvals; `fn_policy_install` waits for them and they for it
    perform from cutter_governance.lane where name = 'policy_epoch' for share;
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
    if request.tuple ->> 'findings_digest' is distinct from v_pins ->> 'findings_digest' then
        return 'request_of_other_findings';
    end if;
    for offered in select value from jsonb_array_elements(p_approvals) order by value ->> 'approval_sha256'
    loop
        v_slot := v_slot + 1;
        if v_slot > v_needed then
            return 'more_approvals_than_slots';
        end if;
        v_refusal := cutter_governance.fn_approval_consume_one(p_run, request, epoch, v_slot, offered);
        if v_refusal is not null then
            return v_refusal;
        end if;
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

CREATE FUNCTION cutter_governance.fn_approvals_needed(p_sovereign text, p_tier text) RETURNS integer
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select greatest(1, case p_tier when 'high' then 2 end, (
        select greatest((e.thresholds ->> p_sovereign)::integer, (e.tiers -> p_sovereign ->> p_tier)::integer)
        from cutter_governance.policy_epoch e order by e.number desc limit 1))
$$;

CREATE FUNCTION cutter_governance.fn_approved_rows_problem(p_run cutter_governance.run, p_gate text) RETURNS text
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
    if p_run.operation_kind <> 'first_cut' then
        return coalesce(cutter_governance.fn_revision_problem(p_run, approved.writer_digest, v_enacting),
            case when v_enacting then cutter_governance.fn_revision_log_problem(p_run, approved.review_decision_id) end);
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

CREATE FUNCTION cutter_governance.fn_archiver(p_late_seconds double precision) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_archiver jsonb;
begin
    if to_regprocedure('cutter_guard.fn_restore_point(uuid)') is null then
        return '{"problem": "restore_point_unprepared"}';
    end if;
    execute 'select cutter_guard.fn_archiver()' into v_archiver;
    return v_archiver || jsonb_build_object('problem', case
        when not (v_archiver ->> 'archives')::boolean then 'archiving_off'
        when (v_archiver ->> 'fails')::boolean then 'archiver_failing'
        when (v_archiver ->> 'waiting_seconds')::integer > p_late_seconds then 'archiver_late'
        when v_archiver ->> 'archived_wal' is null then 'archiver_unproved' end);
end
$$;

CREATE FUNCTION cutter_governance.fn_audit(p_run_id text, p_kind text, p_event jsonb) RETURNS text
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select cutter_governance.fn_audit_append(p_run_id, p_run_id, p_kind, p_event)
$$;

CREATE FUNCTION cutter_governance.fn_audit_anchor(p_run_id text, p_kind text) RETURNS text
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select cutter_governance.fn_audit_append('global', p_run_id, p_kind,
        jsonb_build_object('run_head', h.hash, 'run_seq', h.seq))
    from cutter_governance.audit_head h where h.chain = p_run_id
$$;

CREATE FUNCTION cutter_governance.fn_audit_append(p_chain text, p_run_id text, p_kind text, p_event jsonb) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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

CREATE FUNCTION cutter_governance.fn_backup_again(p_document text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    if session_user <> 'cutter_backup' then
        raise exception 'a document is backed up again by cutter_backup, not by %', session_user using errcode = 'CU006';
    end if;
    perform cutter_governance.fn_backup_given_up(case when p_document is not null then array[p_document] end);
    update cutter_governance.backup_coverage c set changes = c.changes + 1, changed_by = null, problem = null
    where p_document is null or c.document_id = p_document;
    return found;
end
$$;

CREATE TABLE cutter_governance.gate_catalogue (
    gate text NOT NULL,
    ordinal integer NOT NULL,
    phase text NOT NULL,
    from_state text NOT NULL,
    to_state text NOT NULL,
    role text NOT NULL,
    effect text NOT NULL,
    report text NOT NULL,
    sovereign text,
    writes text,
    lane text,
    rehearsable boolean DEFAULT false NOT NULL,
    pins_source boolean DEFAULT false NOT NULL,
    CONSTRAINT gate_catalogue_lane_check CHECK ((lane = ANY (ARRAY['write'::text, 'enact'::text]))),
    CONSTRAINT gate_catalogue_ordinal_check CHECK ((ordinal > 0))
);

CREATE FUNCTION cutter_governance.fn_backup_answer(p_step cutter_governance.gate_catalogue, p_rehearse boolean) RETURNS jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select jsonb_build_object('status', 'backup_damaged', 'code', 'segment_damaged', 'problem', found.problem)
    from cutter_governance.fn_backup_problem() as found (problem)
    where p_step.sovereign is not null and not p_rehearse and found.problem is not null
$$;

CREATE FUNCTION cutter_governance.fn_backup_changed() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_row record;
    v_document text;
begin
    if tg_op = 'DELETE' then
        v_row := old;
    else
        v_row := new;
    end if;
    case tg_table_name
        when 'information_unit' then
            v_document := cutter_governance.fn_document_at(v_row.canonical_address);
        when 'unit_version', 'iu_lifecycle_log' then
            v_document := cutter_governance.fn_document_at((
                select u.canonical_address from public.information_unit u where u.id = v_row.unit_id));
        when 'manifest_unit_block' then
            select r.document_id into v_document from cutter_governance.manifest_envelope e
            join cutter_governance.run r on r.run_id = e.run_id where e.envelope_id = v_row.envelope_id;
        when 'cut_change_set_affected_row' then
            v_document := cutter_governance.fn_document_of_change(v_row.change_set_id);
        when 'dot_pair_signature' then
            v_document := cutter_governance.fn_document_of_change(coalesce(v_row.cross_reference_change_set_id, (
                select v.change_set_id from cutter_governance.verify_result v
                where v.verify_result_id = v_row.cross_reference_verify_result_id)));
        else
            select r.document_id into v_document from cutter_governance.run r where r.run_id = v_row.run_id;
    end case;
    if v_document is null then
        raise exception '% on %: the row belongs to no document, so no backup would hold it', tg_op, tg_table_name
            using errcode = 'CU021';
    end if;
    -- A transaction counts once. To look for its count is cheaper than an insert that changes nothing.
    if exists (select from cutter_governance.backup_coverage c
               where c.document_id = v_document and c.changed_by = pg_current_xact_id()) then
        return null;
    end if;
    insert into cutter_governance.backup_coverage as c (document_id, changes, changed_by)
    values (v_document, 1, pg_current_xact_id())
    on conflict (document_id) do update set changes = c.changes + 1, changed_by = excluded.changed_by;
    return null;
end
$$;

CREATE FUNCTION cutter_governance.fn_backup_given_up(p_documents text[]) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    update cutter_governance.backup_head set given_up_at = clock_timestamp()
    where exists (
        select from cutter_governance.backup_coverage c
        where c.problem is not null and (p_documents is null or c.document_id = any (p_documents)))
$$;

CREATE FUNCTION cutter_governance.fn_backup_problem() RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    -- reads one entry of the index of problems, however many documents there are
    select c.document_id || ': ' || c.problem from cutter_governance.backup_coverage c
    where c.document_id = (
        select min(p.document_id) from cutter_governance.backup_coverage p where p.problem is not null)
$$;

CREATE FUNCTION cutter_governance.fn_backup_rows_changed() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_documents text[];
begin
    if tg_table_name = 'manifest_unit_block' then
        -- Not a join: the planner cannot know that all rows have one envelope, and would read all envelopes for many rows.
        select array_agg(distinct coalesce((
            select r.document_id from cutter_governance.manifest_envelope e
            join cutter_governance.run r on r.run_id = e.run_id where e.envelope_id = i.envelope_id), ''))
        into v_documents from (select distinct envelope_id from inserted) as i;
    else
        select array_agg(distinct coalesce((
            select r.document_id from cutter_governance.run r where r.run_id = i.run_id), ''))
        into v_documents from (select distinct run_id from inserted) as i;
    end if;
    if '' = any (v_documents) then
        raise exception '% on %: a row belongs to no document, so no backup would hold it', tg_op, tg_table_name
            using errcode = 'CU021';
    end if;
    insert into cutter_governance.backup_coverage as c (document_id, changes, changed_by)
    select document, 1, pg_current_xact_id() from unnest(v_documents) as changed (document) order by document
    on conflict (document_id) do update set changes = c.changes + 1, changed_by = excluded.changed_by
        where c.changed_by is distinct from excluded.changed_by;
    return null;
end
$$;

CREATE FUNCTION cutter_governance.fn_backup_seal(p_before text, p_after text, p_columns_sha256 text, p_artifact text, p_sha256 text, p_documents jsonb) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_head cutter_governance.backup_head;
    v_new bigint;
begin
    if session_user <> 'cutter_backup' then
        raise exception 'a segment is sealed by cutter_backup, not by %', session_user using errcode = 'CU006';
    end if;
    select * into strict v_head from cutter_governance.backup_head for update;
    if v_head.tree is distinct from p_before then
        return false;
    end if;
    perform cutter_governance.fn_backup_given_up(case when v_head.columns_sha256 = p_columns_sha256 then
        array(select jsonb_object_keys(p_documents)) end);
    if v_head.columns_sha256 is distinct from p_columns_sha256 then
        update cutter_governance.backup_coverage c set sealed_changes = null, artifact = null, sha256 = null,
            fingerprint = null, sealed_at = null, verified_at = null, problem = null
        where c.sealed_changes is not null;
        v_head.documents := 0;
    end if;
    select count(*) into v_new from cutter_governance.backup_coverage c
    where c.document_id in (select jsonb_object_keys(p_documents)) and c.sealed_changes is null;
    update cutter_governance.backup_coverage c
    set sealed_changes = (d.value ->> 'changes')::bigint, fingerprint = d.value ->> 'fingerprint',
        artifact = p_artifact, sha256 = p_sha256, sealed_at = clock_timestamp(), verified_at = clock_timestamp(), problem = null,
        changed_by = case when c.changes = (d.value ->> 'changes')::bigint then null else c.changed_by end
    from jsonb_each(p_documents) as d where d.key = c.document_id;
    update cutter_governance.backup_head
    set tree = p_after, columns_sha256 = p_columns_sha256, documents = v_head.documents + v_new;
    return true;
end
$$;

CREATE FUNCTION cutter_governance.fn_backup_verified(p_documents jsonb) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_new text;
    v_problems bigint;
begin
    if session_user <> 'cutter_backup' then
        raise exception 'a segment is verified by cutter_backup, not by %', session_user using errcode = 'CU006';
    end if;
    select min(c.document_id) into v_new
    from cutter_governance.backup_coverage c join jsonb_each(p_documents) as d on d.key = c.document_id
    where c.problem is null and c.sha256 = d.value ->> 'sha256' and d.value ->> 'problem' is not null;
    update cutter_governance.backup_coverage c
    set problem = left(d.value ->> 'problem', 512),
        verified_at = case when d.value ->> 'problem' is null then clock_timestamp() else c.verified_at end
    from jsonb_each(p_documents) as d
    where d.key = c.document_id and c.sha256 = d.value ->> 'sha256';
    insert into cutter_governance.notification (kind, phase, subject, run_id, place)
    select 'backup', 'told', 'backup:' || r.run_id || ':' || (extract(epoch from clock_timestamp()) * 1000000)::bigint,
        r.run_id, 'segment_damaged'
    from cutter_governance.run r where r.document_id = v_new order by r.created_at desc limit 1;
    select count(*) into v_problems from cutter_governance.backup_coverage c where c.problem is not null;
    return v_problems;
end
$$;

CREATE FUNCTION cutter_governance.fn_base_problem(p_run cutter_governance.run) RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select case
        when newest.run_id is distinct from p_run.base_run_id
            then format('the base is the law of %s, and the law in force is that of %s',
                coalesce(p_run.base_run_id, 'no run'), coalesce(newest.run_id, 'no run'))
        when newest.run_id is not null and (g.receipt_hash is distinct from p_run.base_receipt_hash
                or newest.source_version_id is distinct from p_run.base_source_version_id)
            then 'the base is not as it was sealed' end
    from (select 1) as always
    left join lateral (
        select e.run_id, e.source_version_id from public.enactment e
        where e.source_document_ref = p_run.document_id and e.run_id <> p_run.run_id and e.n < coalesce(
            (select own.n from public.enactment own where own.run_id = p_run.run_id), 2147483647)
        order by e.n desc limit 1) newest on true
    left join cutter_governance.gate_receipt g on g.run_id = newest.run_id and g.gate = 'IG_lifecycle_enact_execute'
$$;

CREATE FUNCTION cutter_governance.fn_baseline_record(p_schema_version integer) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    pins jsonb := cutter_governance.fn_definition_pins();
begin
    insert into cutter_governance.schema_baseline (pins, schema_version) values (pins, p_schema_version);
    return pins;
end
$$;

CREATE FUNCTION cutter_governance.fn_batch_again(p_batch_id text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    update cutter_governance.batch set again_at = clock_timestamp() where batch_id = p_batch_id;
    perform cutter_governance.fn_audit_append(p_batch_id, p_batch_id, 'again', jsonb_build_object('by', session_user));
end
$$;

CREATE FUNCTION cutter_governance.fn_batch_document(p_batch_id text, p_kind text, p_subject text, p_kb_id text, p_body text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    if p_kind not in ('batch_overview', 'queue_summary', 'batch_report') then
        raise exception '% is no document of a batch', p_kind using errcode = 'CU006';
    end if;
    insert into cutter_governance.outbox (batch_id, kind, subject, kb_id, body)
    values (p_batch_id, p_kind, p_subject, p_kb_id, p_body) on conflict (kb_id) do nothing;
    return found;
end
$$;

CREATE FUNCTION cutter_governance.fn_batch_halt(p_batch_id text, p_halted text, p_reason text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_before text;
begin
    select halted into v_before from cutter_governance.batch where batch_id = p_batch_id for update;
    if not found then
        return 'unknown_batch';
    end if;
    if p_halted is null and session_user = 'cutter_read' then
        return 'refused_operator_only';
    end if;
    if p_halted is not null and v_before is not null and (p_halted <> 'cancel' or v_before = 'cancel')
        and not (p_halted = 'stop' and v_before = 'hard_cap')
    then
        return v_before;
    end if;
    if p_halted is null then
        update cutter_governance.batch_item i set decided = null, reason = null
        where batch_id = p_batch_id and decided in ('busy', 'blocked', 'voided')
            and not cutter_governance.fn_item_kept_out(i);
    end if;
    update cutter_governance.batch
    set halted = p_halted, halted_reason = case when p_halted is not null then left(p_reason, 500) end,
        halted_at = case when p_halted is not null then clock_timestamp() end,
        -- a resume gives it its whole time again, because a night's batch is signed the next day
        began_at = case when p_halted is null then clock_timestamp() else began_at end
    where batch_id = p_batch_id;
    perform cutter_governance.fn_audit_append(p_batch_id, p_batch_id, 'halt', jsonb_build_object(
        'halted', p_halted, 'before', v_before, 'reason', left(p_reason, 500)));
    return p_halted;
end
$$;

CREATE FUNCTION cutter_governance.fn_batch_item_decide(p_batch_id text, p_document_id text, p_decided text, p_reason text) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    update cutter_governance.batch_item set decided = p_decided, reason = left(p_reason, 500)
    where batch_id = p_batch_id and document_id = p_document_id
$$;

CREATE FUNCTION cutter_governance.fn_batch_item_notify() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    if pg_notification_queue_usage() < 0.5 then
        perform pg_notify('cutter_batch', new.batch_id || ' ' || new.document_id);
    end if;
    return null;
end
$$;

CREATE FUNCTION cutter_governance.fn_batch_item_start(p_batch_id text, p_document_id text, p_run_id text, p_starter text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_batch cutter_governance.batch;
    item cutter_governance.batch_item;
    newest cutter_governance.run;
    other cutter_governance.run;
    verdict cutter_governance.approval_verdict;
    answer jsonb;
begin
    select * into v_batch from cutter_governance.batch where batch_id = p_batch_id for share;
    select * into item from cutter_governance.batch_item
    where batch_id = p_batch_id and document_id = p_document_id for update;
    if item.document_id is null or v_batch.halted is not null then
        return jsonb_build_object('status', 'refused', 'code', case
            when item.document_id is null then 'not_in_batch' else 'batch_halted' end);
    end if;
    select * into newest from cutter_governance.run
    where batch_id = p_batch_id and document_id = p_document_id order by created_at desc, run_id desc limit 1;
    if newest.state like 'voided\_%' and newest.ended_at < v_batch.again_at then
        newest := null;
    end if;
    if newest.run_id is not null and newest.ended_at is null then
        return jsonb_build_object('status', 'found', 'run_id', newest.run_id, 'state', newest.state);
    end if;
    if newest.run_id is not null then
        -- a signed authorisation includes a failed one again, once
        select * into verdict from cutter_governance.approval_verdict v
        where v.run_id = newest.run_id and v.accepted and v.decision = 'include_failed' and v.not_after > clock_timestamp()
            and not exists (select from cutter_governance.order_consumption where statement_sha256 = v.approval_sha256)
            and (select count(*) = 0 from cutter_governance.approval_revocation where approval_sha256 = v.approval_sha256)
        order by v.id desc limit 1;
        if not found or newest.state not like 'failed\_%' then
            return jsonb_build_object('status', 'refused', 'code', 'run_of_this_batch_ended', 'run_id', newest.run_id);
        end if;
    end if;
    -- A document has one workflow, so an open rehearsal holds up a live run too, and the other way round. The global
    -- chain is locked first, so that of two batches that ask at once the later one sees what the other has made.
    perform from cutter_governance.audit_head where chain = 'global' for update;
    select * into other from cutter_governance.run
    where document_id = p_document_id and ended_at is null order by created_at desc limit 1;
    if found then
        return jsonb_build_object('status', 'busy', 'run_id', other.run_id, 'document_id', p_document_id,
            'mode', other.mode, 'state', other.state);
    end if;
    answer := cutter_governance.fn_run_make(
        p_run_id, p_document_id, v_batch.mode, p_starter, v_batch.caps, null, p_batch_id, newest.run_id);
    if answer ->> 'status' = 'registered' then
        insert into cutter_governance.order_consumption (statement_sha256, run_id, decision, approver, fingerprint)
        select verdict.approval_sha256, newest.run_id, verdict.decision, verdict.approver, verdict.fingerprint
        where verdict.id is not null;
        update cutter_governance.batch_item set decided = null, reason = null
        where batch_id = p_batch_id and document_id = p_document_id and decided is not null;
    end if;
    return answer;
end
$$;

CREATE FUNCTION cutter_governance.fn_batch_lock(p_batch_id text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    perform pg_advisory_xact_lock(hashtext('cutter.batch'), hashtext(p_batch_id));
end
$$;

CREATE FUNCTION cutter_governance.fn_batch_move(p_batch_id text, p_to text, p_trigger text, p_metadata jsonb DEFAULT '{}'::jsonb) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_from text;
    v_rested interval;
    v_ended boolean := p_to in ('batch_closeout', 'batch_failed_partial', 'batch_voided');
begin
    select state, case when ended_at is not null or unattended and state like 'batch\_awaiting\_%'
        then clock_timestamp() - state_at else '0' end
    into v_from, v_rested
    from cutter_governance.batch where batch_id = p_batch_id for update;
    if v_from is null or v_from = p_to then
        return false;
    end if;
    update cutter_governance.batch
    set state = p_to, state_at = clock_timestamp(), ended_at = case when v_ended then clock_timestamp() end,
        began_at = least(began_at + v_rested, clock_timestamp())
    where batch_id = p_batch_id;
    perform cutter_governance.fn_audit_append(p_batch_id, p_batch_id, 'transition', jsonb_build_object(
        'timestamp', cutter_governance.fn_utc(clock_timestamp()), 'event_type', 'batch_state_transition',
        'severity', case p_to when 'batch_failed_partial' then 'error' when 'batch_voided' then 'warning' else 'info' end,
        'entity_id', p_batch_id, 'from_state', v_from, 'to_state', p_to, 'trigger', p_trigger, 'metadata', p_metadata));
    if v_ended then
        perform cutter_governance.fn_audit_anchor(p_batch_id, 'batch_ended');
    end if;
    return true;
end
$$;

CREATE FUNCTION cutter_governance.fn_batch_notify() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    if pg_notification_queue_usage() < 0.5 then
        perform pg_notify('cutter_batch', new.batch_id);
    end if;
    return null;
end
$$;

CREATE TABLE cutter_governance.outbox (
    id bigint NOT NULL,
    run_id text,
    batch_id text,
    kind text NOT NULL,
    subject text NOT NULL,
    kb_id text NOT NULL,
    body text,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    done_at timestamp with time zone,
    sha256 text,
    CONSTRAINT outbox_check CHECK ((num_nonnulls(run_id, batch_id) = 1)),
    CONSTRAINT outbox_kind_check CHECK ((kind = ANY (ARRAY['gate_report'::text, 'request'::text, 'stop_route'::text, 'batch_overview'::text, 'queue_entry'::text, 'queue_summary'::text, 'batch_report'::text])))
);

CREATE FUNCTION cutter_governance.fn_batch_outbox(p_batch_id text) RETURNS SETOF cutter_governance.outbox
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select * from cutter_governance.outbox where batch_id = p_batch_id and done_at is null order by id
$$;

CREATE FUNCTION cutter_governance.fn_batch_register(p_batch jsonb, p_items jsonb) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    existing cutter_governance.batch;
    v_id text := p_batch ->> 'batch_id';
begin
    insert into cutter_governance.batch (
        batch_id, queue_sha256, mode, policy, unattended, lanes, hard_cap_seconds, caps, created_by, starter,
        default_scope, default_actor)
    values (v_id, p_batch ->> 'queue_sha256', p_batch ->> 'mode', p_batch ->> 'policy',
        (p_batch ->> 'unattended')::boolean, (p_batch ->> 'lanes')::integer, (p_batch ->> 'hard_cap_seconds')::double precision,
        p_batch -> 'caps', left(p_batch ->> 'created_by', 100), left(p_batch ->> 'starter', 100),
        p_batch ->> 'default_scope', p_batch ->> 'default_actor')
    on conflict do nothing;
    if not found then
        select * into existing from cutter_governance.batch where batch_id = v_id;
        return jsonb_build_object('status', case
            when existing.queue_sha256 = p_batch ->> 'queue_sha256' then 'found' else 'conflict' end,
            'queue_sha256', existing.queue_sha256);
    end if;
    insert into cutter_governance.batch_item (
        batch_id, document_id, position, priority, depends_on, critical, tenant, source_uri, marking_profile, decided, reason,
        kept_out, scope, actor)
    select v_id, document_id, position, priority, coalesce(depends_on, '{}'), coalesce(critical, false),
        coalesce(tenant, 'default'), source_uri, marking_profile, decided, reason, coalesce(decided = 'blocked', false),
        scope, actor
    from jsonb_to_recordset(p_items) as item (
        document_id text, position integer, priority integer, depends_on text[], critical boolean, tenant text,
        source_uri text, marking_profile text, decided text, reason text, scope text, actor text);
    update cutter_governance.batch set weights = (
        select coalesce(jsonb_object_agg(tenant, cutter_governance.fn_tenant_caps(tenant, 'batch') -> 'weight'), '{}')
        from (select distinct tenant from cutter_governance.batch_item where batch_id = v_id) as its)
    where batch_id = v_id;
    perform cutter_governance.fn_audit_append(v_id, v_id, 'batch_registered', jsonb_build_object(
        'queue_sha256', p_batch ->> 'queue_sha256', 'items', jsonb_array_length(p_items), 'by', session_user));
    perform cutter_governance.fn_audit_anchor(v_id, 'batch_registered');
    return jsonb_build_object('status', 'registered');
end
$$;

CREATE FUNCTION cutter_governance.fn_batch_run_notify() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    perform pg_notify('cutter_batch', r.batch_id || ' ' || r.document_id) from cutter_governance.run r
    where r.run_id = new.run_id and r.batch_id is not null and pg_notification_queue_usage() < 0.5;
    return null;
end
$$;

CREATE FUNCTION cutter_governance.fn_batch_seen(p_batch_id text, p_documents text[] DEFAULT NULL::text[]) RETURNS jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    -- materialized, because PostgreSQL would otherwise make the view again for each item
    with v as materialized (select cutter_governance.fn_batch_view(p_batch_id, p_documents) as view)
    select v.view || jsonb_build_object('items', (
        select coalesce(jsonb_agg(one || jsonb_build_object(
            'scope', i.scope, 'actor', coalesce(i.actor, v.view -> 'batch' ->> 'default_actor'),
            'wrote', exists (
                select from cutter_governance.gate_receipt g
                where g.run_id = one ->> 'run_id' and g.gate = 'IG_cut_leg_a_execute' and g.sealed_at is not null),
            'stopped_by', (
                select l.set_by from cutter_governance.stop_latch l where l.run_id = one ->> 'run_id' and l.stopped),
            'corrected', one ->> 'state' like 'failed\_%' and exists (
                select from public.source_document d
                join public.source_version s on s.source_document_ref = d.source_document_ref
                where d.doc_code = i.document_id and s.registered_at > (one ->> 'created_at')::timestamptz),
            'open_run', case when one ->> 'decided' = 'busy' then (
                select r.run_id from cutter_governance.run r
                where r.document_id = i.document_id and r.ended_at is null order by r.created_at desc limit 1) end,
            'failed_run', case when (one ->> 'kept_out')::boolean then (
                select jsonb_build_object('run_id', r.run_id, 'batch_id', r.batch_id) from cutter_governance.run r
                where r.document_id = i.document_id and r.mode = 'live' and r.state like 'failed\_%'
                order by r.created_at desc limit 1) end)
            order by i.position), '[]')
        from jsonb_array_elements(v.view -> 'items') as one
        join cutter_governance.batch_item i on i.batch_id = p_batch_id and i.document_id = one ->> 'document_id'))
    from v
    where v.view is not null
$$;

CREATE FUNCTION cutter_governance.fn_batch_unseen(p_run_id text) RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select b.batch_id
    from cutter_governance.run r
    join cutter_governance.batch b on b.batch_id = r.batch_id
    where r.run_id = p_run_id and (
        b.ended_at is not null and r.state_at > b.state_at
            and (b.halted is null or not cutter_governance.fn_run_moves(r.run_id))
        or exists (
            select from cutter_governance.batch_queue q
            where q.batch_id = r.batch_id and q.document_id = r.document_id and q.left_at is null and q.state <> r.state))
$$;

CREATE FUNCTION cutter_governance.fn_batch_view(p_batch_id text, p_documents text[] DEFAULT NULL::text[]) RETURNS jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select jsonb_build_object(
        'batch', to_jsonb(b),
        'age_seconds', extract(epoch from clock_timestamp() - b.began_at),
        'halted_seconds', extract(epoch from clock_timestamp() - b.halted_at),
        'items', (
            select coalesce(jsonb_agg(jsonb_build_object(
                'document_id', i.document_id, 'position', i.position, 'priority', i.priority, 'depends_on', i.depends_on,
                'critical', i.critical, 'tenant', i.tenant, 'source_uri', i.source_uri, 'decided', i.decided,
                'reason', coalesce(i.reason, r.last_error ->> 'reason'), 'run_id', r.run_id, 'state', r.state,
                'outcome', r.outcome, 'ended', r.ended_at is not null, 'ended_at', r.ended_at, 'state_at', r.state_at,
                'created_at', r.created_at,
                'included', exists (
                    select from cutter_governance.approval_verdict v
                    where v.run_id = r.run_id and v.accepted and v.decision = 'include_failed'
                        and r.state like 'failed\_%' and v.not_after > clock_timestamp()
                        and not exists (select from cutter_governance.order_consumption
                                        where statement_sha256 = v.approval_sha256)
                        and (select count(*) = 0 from cutter_governance.approval_revocation
                             where approval_sha256 = v.approval_sha256)),
                'enacted', exists (
                    select from cutter_governance.gate_receipt g
                    where g.run_id = r.run_id and g.gate = 'IG_lifecycle_enact_execute' and g.sealed_at is not null),
                'kept_out', i.kept_out and cutter_governance.fn_item_kept_out(i),
                'latched', coalesce(l.stopped, false), 'latch_kind', case when l.stopped then l.kind end,
                'gate', a.gate, 'expires_at', a.expires_at,
                -- nobody can read a request before the worker has put it, a moment after the row
                'request_kb_id', (select o.kb_id from cutter_governance.outbox o
                                  where o.kb_id = a.kb_id and o.done_at is not null),
                'signed', coalesce(s.people, 0),
                'approved', s.people is not null and s.people >= cutter_governance.fn_approvals_needed(a.gate, a.tier),
                'queue', q.queue, 'queue_code', q.code, 'queue_kb_id', q.kb_id,
                'queue_state', q.state) order by i.position), '[]')
            from cutter_governance.batch_item i
            left join lateral (
                select * from cutter_governance.run n
                where n.batch_id = i.batch_id and n.document_id = i.document_id
                order by n.created_at desc, n.run_id desc limit 1) r
                on not coalesce(r.state like 'voided\_%' and r.ended_at < b.again_at, false)
            left join cutter_governance.stop_latch l on l.run_id = r.run_id
            left join cutter_governance.approval_request a
                on a.run_id = r.run_id and a.status = 'requested' and a.kb_id is not null
            -- to count is the costliest part of an item, and most items have no approval; `offset 0` makes PostgreSQL
            -- count once, and not once for each field
            left join lateral (
                select cutter_governance.fn_people_signed(a) as people
                where exists (select from cutter_governance.approval_verdict v
                              where v.run_id = a.run_id and v.gate = a.gate and v.accepted)
                offset 0) s
                on true
            left join cutter_governance.batch_queue q
                on q.batch_id = i.batch_id and q.document_id = i.document_id and q.left_at is null
            where i.batch_id = b.batch_id and i.document_id = any(coalesce(p_documents, array(
                select document_id from cutter_governance.batch_item where batch_id = p_batch_id)))))
    from cutter_governance.batch b where b.batch_id = p_batch_id
$$;

CREATE FUNCTION cutter_governance.fn_canonical_flat(p_record jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select '{' || string_agg(to_json(key)::text || ':' || value::text, ',' order by key collate "C") || '}'
    from jsonb_each(p_record)
$$;

CREATE FUNCTION cutter_governance.fn_catalog_keys() RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    spaces constant oid[] := array['public'::regnamespace, 'cutter_governance'::regnamespace, 'api'::regnamespace]::oid[];
    relations oid[];
    v_functions text;
    v_triggers text;
    v_relations text;
    v_tables text;
    v_grants text;
begin
    select concat(count(*), '.', bit_xor(hashtidextended(ctid, hashxidextended(xmin, oid::bigint)))) into v_functions
    from pg_proc where pronamespace = any (spaces);
    select concat(count(*), '.', bit_xor(hashtidextended(ctid, hashxidextended(xmin, oid::bigint)))),
        array_agg(oid) filter (where relkind in ('r', 'p', 'v', 'm', 'f'))
    into v_relations, relations
    from pg_class where relnamespace = any (spaces);
    select concat(count(*), '.', bit_xor(hashtidextended(ctid, hashxidextended(xmin, oid::bigint)))) into v_triggers
    from pg_trigger where tgrelid = any (relations) and not tgisinternal;
    v_tables := concat_ws(' ',
        (select concat(count(*), '.', bit_xor(hashtidextended(ctid, hashxidextended(xmin, attrelid::bigint << 16 | attnum))))
         from pg_attribute where attrelid = any (relations) and attnum > 0),
        (select concat(count(*), '.', bit_xor(hashtidextended(ctid, hashxidextended(xmin, oid::bigint))))
         from pg_attrdef where adrelid = any (relations)),
        (select concat(count(*), '.', bit_xor(hashtidextended(ctid, hashxidextended(xmin, oid::bigint))))
         from pg_constraint where conrelid = any (relations)),
        (select concat(count(*), '.', bit_xor(hashtidextended(ctid, hashxidextended(xmin, oid::bigint))))
         from pg_rewrite where ev_class = any (relations)),
        (select concat(count(*), '.', bit_xor(hashtidextended(ctid, hashxidextended(xmin, indexrelid::bigint))))
         from pg_index where indrelid = any (relations)));
    v_grants := cutter_governance.fn_role_key();
    -- the privileges of a function name roles, and its definition is written with their names
    return jsonb_build_object('functions', concat_ws(' ', v_functions, v_grants),
        'triggers', concat_ws(' ', v_functions, v_relations, v_triggers),
        'tables', concat_ws(' ', v_functions, v_relations, v_tables),
        'grants', concat_ws(' ', v_functions, v_relations, v_tables, v_grants));
end
$$;

CREATE FUNCTION cutter_governance.fn_check_backup() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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

CREATE FUNCTION cutter_governance.fn_check_form() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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

CREATE FUNCTION cutter_governance.fn_check_gate_of_row() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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

CREATE FUNCTION cutter_governance.fn_check_receipt() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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

CREATE FUNCTION cutter_governance.fn_check_run_of_row() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
            where c.change_set_id = coalesce(new.cross_reference_change_set_id, (
                select v.change_set_id from cutter_governance.verify_result v
                where v.verify_result_id = new.cross_reference_verify_result_id));
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

CREATE FUNCTION cutter_governance.fn_check_run_of_rows() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_runs text[];
begin
    if tg_table_name = 'manifest_unit_block' then
        -- Not a join: the planner cannot know that all rows have one envelope, and would read all envelopes for many rows.
        select array_agg(distinct coalesce((
            select e.run_id from cutter_governance.manifest_envelope e where e.envelope_id = i.envelope_id), ''))
        into v_runs from (select distinct envelope_id from inserted) as i;
    else
        select array_agg(distinct run_id) into v_runs from inserted;
    end if;
    if exists (
        select from unnest(v_runs) as written (run_id)
        where not exists (
            select from cutter_governance.gate_receipt r
            where r.opened_xid = pg_current_xact_id() and r.sealed_at is null and r.prev_hash <> ''
                and r.run_id = written.run_id and r.gate = any (tg_argv)))
    then
        raise exception '% on %: none of % of its run is open in this transaction', tg_op, tg_table_name,
            array_to_string(tg_argv, ', ') using errcode = 'CU007';
    end if;
    return null;
end
$$;

CREATE FUNCTION cutter_governance.fn_check_void() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    if (select closed_at from cutter_governance.void_record where run_id = new.run_id) is null then
        raise exception 'void of %: not closed', new.run_id using errcode = 'CU009';
    end if;
    return null;
end
$$;

CREATE FUNCTION cutter_governance.fn_decision_make(p_run cutter_governance.run, p_epoch cutter_governance.policy_epoch) RETURNS uuid
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_decision uuid;
begin
    select coalesce((
        select p.review_decision_id from cutter_governance.prepared_decision p
        where p.batch_id = p_run.batch_id and p.document_id = p_run.document_id and p_run.mode = 'live'
            and p.actor = p_epoch.lifecycle_group and not exists (
                select from cutter_governance.review_decision d where d.review_decision_id = p.review_decision_id)
        order by p.created_at desc limit 1), gen_random_uuid()) into v_decision;
    insert into cutter_governance.review_decision (
        review_decision_id, run_id, type, manifest_id, actor, cut_change_set_ref, prior_review_decision_id, created_by)
    select v_decision, p_run.run_id, 'lifecycle_enactment', c.manifest_id, p_epoch.lifecycle_group, c.change_set_id,
        c.review_decision_id, session_user
    from cutter_governance.cut_change_set c where c.run_id = p_run.run_id;
    return v_decision;
end
$$;

CREATE FUNCTION cutter_governance.fn_decisions_prepare(p_batch_id text, p_document_ids text[]) RETURNS jsonb
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    with asked as (
        select distinct wanted.document_id from unnest(p_document_ids) as wanted (document_id)
        join cutter_governance.run r on r.batch_id = p_batch_id || '-dryrun' and r.document_id = wanted.document_id
            and r.outcome = 'rehearsed'
    ), fresh as (
        select distinct on (p.document_id) p.document_id, p.review_decision_id
        from cutter_governance.prepared_decision p join asked using (document_id)
        where p.batch_id = p_batch_id and p.created_at > clock_timestamp() - interval '11 hours'
            and not exists (
                select from cutter_governance.review_decision d where d.review_decision_id = p.review_decision_id)
        order by p.document_id, p.created_at desc
    ), made as (
        insert into cutter_governance.prepared_decision (review_decision_id, batch_id, document_id, actor, created_by)
        select gen_random_uuid(), p_batch_id, asked.document_id, epoch.lifecycle_group, session_user
        from asked, (select lifecycle_group from cutter_governance.policy_epoch order by number desc limit 1) as epoch
        where asked.document_id not in (select document_id from fresh)
        returning document_id, review_decision_id)
    select coalesce(jsonb_object_agg(document_id, review_decision_id), '{}')
    from (select * from fresh union all select * from made) as ready
$$;

CREATE FUNCTION cutter_governance.fn_definition_keep(p_dimension text, p_key text, p_detail jsonb) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_fingerprint text := cutter_governance.fn_digest(p_detail::text);
begin
    -- the second of two gates that see a new definition does not wait for the first one's end
    if pg_try_advisory_xact_lock(hashtext('cutter.definitions')) then
        insert into cutter_governance.definition_snapshot values (v_fingerprint, p_detail) on conflict do nothing;
        insert into cutter_governance.definition_cache values (p_dimension, p_key, v_fingerprint) on conflict do nothing;
    end if;
    return v_fingerprint;
end
$$;

CREATE FUNCTION cutter_governance.fn_definition_pins() RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    keys jsonb := cutter_governance.fn_catalog_keys();
    pins jsonb;
    v_dimension text;
begin
    select jsonb_object_agg(c.dimension, c.fingerprint) into pins
    from jsonb_each_text(keys) as k
    join cutter_governance.definition_cache c on c.dimension = k.key and c.catalog_key = k.value;
    foreach v_dimension in array array['functions', 'triggers', 'tables', 'grants']
    loop
        if pins -> v_dimension is null then
            pins := coalesce(pins, '{}') || jsonb_build_object(v_dimension,
                cutter_governance.fn_definition_read(v_dimension, keys ->> v_dimension));
        end if;
    end loop;
    return pins;
end
$$;

CREATE FUNCTION cutter_governance.fn_definition_read(p_dimension text, p_key text) RETURNS text
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select cutter_governance.fn_definition_keep(p_dimension, p_key, case p_dimension
        when 'functions' then cutter_governance.fn_function_definitions()
        when 'triggers' then cutter_governance.fn_trigger_definitions()
        when 'tables' then cutter_governance.fn_table_definitions()
        else cutter_governance.fn_grant_definitions() end)
$$;

CREATE FUNCTION cutter_governance.fn_digest(p_text text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    RETURN encode(sha256(convert_to(p_text, 'UTF8'::name)), 'hex'::text);

CREATE FUNCTION cutter_governance.fn_document_at(p_address text) RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select d.doc_code from public.source_document d where d.address_docprefix = split_part(p_address, '/', 1) collate "C"
$$;

CREATE FUNCTION cutter_governance.fn_document_of_change(p_change_set_id uuid) RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select r.document_id from cutter_governance.cut_change_set c
    join cutter_governance.run r on r.run_id = c.run_id
    where c.change_set_id = p_change_set_id
$$;

CREATE TABLE public.unit_version (
    id uuid NOT NULL,
    unit_id uuid NOT NULL,
    body text NOT NULL,
    content_hash text NOT NULL,
    version_seq integer NOT NULL,
    lifecycle_status text DEFAULT 'draft'::text NOT NULL,
    content_profile jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    created_by text NOT NULL,
    enacted_at timestamp with time zone,
    review_state text DEFAULT 'none'::text NOT NULL,
    source_version_id uuid NOT NULL,
    document_order integer NOT NULL,
    title text NOT NULL,
    unit_kind text NOT NULL,
    section_type text NOT NULL,
    publication_type text,
    owner_ref text NOT NULL,
    parent_unit_id uuid,
    continues_unit_id uuid,
    enacted_by uuid,
    effective_from date,
    effective_until date,
    ended_by uuid,
    ended_at timestamp with time zone,
    withdrawn_at timestamp with time zone,
    withdrawn_reason text,
    CONSTRAINT unit_version_document_order_check CHECK ((document_order > 0)),
    CONSTRAINT unit_version_enacted_is_whole CHECK ((((lifecycle_status = 'draft'::text) = (effective_from IS NULL)) AND ((lifecycle_status = 'draft'::text) = (enacted_at IS NULL)) AND ((lifecycle_status <> 'draft'::text) OR (enacted_by IS NULL)))),
    CONSTRAINT unit_version_end_is_whole CHECK ((((lifecycle_status = ANY (ARRAY['superseded'::text, 'retired'::text])) = (effective_until IS NOT NULL)) AND ((effective_until IS NULL) = (ended_by IS NULL)) AND ((effective_until IS NULL) = (ended_at IS NULL)))),
    CONSTRAINT unit_version_ends_after_it_begins CHECK ((effective_until >= effective_from)),
    CONSTRAINT unit_version_hash_of_body CHECK ((content_hash = encode(sha256(convert_to(body, 'UTF8'::name)), 'hex'::text))),
    CONSTRAINT unit_version_lifecycle CHECK ((lifecycle_status = ANY (ARRAY['draft'::text, 'enacted'::text, 'superseded'::text, 'retired'::text]))),
    CONSTRAINT unit_version_version_seq_check CHECK ((version_seq > 0)),
    CONSTRAINT unit_version_withdrawn_draft CHECK ((((withdrawn_at IS NULL) = (withdrawn_reason IS NULL)) AND ((withdrawn_at IS NULL) OR (lifecycle_status = 'draft'::text))))
);

CREATE FUNCTION cutter_governance.fn_draft_line(p_version public.unit_version) RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
    select concat('draft ', p_version.id, ' ', p_version.version_seq, ' ', p_version.content_hash, ' ',
        encode(sha256(convert_to(cutter_governance.fn_version_line(p_version.id), 'UTF8')), 'hex'))
$$;

CREATE FUNCTION cutter_governance.fn_drift(p_expected jsonb, p_observed jsonb) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    name text;
    before jsonb;
    after jsonb;
begin
    foreach name in array array['base', 'source', 'functions', 'triggers', 'tables', 'grants', 'row_count', 'row_content',
        'review_decision']
    loop
        before := p_expected -> name;
        after := p_observed -> name;
        if before is null or before = after or (name = 'review_decision' and after @> before) then
            continue;
        end if;
        return jsonb_build_object('dimension', name, 'expected', before, 'observed', after,
            'fingerprint', cutter_governance.fn_digest(p_observed::text),
            'diff', cutter_governance.fn_drift_diff(
                coalesce((select detail from cutter_governance.definition_snapshot where fingerprint = before #>> '{}'), before),
                coalesce((select detail from cutter_governance.definition_snapshot where fingerprint = after #>> '{}'), after)));
    end loop;
    return null;
end
$$;

CREATE FUNCTION cutter_governance.fn_drift_diff(p_expected jsonb, p_observed jsonb) RETURNS jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select coalesce(jsonb_agg(line), '[]') from (
        select name || ': ' || case
            when before is null then 'appeared'
            when after is null then 'disappeared'
            when jsonb_typeof(before) = 'object' and jsonb_typeof(after) = 'object' then (
                select string_agg(key || ' ' || left(coalesce(before ->> key, '(none)'), 200) || ' → '
                    || left(coalesce(after ->> key, '(none)'), 200), ', ' order by key)
                from (select jsonb_object_keys(before) as key union select jsonb_object_keys(after)) as keys
                where before -> key is distinct from after -> key)
            else left(before #>> '{}', 200) || ' → ' || left(after #>> '{}', 200) end as line
        from (
            select coalesce(b.key, a.key) as name, b.value as before, a.value as after
            from jsonb_each(case jsonb_typeof(p_expected) when 'object' then p_expected else jsonb_build_object('value', p_expected) end) as b
            full join jsonb_each(case jsonb_typeof(p_observed) when 'object' then p_observed else jsonb_build_object('value', p_observed) end) as a
                on a.key = b.key
            where a.value is distinct from b.value
            order by 1 limit 40) as differing) as lines
$$;

CREATE FUNCTION cutter_governance.fn_drift_look(p_run_id text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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

CREATE FUNCTION cutter_governance.fn_drift_note(p_run_id text, p_survey jsonb) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    update cutter_governance.run r
    set last_error = coalesce(r.last_error, '{}') || jsonb_build_object(
        'at', cutter_governance.fn_utc(clock_timestamp()), 'report',
        coalesce(cutter_governance.fn_drift(cutter_governance.fn_expected_pins(p_run_id), p_survey),
            jsonb_build_object('dimension', 'none', 'diff', '[]'::jsonb))
        || jsonb_build_object('fingerprint', cutter_governance.fn_digest(p_survey::text)))
    where r.run_id = p_run_id
$$;

CREATE FUNCTION cutter_governance.fn_effect_pins(p_effect text, p_before jsonb, p_result jsonb) RETURNS jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select case p_effect
        when 'none' then p_before
        when 'units_created' then (p_before - 'row_content') || jsonb_build_object(
            'row_count', (p_before ->> 'row_count')::integer + (p_result -> 'pins' ->> 'units_created')::integer)
        when 'decision_recorded' then (p_before - 'review_decision') || jsonb_build_object('review_decision',
            jsonb_build_object('count', (p_before -> 'review_decision' ->> 'count')::integer + 1))
        when 'units_enacted' then (p_before - array['row_content_enacted', 'base'])
            || jsonb_build_object('row_content', p_before -> 'row_content_enacted')
        else jsonb_build_object('functions', 'unknown effect') end
$$;

CREATE FUNCTION cutter_governance.fn_effect_policy() RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select p.body
    from cutter_governance.effect_policy e
    join cutter_governance.governing_policy p on p.sha256 = e.sha256
    order by e.number desc limit 1
$$;

CREATE FUNCTION cutter_governance.fn_effect_policy_install(p_body text, p_instead_of text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_sha text := cutter_governance.fn_digest(p_body);
    v_newest text;
begin
    -- Two installations at once would both see the same policy in force.
    lock table cutter_governance.effect_policy in share row exclusive mode;
    select e.sha256 into v_newest from cutter_governance.effect_policy e order by e.number desc limit 1;
    if v_newest = v_sha then
        return v_sha;
    end if;
    if v_newest is distinct from p_instead_of then
        raise exception 'the effect policy in force is %, not %', v_newest, coalesce(p_instead_of, 'none')
            using errcode = 'CU023';
    end if;
    insert into cutter_governance.governing_policy (sha256, body) values (v_sha, p_body) on conflict do nothing;
    insert into cutter_governance.effect_policy (sha256, installed_by) values (v_sha, session_user);
    return v_sha;
end
$$;

CREATE FUNCTION cutter_governance.fn_enact_refusal(p_review_decision_id uuid, p_change_set_id uuid, p_target_lifecycle text, p_dry_run boolean) RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select case
        when p_target_lifecycle not in ('enacted', 'retired') then 'refused_target'
        when not exists (
            select from cutter_governance.review_decision d
            join cutter_governance.cut_change_set c on c.run_id = d.run_id
            where d.review_decision_id = p_review_decision_id and d.type = 'lifecycle_enactment' and d.verdict = 'PASS'
                and c.change_set_id = p_change_set_id) then 'refused_review_decision'
        when not p_dry_run and not exists (
            select from cutter_governance.approval_consumption c
            where c.consumed_xid = pg_current_xact_id() and c.review_decision_id = p_review_decision_id)
            then 'refused_not_approved_here' end
$$;

CREATE TABLE public.enactment (
    run_id text NOT NULL,
    source_document_ref text NOT NULL,
    n integer NOT NULL,
    operation_kind text NOT NULL,
    source_version_id uuid NOT NULL,
    change_set_id uuid NOT NULL,
    base_run_id text,
    base_receipt_hash text,
    effective_from date NOT NULL,
    enacted_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT enactment_base_is_whole CHECK ((((operation_kind = 'first_cut'::text) = (base_run_id IS NULL)) AND ((base_run_id IS NULL) = (base_receipt_hash IS NULL)) AND ((n = 1) = (base_run_id IS NULL)))),
    CONSTRAINT enactment_n_check CHECK ((n > 0)),
    CONSTRAINT enactment_operation_kind_check CHECK ((operation_kind = ANY (ARRAY['first_cut'::text, 'revision'::text, 'correction'::text, 'repeal'::text])))
);

CREATE FUNCTION cutter_governance.fn_enactment_of(p_change_set_id uuid) RETURNS public.enactment
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    enacted public.enactment;
begin
    select * into enacted from public.enactment where change_set_id = p_change_set_id;
    if found then
        return enacted;
    end if;
    insert into public.enactment (
        run_id, source_document_ref, n, operation_kind, source_version_id, change_set_id, base_run_id,
        base_receipt_hash, effective_from)
    select r.run_id, s.source_document_ref, coalesce(b.n, 0) + 1, r.operation_kind, s.id, p_change_set_id, r.base_run_id,
        r.base_receipt_hash, coalesce(s.effective_from, case r.operation_kind when 'correction' then b.effective_from end,
            (clock_timestamp() at time zone 'UTC')::date)
    from cutter_governance.cut_change_set c
    join cutter_governance.run r on r.run_id = c.run_id
    join public.source_version s on s.id = r.source_version_id
    left join public.enactment b on b.run_id = r.base_run_id
    where c.change_set_id = p_change_set_id
    returning * into enacted;
    return enacted;
end
$$;

CREATE FUNCTION cutter_governance.fn_ended_by_people_at(p_run_id text) RETURNS timestamp with time zone
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select max(greatest(
        (select max(e.at) from cutter_governance.audit_event e where e.chain = other.run_id and e.kind = 'stop'),
        (select max(o.consumed_at) from cutter_governance.order_consumption o
         where o.run_id = other.run_id and o.decision in ('reject', 'void'))))
    from cutter_governance.run r
    join cutter_governance.run other on other.batch_id = r.batch_id and other.document_id = r.document_id
        and other.run_id <> r.run_id
    where r.run_id = p_run_id
$$;

CREATE FUNCTION cutter_governance.fn_evidence_approvals(p_run_id text, p_at timestamp with time zone) RETURNS jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    AS $$
    with verdict as (
        select v.* from cutter_governance.approval_verdict v where v.run_id = p_run_id and v.recorded_at <= p_at)
    select jsonb_build_object(
        'requests', (
            select coalesce(jsonb_agg(to_jsonb(q) - 'after_pins' order by q.requested_at, q.request_id), '[]')
            from cutter_governance.approval_request q where q.run_id = p_run_id),
        'verdicts', (select coalesce(jsonb_agg(to_jsonb(v) - 'statement' order by v.id), '[]') from verdict v),
        'signed', (
            select coalesce(jsonb_agg(jsonb_build_object('approval_sha256', v.approval_sha256,
                'body', encode(s.body, 'base64'), 'signature', encode(s.signature, 'base64')) order by v.id), '[]')
            from verdict v join cutter_governance.signed_statement s on s.verdict_id = v.id
            -- cutter_read alone can record any number of others
            where v.approval_sha256 in (
                select n.approval_sha256 from cutter_governance.approval_consumption n where n.run_id = p_run_id
                union all (
                    select o.statement_sha256 from cutter_governance.order_consumption o
                    where o.run_id = p_run_id and o.consumed_at <= p_at
                    order by o.consumed_at desc, o.statement_sha256 desc limit 100))),
        'consumptions', (
            select coalesce(jsonb_agg(to_jsonb(n) - 'consumed_xid' order by n.gate, n.slot), '[]')
            from cutter_governance.approval_consumption n where n.run_id = p_run_id),
        'revocations', (
            select coalesce(jsonb_agg(to_jsonb(x) order by x.approval_sha256), '[]')
            from cutter_governance.approval_revocation x
            where x.approval_sha256 in (select v.approval_sha256 from verdict v) and x.recorded_at <= p_at),
        'orders', (
            select coalesce(jsonb_agg(to_jsonb(o) order by o.consumed_at, o.statement_sha256), '[]')
            from cutter_governance.order_consumption o where o.run_id = p_run_id and o.consumed_at <= p_at),
        'acknowledgements', (
            select coalesce(jsonb_agg(to_jsonb(k) - 'after_pins' order by k.id), '[]')
            from cutter_governance.drift_acknowledgement k where k.run_id = p_run_id and k.recorded_at <= p_at),
        'epochs', (
            select coalesce(jsonb_agg(to_jsonb(p) order by p.number), '[]') from cutter_governance.policy_epoch p
            where p.sha256 in (select v.policy_sha256 from verdict v where v.accepted)))
$$;

CREATE FUNCTION cutter_governance.fn_evidence_effects(p_run_id text, p_at timestamp with time zone, p_seq bigint) RETURNS jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    AS $$
    select jsonb_build_object(
        'refusals', (
            select coalesce(jsonb_agg(to_jsonb(m) order by m.id), '[]')
            from cutter_governance.message_refusal m where m.run_id = p_run_id and m.at <= p_at),
        'actions', (
            select coalesce(jsonb_agg(to_jsonb(a) order by a.id), '[]')
            from cutter_governance.action_receipt a where a.run_id = p_run_id and a.at <= p_at),
        'documents', (
            select coalesce(jsonb_agg(jsonb_build_object('kb_id', o.kb_id, 'kind', o.kind, 'subject', o.subject,
                'sha256', o.sha256, 'done_at', o.done_at) order by o.id), '[]')
            from cutter_governance.outbox o where o.run_id = p_run_id and o.done_at <= p_at),
        'events', (
            select coalesce(jsonb_agg(to_jsonb(e) - 'run_id' - 'at' order by e.seq), '[]')
            from cutter_governance.audit_event e where e.chain = p_run_id and e.seq <= p_seq),
        'voids', (
            select coalesce(jsonb_agg(to_jsonb(v) - 'opened_xid'), '[]')
            from cutter_governance.void_record v where v.run_id = p_run_id),
        'policies', (
            select coalesce(jsonb_agg(to_jsonb(p) - 'first_used_at' order by p.sha256), '[]')
            from cutter_governance.governing_policy p
            where p.sha256 in (
                select g.policy ->> 'sha256' from cutter_governance.gate_receipt g
                where g.run_id = p_run_id and g.sealed_at is not null and g.gate <> 'IG_closeout'
                union all select a.report -> 'policy' ->> 'sha256' from cutter_governance.gate_attempt a
                where a.run_id = p_run_id and a.started_at <= p_at
                union all select a.request_metadata -> 'policy' ->> 'sha256' from cutter_governance.action_receipt a
                where a.run_id = p_run_id and a.at <= p_at
                union all select v.policy ->> 'sha256' from cutter_governance.void_record v where v.run_id = p_run_id)))
$$;

CREATE FUNCTION cutter_governance.fn_evidence_gates(p_run_id text, p_at timestamp with time zone, p_closing boolean, p_attempt integer) RETURNS jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    AS $$
    select jsonb_build_object(
        'receipts', (
            select coalesce(jsonb_agg(jsonb_build_object('gate', g.gate, 'opened_at', g.opened_at, 'sealed_at', g.sealed_at,
                'prev_hash', g.prev_hash, 'receipt_hash', g.receipt_hash, 'sealed_body', g.sealed_body) order by k.ordinal), '[]')
            from cutter_governance.gate_receipt g join cutter_governance.gate_catalogue k on k.gate = g.gate
            where g.run_id = p_run_id and g.sealed_at is not null and g.gate <> 'IG_closeout'),
        'attempts', (
            select coalesce(jsonb_agg(to_jsonb(a) order by a.started_at, a.gate, a.n), '[]')
            from cutter_governance.gate_attempt a
            where a.run_id = p_run_id and a.started_at <= p_at
                and not (p_closing and a.gate = 'IG_closeout' and a.n = p_attempt)))
$$;

CREATE FUNCTION cutter_governance.fn_evidence_outputs(p_run_id text) RETURNS jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    AS $$
    select jsonb_build_object(
        'outputs', jsonb_build_object(
            'change_set', (select to_jsonb(s) from cutter_governance.cut_change_set s where s.run_id = p_run_id),
            'affected_rows', (select count(*) from cutter_governance.cut_change_set_affected_row a
                              join cutter_governance.cut_change_set s on s.change_set_id = a.change_set_id
                              where s.run_id = p_run_id),
            'verify_result', (select to_jsonb(x) from cutter_governance.verify_result x
                              join cutter_governance.cut_change_set s on s.change_set_id = x.change_set_id
                              where s.run_id = p_run_id),
            'review_decisions', (select coalesce(jsonb_agg(to_jsonb(d) order by d.created_at, d.review_decision_id), '[]')
                                 from cutter_governance.review_decision d where d.run_id = p_run_id)),
        'signatures', (
            select coalesce(jsonb_agg(to_jsonb(g) order by g.signature_kind), '[]')
            from cutter_governance.dot_pair_signature g
            where g.signature_id in (
                select e.signature_id from cutter_governance.cut_change_set s
                join cutter_governance.dot_pair_signature e on e.cross_reference_change_set_id = s.change_set_id
                where s.run_id = p_run_id
                union all select v.signature_id from cutter_governance.cut_change_set s
                join cutter_governance.verify_result x on x.change_set_id = s.change_set_id
                join cutter_governance.dot_pair_signature v on v.cross_reference_verify_result_id = x.verify_result_id
                where s.run_id = p_run_id)))
$$;

CREATE FUNCTION cutter_governance.fn_expected_pins(p_run_id text) RETURNS jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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

CREATE FUNCTION cutter_governance.fn_fingerprint_after(p_run cutter_governance.run) RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
    select case when p_run.operation_kind = 'first_cut'
        then cutter_governance.fn_rows_fingerprint(p_run.docprefix, 'enacted') ->> 'fingerprint'
        else (select cutter_governance.fn_digest(coalesce(string_agg(line, E'\n' order by address), ''))
              from (
            select u.canonical_address as address,
                concat(u.canonical_address, ' ', encode(sha256(convert_to(v.body, 'UTF8')), 'hex'), ' ', v.content_hash,
                    ' ', after.status, ' ', after.status, ' ', u.id, ' ', v.id, ' ', v.unit_id, ' ', v.id, ' ',
                    v.version_seq, ' ', v.parent_unit_id, ' ', v.unit_kind, ' ', v.owner_ref, ' ', u.conformance_status,
                    ' ', public.fn_version_profile(v), ' ', v.content_profile, ' ',
                    (select count(*) from public.unit_version o where o.unit_id = u.id), ' ',
                    concat_ws(' ', v.source_version_id, v.document_order, v.title, v.unit_kind, v.section_type,
                        v.publication_type, v.owner_ref, v.parent_unit_id)) as line
            from public.information_unit u
            left join cutter_governance.revision_row w on w.run_id = p_run.run_id and w.unit_id = u.id
            join public.unit_version v on v.id = coalesce(w.version_id, u.version_anchor_ref)
            cross join lateral (select case w.operation when 'repeal' then 'retired' when 'revise' then 'enacted'
                when 'create' then 'enacted' else u.lifecycle_status end as status) as after
            where u.canonical_address >= p_run.docprefix || '/' collate "C"
                and u.canonical_address < p_run.docprefix || '0' collate "C" and u.deleted_at is null) as rows) end
$$;

CREATE FUNCTION cutter_governance.fn_json_problem(p_value jsonb, p_bytes integer) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    RETURN CASE WHEN (octet_length((p_value)::text) > p_bytes) THEN format('is longer than %s bytes'::text, p_bytes) WHEN jsonb_path_exists(p_value, 'strict $.**{16 to last}'::jsonpath) THEN 'is nested more than 15 deep'::text WHEN jsonb_path_exists(p_value, 'strict $.**?(@.type() == "number" && (@ > 9007199254740991 || @ < -9007199254740991))'::jsonpath) THEN 'has a number beyond 2^53'::text ELSE NULL::text END;

CREATE FUNCTION cutter_governance.fn_key_is(p_value jsonb, p_key text, p_type text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    RETURN ((COALESCE(jsonb_typeof((p_value -> p_key)), 'null'::text) = 'null'::text) OR CASE p_type WHEN 'digest'::text THEN ((jsonb_typeof((p_value -> p_key)) = 'string'::text) AND ((p_value ->> p_key) ~ '^[0-9a-f]{64}$'::text)) WHEN 'count'::text THEN ((jsonb_typeof((p_value -> p_key)) = 'number'::text) AND ((p_value ->> p_key) ~ '^[0-9]{1,15}$'::text)) WHEN 'line'::text THEN ((jsonb_typeof((p_value -> p_key)) = 'string'::text) AND (length((p_value ->> p_key)) <= 500)) ELSE (jsonb_typeof((p_value -> p_key)) = p_type) END);

CREATE FUNCTION cutter_governance.fn_keys_problem(p_value jsonb, p_declared jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    RETURN CASE WHEN (jsonb_typeof(p_value) IS DISTINCT FROM 'object'::text) THEN 'is no object'::text ELSE (SELECT format('has a %s that is no %s'::text, declared.key, declared.type) AS format FROM jsonb_each_text(fn_keys_problem.p_declared) declared(key, type) WHERE (NOT cutter_governance.fn_key_is(fn_keys_problem.p_value, declared.key, declared.type)) ORDER BY declared.key LIMIT 1) END;

CREATE FUNCTION cutter_governance.fn_policy_problem(p_policy jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    RETURN CASE WHEN (jsonb_typeof(p_policy) IS DISTINCT FROM 'object'::text) THEN 'has a policy that is no object'::text WHEN (EXISTS (SELECT FROM jsonb_object_keys(fn_policy_problem.p_policy) key(key) WHERE (key.key <> ALL (ARRAY['sha256'::text, 'decisions'::text])))) THEN 'has a policy with other keys than sha256 and decisions'::text WHEN ((jsonb_typeof((p_policy -> 'sha256'::text)) IS DISTINCT FROM 'string'::text) OR ((p_policy ->> 'sha256'::text) !~ '^([0-9a-f]{64})?$'::text)) THEN 'has a policy whose sha256 is not 64 hex characters'::text WHEN (jsonb_typeof((p_policy -> 'decisions'::text)) IS DISTINCT FROM 'array'::text) THEN 'has a policy whose decisions are no array'::text WHEN (jsonb_array_length((p_policy -> 'decisions'::text)) > 100) THEN 'has a policy with more than 100 decisions'::text ELSE (SELECT format('has decision %s of its policy, which %s'::text, one.number, judged.problem) AS format FROM jsonb_array_elements((fn_policy_problem.p_policy -> 'decisions'::text)) WITH ORDINALITY one(decision, number), LATERAL (SELECT CASE WHEN (jsonb_typeof(one.decision) <> 'object'::text) THEN 'is no object'::text WHEN (EXISTS (SELECT FROM jsonb_object_keys(one.decision) key(key) WHERE (key.key <> ALL (ARRAY['connector'::text, 'operation'::text, 'verdict'::text, 'tier'::text, 'rule'::text, 'line'::text, 'why'::text])))) THEN 'has unknown keys'::text WHEN (((one.decision ->> 'connector'::text) IS NULL) OR ((one.decision ->> 'operation'::text) IS NULL)) THEN 'lacks its connector or operation'::text ELSE cutter_governance.fn_keys_problem(one.decision, '{"why": "string", "line": "count", "rule": "line", "tier": "line", "verdict": "line", "connector": "line", "operation": "line"}'::jsonb) END AS problem) judged WHERE (judged.problem IS NOT NULL) ORDER BY one.number LIMIT 1) END;

CREATE FUNCTION cutter_governance.fn_queues_problem(p_queues jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    RETURN CASE WHEN (jsonb_typeof(p_queues) IS DISTINCT FROM 'array'::text) THEN 'is no array'::text ELSE (SELECT 'has an entry that is not queue, slots and used'::text AS problem FROM jsonb_array_elements(fn_queues_problem.p_queues) one(value) WHERE ((jsonb_typeof(one.value) <> 'object'::text) OR (jsonb_typeof((one.value -> 'queue'::text)) IS DISTINCT FROM 'string'::text) OR ((one.value -> 'slots'::text) IS NULL) OR ((one.value -> 'used'::text) IS NULL) OR (cutter_governance.fn_keys_problem(one.value, '{"used": "count", "slots": "count"}'::jsonb) IS NOT NULL)) LIMIT 1) END;

CREATE FUNCTION cutter_governance.fn_report_problem(p_report jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    RETURN COALESCE(cutter_governance.fn_json_problem(p_report, 262144), cutter_governance.fn_keys_problem(p_report, '{"diff": "array", "gate": "line", "pins": "object", "tier": "string", "notes": "array", "cpu_ms": "number", "history": "object", "approvals": "array", "dimension": "string", "invariants": "array", "fingerprint": "line"}'::jsonb), (SELECT 'has an invariant that is not name, ok, observed and expected'::text AS problem FROM jsonb_array_elements((fn_report_problem.p_report -> 'invariants'::text)) one(value) WHERE ((jsonb_typeof(one.value) <> 'object'::text) OR (jsonb_typeof((one.value -> 'name'::text)) IS DISTINCT FROM 'string'::text) OR (jsonb_typeof((one.value -> 'ok'::text)) IS DISTINCT FROM 'boolean'::text) OR (jsonb_typeof((one.value -> 'observed'::text)) IS DISTINCT FROM 'string'::text) OR (jsonb_typeof((one.value -> 'expected'::text)) IS DISTINCT FROM 'string'::text)) LIMIT 1), (SELECT format('has %s that are no texts'::text, key.key) AS format FROM unnest(ARRAY['notes'::text, 'approvals'::text, 'diff'::text]) key(key), LATERAL jsonb_array_elements((fn_report_problem.p_report -> key.key)) one(value) WHERE (jsonb_typeof(one.value) <> 'string'::text) LIMIT 1), (SELECT format('has a pin %s of another type'::text, pin.key) AS format FROM jsonb_each((fn_report_problem.p_report -> 'pins'::text)) pin(key, value) WHERE ((jsonb_typeof(pin.value) <> 'null'::text) AND CASE WHEN (pin.key ~ '_(sha256|digest|artifact|id)$'::text) THEN (jsonb_typeof(pin.value) <> 'string'::text) WHEN (pin.key = ANY (ARRAY['candidate_count'::text, 'units_created'::text, 'units_enacted'::text])) THEN (NOT cutter_governance.fn_key_is((fn_report_problem.p_report -> 'pins'::text), pin.key, 'count'::text)) ELSE false END) LIMIT 1), CASE WHEN (p_report ? 'policy'::text) THEN cutter_governance.fn_policy_problem((p_report -> 'policy'::text)) ELSE NULL::text END);

CREATE FUNCTION cutter_governance.fn_rule_problem(p_rule jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    RETURN CASE WHEN (jsonb_typeof(p_rule) IS DISTINCT FROM 'object'::text) THEN 'has a policy that is no object'::text WHEN ((p_rule <> '{}'::jsonb) AND (COALESCE((p_rule ->> 'sha256'::text), ''::text) !~ '^[0-9a-f]{64}$'::text)) THEN 'has a policy without its sha256'::text ELSE cutter_governance.fn_keys_problem(p_rule, '{"line": "count", "rule": "line", "sha256": "digest"}'::jsonb) END;

CREATE FUNCTION cutter_governance.fn_form_problem(p_form text, p_value jsonb) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    RETURN CASE WHEN (p_value IS NULL) THEN NULL::text ELSE CASE p_form WHEN 'digest'::text THEN CASE WHEN ((p_value #>> '{}'::text[]) !~ '^[0-9a-f]{64}$'::text) THEN 'is no sha256 of 64 hex characters'::text ELSE NULL::text END WHEN 'document id'::text THEN CASE WHEN (((p_value #>> '{}'::text[]) !~ '^([A-Za-z0-9_-][A-Za-z0-9._-]*/)*[A-Za-z0-9_-][A-Za-z0-9._-]*\.md$'::text) OR (length((p_value #>> '{}'::text[])) > 512)) THEN 'is no name of a document'::text ELSE NULL::text END WHEN 'name'::text THEN CASE WHEN (length((p_value #>> '{}'::text[])) > 100) THEN 'is longer than 100 characters'::text ELSE NULL::text END WHEN 'line'::text THEN CASE WHEN (length((p_value #>> '{}'::text[])) > 512) THEN 'is longer than 512 characters'::text ELSE NULL::text END WHEN 'target'::text THEN CASE WHEN (length((p_value #>> '{}'::text[])) > 2048) THEN 'is longer than 2048 characters'::text ELSE NULL::text END WHEN 'rules'::text THEN CASE WHEN (octet_length((p_value #>> '{}'::text[])) > 65536) THEN 'is longer than 64 KiB'::text ELSE NULL::text END WHEN 'document'::text THEN CASE WHEN (octet_length((p_value #>> '{}'::text[])) > 16777216) THEN 'is longer than 16 MiB'::text ELSE NULL::text END WHEN 'statement'::text THEN COALESCE(cutter_governance.fn_json_problem(p_value, 131072), cutter_governance.fn_keys_problem(p_value, '{}'::jsonb)) WHEN 'findings'::text THEN COALESCE(cutter_governance.fn_json_problem(p_value, 262144), CASE WHEN (jsonb_typeof(p_value) <> 'array'::text) THEN 'is no array'::text ELSE NULL::text END) WHEN 'error'::text THEN COALESCE(cutter_governance.fn_json_problem(p_value, 524288), cutter_governance.fn_keys_problem(p_value, '{"at": "line", "gate": "line", "reason": "line", "report": "object", "outcome": "line"}'::jsonb)) WHEN 'caps'::text THEN COALESCE(cutter_governance.fn_json_problem(p_value, 16384), cutter_governance.fn_keys_problem(p_value, '{"soft_seconds": "object", "retry_delays_seconds": "array"}'::jsonb), (SELECT format('has a %s that is no number'::text, cap.key) AS format FROM jsonb_each(fn_form_problem.p_value) cap(key, value) WHERE ((cap.key <> ALL (ARRAY['soft_seconds'::text, 'retry_delays_seconds'::text])) AND (jsonb_typeof(cap.value) <> ALL (ARRAY['number'::text, 'boolean'::text, 'null'::text]))) LIMIT 1)) WHEN 'queues'::text THEN COALESCE(cutter_governance.fn_json_problem(p_value, 16384), cutter_governance.fn_queues_problem(p_value)) WHEN 'report'::text THEN cutter_governance.fn_report_problem(p_value) WHEN 'policy'::text THEN COALESCE(cutter_governance.fn_json_problem(p_value, 262144), cutter_governance.fn_policy_problem(p_value)) WHEN 'request'::text THEN COALESCE(cutter_governance.fn_json_problem(p_value, 16384), cutter_governance.fn_keys_problem(p_value, '{"kind": "line", "risk": "line", "attempts": "count", "recipient": "line"}'::jsonb), CASE WHEN (COALESCE(jsonb_typeof((p_value -> 'policy'::text)), 'null'::text) <> 'null'::text) THEN cutter_governance.fn_rule_problem((p_value -> 'policy'::text)) ELSE NULL::text END) WHEN 'response'::text THEN COALESCE(cutter_governance.fn_json_problem(p_value, 16384), cutter_governance.fn_keys_problem(p_value, '{"sha256": "digest", "taken_utc": "line", "message_ts": "line", "size_bytes": "count", "restore_point": "object"}'::jsonb), CASE WHEN (((p_value ->> 'taken_utc'::text) IS NOT NULL) AND (NOT pg_input_is_valid((p_value ->> 'taken_utc'::text), 'timestamptz'::text))) THEN 'has a taken_utc that is no time'::text ELSE NULL::text END) ELSE ('has an unknown form '::text || p_form) END END;

CREATE FUNCTION cutter_governance.fn_function_definitions() RETURNS jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select jsonb_object_agg(p.oid::regprocedure::text, jsonb_build_object(
        'source_md5', md5(coalesce(p.prosrc, '') || coalesce(pg_get_function_sqlbody(p.oid), '')),
        'owner', pg_get_userbyid(p.proowner), 'security_definer', p.prosecdef,
        'settings', array_to_string(p.proconfig, '; '), 'language', l.lanname, 'volatility', p.provolatile,
        'strict', p.proisstrict, 'arguments', coalesce(pg_get_function_arguments(p.oid), ''),
        'result', p.prorettype::regtype::text,
        'acl', (select string_agg(one::text, ',' order by one::text collate "C")
                from unnest(coalesce(p.proacl, acldefault('f', p.proowner))) as one)))
    from pg_proc p
    join pg_language l on l.oid = p.prolang
    where p.pronamespace in ('public'::regnamespace, 'cutter_governance'::regnamespace, 'api'::regnamespace)
$$;

CREATE FUNCTION cutter_governance.fn_gate_approvers(p_run_id text, p_gate text) RETURNS jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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

CREATE FUNCTION cutter_governance.fn_gate_attempt(p_run_id text, p_gate text, p_worker text, p_lease_seconds integer) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_run cutter_governance.run;
    receipt cutter_governance.gate_receipt;
    v_n integer;
    v_lease numeric;
    v_cap jsonb;
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
    v_cap := v_run.caps -> 'soft_seconds' -> (select phase from cutter_governance.gate_catalogue where gate = p_gate);
    v_lease := greatest(0, least(p_lease_seconds, case jsonb_typeof(v_cap) when 'number' then v_cap::numeric end));
    loop
        select coalesce(max(n), 0) + 1 into v_n from cutter_governance.gate_attempt
        where run_id = p_run_id and gate = p_gate;
        insert into cutter_governance.gate_attempt (run_id, gate, n, lease_owner, lease_expires_at)
        values (p_run_id, p_gate, v_n, left(p_worker, 200), clock_timestamp() + make_interval(secs => v_lease))
        on conflict do nothing;
        exit when found;
    end loop;
    return answer || jsonb_build_object('status', 'registered', 'attempt', v_n);
end
$$;

CREATE FUNCTION cutter_governance.fn_gate_claim(p_run_id text, p_gate text, p_attempt integer, p_payload_sha256 text, p_rehearse boolean, p_policy jsonb) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    receipt cutter_governance.gate_receipt;
begin
    insert into cutter_governance.gate_receipt (
        run_id, gate, attempt, role, rehearsal, payload_sha256, prev_hash, before_pins, policy)
    values (p_run_id, p_gate, p_attempt, session_user, p_rehearse, p_payload_sha256, '', '{}', p_policy - 'text')
    on conflict (run_id, gate) do nothing;
    if found then
        return null;
    end if;
    select * into receipt from cutter_governance.gate_receipt where run_id = p_run_id and gate = p_gate;
    if receipt.sealed_at is null then
        return jsonb_build_object('status', 'refused', 'code', 'open_already');
    end if;
    return jsonb_build_object('receipt', cutter_governance.fn_receipt_view(receipt), 'status',
        case when receipt.payload_sha256 = p_payload_sha256 then 'sealed' else 'conflict' end);
end
$$;

CREATE FUNCTION cutter_governance.fn_gate_close(p_run_id text, p_gate text, p_attempt integer, p_result jsonb, p_kb_id text DEFAULT NULL::text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
    v_refusal := case when v_run.ended_at is not null then 'run_ended' else coalesce(
        cutter_governance.fn_pins_refusal(v_run, step, p_result -> 'pins'),
        -- the closeout asks for the report of each gate
        case when p_kb_id is null and not receipt.rehearsal then 'report_not_named' end) end;
    if v_refusal is not null then
        return jsonb_build_object('status', 'refused', 'code', v_refusal);
    end if;
    if step.pins_source then
        update cutter_governance.run r
        set docprefix = p_result -> 'pins' ->> 'docprefix', source_document_id = (p_result -> 'pins' ->> 'source_document_id')::uuid,
            source_version_id = (p_result -> 'pins' ->> 'source_version_id')::uuid,
            operation_kind = coalesce(p_result -> 'pins' ->> 'operation_kind', 'first_cut'),
            base_run_id = p_result -> 'pins' ->> 'base_run_id',
            base_source_version_id = (p_result -> 'pins' ->> 'base_source_version_id')::uuid,
            base_receipt_hash = p_result -> 'pins' ->> 'base_receipt_hash'
        where r.run_id = p_run_id
        returning * into v_run;
    end if;
    v_drift := cutter_governance.fn_receipts_drift(p_run_id);
    if v_drift is not null then
        return jsonb_build_object('status', 'drift', 'drift', v_drift);
    end if;
    v_survey := cutter_governance.fn_survey_after(v_run, receipt.before_pins);
    v_drift := cutter_governance.fn_drift(
        cutter_governance.fn_effect_pins(step.effect, receipt.before_pins, p_result), v_survey);
    if v_drift is not null then
        return jsonb_build_object('status', 'drift', 'drift', v_drift || jsonb_build_object('fingerprint',
            cutter_governance.fn_digest(cutter_governance.fn_survey_at_rest(receipt.before_pins, v_survey)::text)));
    end if;
    receipt := cutter_governance.fn_receipt_seal(receipt, p_result, v_survey);
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

CREATE FUNCTION cutter_governance.fn_gate_needs(p_gate text) RETURNS jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select jsonb_object_agg(tier,
        cutter_governance.fn_approvals_needed(cutter_governance.fn_gate_sovereign(p_gate), tier))
    from unnest(array['low', 'medium', 'high']) as tier
$$;

CREATE FUNCTION cutter_governance.fn_gate_open(p_run_id text, p_gate text, p_attempt integer, p_payload_sha256 text, p_approvals jsonb DEFAULT '[]'::jsonb, p_rehearse boolean DEFAULT false, p_policy jsonb DEFAULT NULL::jsonb) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    step cutter_governance.gate_catalogue;
    v_run cutter_governance.run;
    latch cutter_governance.stop_latch;
    v_answer jsonb;
    v_prev text;
    v_refusal text;
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
    -- one leg A and one enactment at a time, across all runs and workers
    if not cutter_governance.fn_lane_take(step.lane, p_run_id) then
        return jsonb_build_object('status', 'lane_busy');
    end if;
    select * into latch from cutter_governance.stop_latch where run_id = p_run_id for share;
    if not found then
        return jsonb_build_object('status', 'refused', 'code', 'unknown_run');
    end if;
    v_answer := cutter_governance.fn_gate_claim(p_run_id, p_gate, p_attempt, p_payload_sha256, p_rehearse, p_policy);
    if v_answer is not null then
        return v_answer;
    end if;
    select * into v_run from cutter_governance.run where run_id = p_run_id;
    v_answer := coalesce(
        cutter_governance.fn_stop_answer(v_run, latch), cutter_governance.fn_backup_answer(step, p_rehearse));
    if v_answer is not null then
        return v_answer;
    end if;
    v_prev := cutter_governance.fn_prev_hash(p_run_id, p_gate);
    v_refusal := cutter_governance.fn_gate_refusal(v_run, step, p_attempt, v_prev, p_rehearse, p_policy);
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
    v_answer := cutter_governance.fn_gate_survey(v_run, step);
    if v_answer ->> 'status' = 'opened' then
        -- the claim may have waited for the run's row, and what was recorded meanwhile is before the opening
        update cutter_governance.gate_receipt
        set prev_hash = v_prev, before_pins = v_answer -> 'before_pins', opened_at = clock_timestamp()
        where run_id = p_run_id and gate = p_gate;
        perform cutter_governance.fn_policy_note(p_policy);
    end if;
    return v_answer;
end
$$;

CREATE FUNCTION cutter_governance.fn_gate_refusal(p_run cutter_governance.run, p_step cutter_governance.gate_catalogue, p_attempt integer, p_prev_hash text, p_rehearse boolean, p_policy jsonb) RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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

CREATE FUNCTION cutter_governance.fn_gate_refuse(p_run_id text, p_gate text, p_attempt integer, p_outcome text, p_reason text, p_report jsonb DEFAULT NULL::jsonb, p_state text DEFAULT NULL::text, p_retry_seconds double precision DEFAULT NULL::double precision) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
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
$_$;

CREATE FUNCTION cutter_governance.fn_gate_sovereign(p_gate text) RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select s.sovereign from cutter_governance.gate_catalogue g, cutter_governance.gate_catalogue s
    where g.gate = p_gate and s.sovereign is not null
    order by s.ordinal > g.ordinal, abs(s.ordinal - g.ordinal) limit 1
$$;

CREATE FUNCTION cutter_governance.fn_gate_survey(p_run cutter_governance.run, p_step cutter_governance.gate_catalogue) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_docprefix text := coalesce(p_run.docprefix,
        (select address_docprefix from public.source_document where doc_code = p_run.document_id), '');
    -- a gate that changes the law reads all of its texts first, whatever the row versions say
    v_rows jsonb := case when p_step.effect in ('units_created', 'units_enacted')
        then jsonb_build_object('versions', cutter_governance.fn_rows_versions(v_docprefix))
            || cutter_governance.fn_rows_fingerprint(v_docprefix)
        else cutter_governance.fn_rows_seen(p_run.run_id, v_docprefix) end;
    -- a statement of its own: the comparison reads what the survey has just stored
    v_survey jsonb := cutter_governance.fn_survey(p_run.run_id, v_docprefix, v_rows);
    v_drift jsonb := cutter_governance.fn_drift(cutter_governance.fn_expected_pins(p_run.run_id), v_survey);
    v_base text := case when not p_step.pins_source then cutter_governance.fn_base_problem(p_run) end;
begin
    if v_drift is null and v_base is not null then
        v_drift := jsonb_build_object('dimension', 'base', 'expected', p_run.base_run_id, 'observed', v_survey -> 'base',
            'fingerprint', cutter_governance.fn_digest(v_survey::text), 'diff', jsonb_build_array(v_base));
    end if;
    if v_drift is not null then
        return jsonb_build_object('status', 'drift', 'drift', v_drift);
    end if;
    if p_step.effect = 'units_enacted' then
        v_survey := v_survey || jsonb_build_object('row_content_enacted',
            cutter_governance.fn_fingerprint_after(p_run));
    end if;
    return jsonb_build_object('status', 'opened', 'before_pins', v_survey || jsonb_build_object('row_versions', v_rows -> 'versions'),
        'docprefix', v_docprefix,
        'now', cutter_governance.fn_utc(clock_timestamp()));
end
$$;

CREATE FUNCTION cutter_governance.fn_governance_guard() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    perform from cutter_governance.gate_receipt r
    where r.opened_xid = pg_current_xact_id() and r.sealed_at is null and r.prev_hash <> '' and r.gate = any (tg_argv);
    if not found then
        raise exception '% on %: none of % is open in this transaction', tg_op, tg_table_name,
            array_to_string(tg_argv, ', ') using errcode = 'CU007';
    end if;
    return new;
end
$$;

CREATE FUNCTION cutter_governance.fn_grant_definitions() RETURNS jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select jsonb_object_agg(name, said) from (
        -- In one order, and what an unwritten list stands for written out: a restored dump keeps neither, nor does a
        -- grant that was taken back.
        select name, (select string_agg(one::text, ',' order by one::text collate "C") from unnest(acl) as one) as said
        from (
            select 'table ' || c.relname as name,
                coalesce(c.relacl, acldefault(case c.relkind when 'S' then 's' else 'r' end::"char", c.relowner)) as acl
            from pg_class c
            where c.relkind in ('r', 'p', 'v', 'm', 'f', 'S')
                and c.relnamespace in ('public'::regnamespace, 'cutter_governance'::regnamespace, 'api'::regnamespace)
            union all
            select 'column ' || c.relname || '.' || a.attname, a.attacl
            from pg_attribute a join pg_class c on c.oid = a.attrelid
            where a.attacl is not null
                and c.relnamespace in ('public'::regnamespace, 'cutter_governance'::regnamespace, 'api'::regnamespace)
            union all
            select 'schema ' || n.nspname, coalesce(n.nspacl, acldefault('n', n.nspowner))
            from pg_namespace n where n.nspname in ('public', 'cutter_governance', 'api')
            union all
            select 'database', coalesce(d.datacl, acldefault('d', d.datdba))
            from pg_database d where d.datname = current_database()
            union all
            select 'default of ' || pg_get_userbyid(a.defaclrole) || ' ' || a.defaclobjtype::text || ' '
                || coalesce(n.nspname, 'everywhere'), a.defaclacl
            from pg_default_acl a left join pg_namespace n on n.oid = a.defaclnamespace
        ) as lists
        union all
        select 'role ' || r.rolname, concat_ws(' ', r.rolsuper, r.rolinherit, r.rolcreaterole, r.rolcreatedb,
            r.rolreplication, r.rolbypassrls,
            (select string_agg(g.rolname, ',' order by g.rolname) from pg_auth_members m
             join pg_roles g on g.oid = m.roleid where m.member = r.oid),
            'held by ' || (select string_agg(g.rolname, ',' order by g.rolname) from pg_auth_members m
             join pg_roles g on g.oid = m.member where m.roleid = r.oid))
        from pg_roles r
        where r.rolname in ('cutter_owner', 'cutter_read', 'cutter_backup', 'cutter_exec', 'cutter_verify',
            'cutter_operator', 'directus', 'cutter_api', 'cutter_desk')
        union all
        select name, settings from (
            select 'settings of ' || coalesce(r.rolname, 'everyone')
                    || case s.setdatabase when 0 then '' else ' here' end as name,
                cutter_governance.fn_settings_that_affect_a_write(s.setconfig) as settings
            from pg_db_role_setting s
            left join pg_roles r on r.oid = s.setrole
            where s.setdatabase in (0, (select oid from pg_database where datname = current_database()))
                and (s.setrole = 0 or r.rolname in ('cutter_owner', 'cutter_exec'))) as set_for_writers
        where settings is not null
    ) as grants
$$;

CREATE FUNCTION cutter_governance.fn_grant_matrix(p_roles text[], p_verbs text[], p_schemas text[]) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_key text := concat_ws(' ', cutter_governance.fn_catalog_keys() ->> 'grants',
        cutter_governance.fn_digest(jsonb_build_array(p_roles, p_verbs, p_schemas)::text));
    v_matrix jsonb;
begin
    select s.detail into v_matrix
    from cutter_governance.definition_cache c join cutter_governance.definition_snapshot s using (fingerprint)
    where c.dimension = 'matrix' and c.catalog_key = v_key;
    if v_matrix is null then
        v_matrix := cutter_governance.fn_grant_matrix_read(p_roles, p_verbs, p_schemas);
        perform cutter_governance.fn_definition_keep('matrix', v_key, v_matrix);
    end if;
    return v_matrix;
end
$$;

CREATE FUNCTION cutter_governance.fn_grant_matrix_read(p_roles text[], p_verbs text[], p_schemas text[]) RETURNS jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    with relations as materialized (
        select c.oid, c.relacl, c.relnamespace::regnamespace::text || '.' || c.relname as object from pg_class c
        where c.relkind in ('r', 'p', 'v', 'm', 'f') and c.relnamespace = any (p_schemas::regnamespace[])),
    functions as materialized (
        select p.oid, coalesce(p.proacl, acldefault('f', p.proowner)) as acl,
            p.pronamespace::regnamespace::text || '.' || p.proname as object
        from pg_proc p where p.pronamespace = any (p_schemas::regnamespace[])),
    cells as materialized (
        select r.role, c.object, v.verb, case when r.role = 'PUBLIC'
            then exists (select from aclexplode(c.relacl) a where a.grantee = 0 and a.privilege_type = v.verb)
            else has_table_privilege(r.role, c.oid, v.verb)
                or (v.verb in ('SELECT', 'INSERT', 'UPDATE', 'REFERENCES') and has_any_column_privilege(r.role, c.oid, v.verb))
            end as granted
        from unnest(p_roles) as r (role) cross join relations c cross join unnest(p_verbs) as v (verb)
        union all
        select r.role, f.object, 'EXECUTE', case when r.role = 'PUBLIC'
            then exists (select from aclexplode(f.acl) a where a.grantee = 0 and a.privilege_type = 'EXECUTE')
            else has_function_privilege(r.role, f.oid, 'EXECUTE') end
        from unnest(p_roles) as r (role) cross join functions f)
    select jsonb_build_object('cells', count(*), 'sha256', cutter_governance.fn_digest('[' || coalesce(string_agg(
            concat('[', to_json(role), ',', to_json(object), ',', to_json(verb), ',', to_json(granted), ']'), ','
            order by role collate "C", object collate "C", verb collate "C", granted), '') || ']'),
        'granted', coalesce(jsonb_agg(jsonb_build_array(role, object, verb) order by role collate "C", object collate "C",
            verb collate "C") filter (where granted), '[]'),
        'relations', (select coalesce(jsonb_agg(object order by object collate "C"), '[]') from relations),
        'functions', (select coalesce(jsonb_agg(distinct object), '[]') from functions))
    from cells
$$;

CREATE TABLE cutter_governance.batch_item (
    batch_id text NOT NULL,
    document_id text NOT NULL,
    "position" integer NOT NULL,
    priority integer NOT NULL,
    depends_on text[] DEFAULT '{}'::text[] NOT NULL,
    critical boolean DEFAULT false NOT NULL,
    tenant text NOT NULL,
    source_uri text,
    marking_profile text,
    decided text,
    reason text,
    kept_out boolean DEFAULT false NOT NULL,
    scope text,
    actor text,
    CONSTRAINT batch_item_actor_check CHECK ((actor ~ '^[A-Za-z0-9._@-]{1,64}$'::text)),
    CONSTRAINT batch_item_decided_check CHECK ((decided = ANY (ARRAY['busy'::text, 'skipped'::text, 'blocked'::text, 'voided'::text]))),
    CONSTRAINT batch_item_position_check CHECK (("position" > 0)),
    CONSTRAINT batch_item_scope_check CHECK ((scope = ANY (ARRAY['all'::text, 'enacted_only'::text])))
);

CREATE FUNCTION cutter_governance.fn_item_kept_out(p_item cutter_governance.batch_item) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select p_item.kept_out and not exists (
        select from public.enactment e
        where e.source_document_ref = p_item.document_id and e.enacted_at > coalesce((
            select max(r.created_at) from cutter_governance.run r
            where r.document_id = p_item.document_id and r.mode = 'live' and r.state like 'failed\_%'), '-infinity'))
$$;

CREATE FUNCTION cutter_governance.fn_lane_take(p_lane text, p_run_id text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_seats constant integer := 4;
    v_until timestamptz := clock_timestamp() + interval '1 second';
    v_has_lane boolean := false;
begin
    if p_lane is null then
        return true;
    end if;
    -- `fn_lanes` reads from this name which run holds the lane
    perform set_config('application_name', left(p_run_id, 63), true);
    if p_lane = 'write' then
        perform from cutter_governance.lane where name = 'write' for update skip locked;
        if found then
            return true;
        end if;
        -- a seat is given back at the end of the transaction
        perform from generate_series(1, v_seats) as seat
        where pg_try_advisory_xact_lock(hashtext('cutter.lane.write'), seat) limit 1;
        if not found then
            return false;
        end if;
    end if;
    -- only a lock of the transaction itself names its process: one that was waited for is let go and taken again
    for v_try in 1 .. 20 loop
        perform from cutter_governance.lane where name = p_lane for update skip locked;
        v_has_lane := found;
        exit when v_has_lane or (p_lane = 'write' and clock_timestamp() > v_until);
        begin
            if p_lane = 'write' then
                -- taken back at the end of this block
                perform set_config('lock_timeout', '1s', true);
            end if;
            perform from cutter_governance.lane where name = p_lane for update;
            raise exception 'the lane is free';
        exception
            when lock_not_available then
                exit;
            when raise_exception then
                null;
        end;
    end loop;
    return v_has_lane;
end
$$;

CREATE FUNCTION cutter_governance.fn_lanes() RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    sessions jsonb;
    lanes jsonb;
begin
    if to_regprocedure('cutter_guard.fn_sessions()') is null then
        select jsonb_agg(jsonb_build_object('pid', pid, 'role', usename, 'name', application_name)) into sessions
        from pg_stat_activity where datname = current_database();
    else
        execute 'select cutter_guard.fn_sessions()' into sessions;
    end if;
    select jsonb_agg(jsonb_build_object('lane', l.name, 'gate', g.gate, 'held', held.holder, 'waiting', waiting.runs)
        order by g.ordinal) into lanes
    from cutter_governance.lane l
    join cutter_governance.gate_catalogue g on g.lane = l.name
    left join lateral (
        select jsonb_build_object('pid', k.pid, 'role', s.one ->> 'role', 'since', coalesce(s.one ->> 'since',
                cutter_governance.fn_utc(a.started_at)), 'run_id', r.run_id, 'document_id', r.document_id,
                'worker', a.lease_owner) as holder
        from pg_locks k
        join jsonb_array_elements(sessions) as s (one) on (s.one ->> 'pid')::integer = k.pid
        left join cutter_governance.run r on r.run_id = s.one ->> 'name'
        left join lateral (select lease_owner, started_at from cutter_governance.gate_attempt
                           where run_id = r.run_id and gate = g.gate order by n desc limit 1) a on true
        where k.locktype = 'transactionid' and k.transactionid = l.xmax and k.mode = 'ExclusiveLock' and k.granted
        limit 1) held on true
    cross join lateral (
        select coalesce(jsonb_agg(r.run_id order by r.run_id), '[]') as runs
        from cutter_governance.run r
        join lateral (select outcome from cutter_governance.gate_attempt a
                      where a.run_id = r.run_id and a.gate = g.gate order by n desc limit 1) newest on true
        where r.ended_at is null and r.state = g.from_state
            and (newest.outcome = 'lane_busy'
                or newest.outcome is null and held.holder is not null
                    and r.run_id is distinct from held.holder ->> 'run_id')) waiting
    where g.gate is not null;
    return coalesce(lanes, '[]');
end
$$;

CREATE FUNCTION cutter_governance.fn_leg_b_problem(p_run cutter_governance.run) RETURNS text
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
    if p_run.operation_kind <> 'first_cut' then
        return cutter_governance.fn_revision_record_problem(p_run, change_set);
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

CREATE FUNCTION cutter_governance.fn_newest_runs(p_limit integer) RETURNS SETOF cutter_governance.run
    LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 20
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_run cutter_governance.run;
    v_left integer := p_limit;
begin
    select * into v_run from cutter_governance.run order by created_at desc, run_id desc limit 1;
    while v_run.run_id is not null and v_left > 0
    loop
        if v_run.run_id = cutter_governance.fn_run_of_document(v_run.document_id) then
            v_left := v_left - 1;
            return next v_run;
        end if;
        select * into v_run from cutter_governance.run
        where (created_at, run_id) < (v_run.created_at, v_run.run_id) order by created_at desc, run_id desc limit 1;
    end loop;
end
$$;

CREATE FUNCTION cutter_governance.fn_notification_again(p_channel text) RETURNS integer
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    with again as (
        update cutter_governance.notification_delivery
        set done_at = null, outcome = null, attempts = 0, next_eligible_at = clock_timestamp()
        where channel = p_channel and outcome = 'given_up' and card is not null returning id)
    select count(*)::integer from again
$$;

CREATE FUNCTION cutter_governance.fn_notification_caught_up(p_channel text, p_until timestamp with time zone) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    update cutter_governance.notification_channel set caught_up_at = greatest(caught_up_at, least(p_until, served_at))
    where name = p_channel
$$;

CREATE FUNCTION cutter_governance.fn_notification_channel(p_channel text, p_kinds text[], p_days integer) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    served cutter_governance.notification_channel;
begin
    insert into cutter_governance.notification_channel as c (name, kinds) values (p_channel, p_kinds)
    on conflict (name) do update set served_at = clock_timestamp(), kinds = p_kinds,
        caught_up_at = case when c.kinds = p_kinds then c.caught_up_at end
    returning * into served;
    return jsonb_build_object('until', served.served_at, 'since', greatest(
        served.served_at - make_interval(days => p_days), served.caught_up_at - interval '1 hour'));
end
$$;

CREATE FUNCTION cutter_governance.fn_notification_done(p_id bigint, p_reference text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    entry cutter_governance.notification_delivery;
    told cutter_governance.notification;
begin
    update cutter_governance.notification_delivery
    set done_at = clock_timestamp(), outcome = 'delivered', reference = left(p_reference, 200), in_doubt = false,
        last_error = null
    where id = p_id and done_at is null returning * into entry;
    if found then
        select * into told from cutter_governance.notification where id = entry.notification_id;
        perform cutter_governance.fn_action_note(told.run_id, case when told.phase <> 'told' then told.place end,
            'notification', 'post', entry.channel || '/' || told.subject || '/' || told.phase,
            cutter_governance.fn_digest(entry.card), jsonb_build_object('kind', told.kind, 'attempts', entry.attempts),
            jsonb_build_object('reference', entry.reference), false, 'a later message says more');
    end if;
end
$$;

CREATE FUNCTION cutter_governance.fn_notification_enter(p_id bigint, p_channel text, p_card text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    told cutter_governance.notification;
    asked cutter_governance.notification_delivery;
    v_late boolean := p_card is null;
begin
    select * into told from cutter_governance.notification where id = p_id;
    if told.phase = 'answered' then
        select d.* into asked from cutter_governance.notification_delivery d
        join cutter_governance.notification q on q.id = d.notification_id and q.phase = 'asked'
        where q.subject = told.subject and d.channel = p_channel for update of d;
        -- a question that is still in doubt may have arrived: its answer waits
        v_late := asked.outcome is distinct from 'delivered' and (asked.done_at is not null or asked.in_doubt is not true);
        update cutter_governance.notification_delivery
        set done_at = clock_timestamp(), outcome = 'overtaken', last_error = 'answered_before'
        where id = asked.id and v_late and done_at is null;
    end if;
    insert into cutter_governance.notification_delivery (notification_id, channel, card, done_at, outcome)
    values (p_id, p_channel, p_card, case when v_late then clock_timestamp() end, case when v_late then 'overtaken' end)
    on conflict (notification_id, channel) do nothing;
    return found and not v_late;
end
$$;

CREATE FUNCTION cutter_governance.fn_notification_failed(p_id bigint, p_error text, p_in_doubt boolean, p_retry_seconds integer) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    update cutter_governance.notification_delivery
    set last_error = left(p_error, 100), in_doubt = p_in_doubt,
        next_eligible_at = clock_timestamp() + make_interval(secs => coalesce(p_retry_seconds, 0)),
        done_at = case when p_retry_seconds is null then clock_timestamp() end,
        outcome = case when p_retry_seconds is null then 'given_up' end
    where id = p_id and done_at is null;
    update cutter_governance.notification_delivery a
    set done_at = clock_timestamp(), outcome = 'overtaken', last_error = 'never_asked'
    from cutter_governance.notification_delivery d, cutter_governance.notification q, cutter_governance.notification n
    where d.id = p_id and d.outcome = 'given_up' and q.id = d.notification_id and q.phase = 'asked'
        and n.subject = q.subject and n.phase = 'answered' and a.notification_id = n.id and a.channel = d.channel
        and a.done_at is null;
$$;

CREATE FUNCTION cutter_governance.fn_notification_of_batch() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_at timestamptz := case
        when old.ended_at is null and new.ended_at is not null then new.ended_at
        when new.halted is not null and new.halted is distinct from old.halted then new.halted_at end;
begin
    if v_at is not null then
        insert into cutter_governance.notification (kind, phase, subject, batch_id, place)
        values ('batch', 'told', 'batch:' || new.batch_id || ':' || (extract(epoch from v_at) * 1000000)::bigint,
            new.batch_id, case when new.ended_at is not null then new.state else 'halted_' || new.halted end)
        on conflict (subject, phase) do nothing;
    end if;
    return null;
end
$$;

CREATE FUNCTION cutter_governance.fn_notification_of_enactment() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    insert into cutter_governance.notification (kind, phase, subject, run_id, place)
    values ('enacted', 'told', 'enactment:' || new.run_id, new.run_id, new.operation_kind)
    on conflict (subject, phase) do nothing;
    return null;
end
$$;

CREATE FUNCTION cutter_governance.fn_notification_of_request() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    if tg_op = 'INSERT' then
        insert into cutter_governance.notification (kind, phase, subject, run_id, place)
        select 'approval', 'asked', new.request_id::text, new.run_id, new.gate
        from cutter_governance.run r where r.run_id = new.run_id and r.mode = 'live'
        on conflict (subject, phase) do nothing;
    else
        insert into cutter_governance.notification (kind, phase, subject, run_id, place)
        select n.kind, 'answered', n.subject, n.run_id, n.place
        from cutter_governance.notification n where n.subject = new.request_id::text and n.phase = 'asked'
        on conflict (subject, phase) do nothing;
    end if;
    return null;
end
$$;

CREATE FUNCTION cutter_governance.fn_notification_of_run() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_stop jsonb := case when new.state like 'stopped\_policy\_%' and new.docprefix is not null then
        cutter_governance.fn_policy_stop(new.run_id) end;
    v_moved boolean := new.state is distinct from old.state;
    v_told text := case
        when v_moved and v_stop is null and new.state like 'stopped\_%' then 'stop'
        when v_moved and new.state like 'failed\_%' and new.batch_id is null then 'failure'
        when old.ended_at is null and new.ended_at is not null and new.batch_id is null
            and new.state not like 'failed\_%' and new.state not like 'voided\_%' then 'finished' end;
begin
    if v_moved and v_stop is not null then
        insert into cutter_governance.notification (kind, phase, subject, run_id, place)
        values ('policy_stop', 'asked', v_stop ->> 'stop', new.run_id, v_stop ->> 'gate')
        on conflict (subject, phase) do nothing;
    elsif v_told is not null then
        insert into cutter_governance.notification (kind, phase, subject, run_id, place)
        values (v_told, 'told', 'run:' || new.run_id || ':' || (extract(epoch from new.state_at) * 1000000)::bigint,
            new.run_id, coalesce(new.outcome, new.state))
        on conflict (subject, phase) do nothing;
    end if;
    insert into cutter_governance.notification (kind, phase, subject, run_id, place)
    select n.kind, 'answered', n.subject, n.run_id, n.place
    from cutter_governance.notification n
    where n.run_id = new.run_id and n.phase = 'asked' and (new.ended_at is not null
        or (n.kind = 'policy_stop' and n.subject is distinct from v_stop ->> 'stop'))
    on conflict (subject, phase) do nothing;
    return null;
end
$$;

CREATE FUNCTION cutter_governance.fn_notification_question(p_subject text, p_channel text) RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select coalesce(d.reference, '') from cutter_governance.notification_delivery d
    join cutter_governance.notification n on n.id = d.notification_id
    where n.subject = p_subject and n.phase = 'asked' and d.channel = p_channel and d.outcome = 'delivered'
$$;

CREATE FUNCTION cutter_governance.fn_notification_take(p_channel text, p_lease_seconds integer) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    entry cutter_governance.notification_delivery;
    told cutter_governance.notification;
begin
    select d.* into entry from cutter_governance.notification_delivery d
    join cutter_governance.notification n on n.id = d.notification_id
    where d.channel = p_channel and d.done_at is null and d.next_eligible_at <= clock_timestamp()
        and (n.phase <> 'answered' or cutter_governance.fn_notification_question(n.subject, d.channel) is not null)
    order by d.id limit 1 for update of d skip locked;
    if not found then
        return null;
    end if;
    update cutter_governance.notification_delivery
    set attempts = attempts + 1, in_doubt = true,
        next_eligible_at = clock_timestamp() + make_interval(secs => least(greatest(p_lease_seconds, 1), 600))
    where id = entry.id;
    select * into told from cutter_governance.notification where id = entry.notification_id;
    return jsonb_build_object('id', entry.id, 'kind', told.kind, 'phase', told.phase, 'subject', told.subject,
        'place', told.place, 'run_id', told.run_id, 'batch_id', told.batch_id, 'card', entry.card,
        'attempts', entry.attempts, 'in_doubt', entry.in_doubt,
        'question', cutter_governance.fn_notification_question(told.subject, p_channel),
        'created', extract(epoch from entry.created_at)::bigint, 'now', clock_timestamp(),
        'about', coalesce(
            (select jsonb_build_object('document_id', r.document_id, 'tenant', r.tenant, 'mode', r.mode)
             from cutter_governance.run r where r.run_id = told.run_id),
            (select jsonb_build_object('document_id', null, 'tenant', null, 'mode', b.mode)
             from cutter_governance.batch b where b.batch_id = told.batch_id)));
end
$$;

CREATE FUNCTION cutter_governance.fn_outbox_done(p_kb_id text, p_sha256 text, p_size integer, p_policy jsonb) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
    return cutter_governance.fn_run_published(entry.run_id, p_kb_id);
end
$$;

CREATE FUNCTION cutter_governance.fn_outbox_is_mine(p_entry cutter_governance.outbox) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select session_user = 'cutter_read' or (p_entry.body is null and exists (
        select from cutter_governance.gate_catalogue where gate = p_entry.subject and role = session_user))
$$;

CREATE FUNCTION cutter_governance.fn_outbox_name() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
begin
    if new.kb_id !~ (case
        when new.run_id is null then '/' || new.batch_id || '/.'
        else '-' || right(new.run_id, 12) || '/' || case new.kind
            when 'request' then 'SG' || case new.subject when 'SG_cut_authz' then 1 else 2 end || '-[a-z-]+-request-'
            when 'stop_route' then '(SG3-stop-route-report|STOP-quarantine)-'
            else (select report from cutter_governance.gate_catalogue where gate = new.subject) || '-' end || '[^/]+$' end)
    then
        raise exception '% is the name of another document than the % of %', left(new.kb_id, 300), new.kind,
            coalesce(new.run_id, new.batch_id) using errcode = 'CU021';
    end if;
    return new;
end
$_$;

CREATE FUNCTION cutter_governance.fn_outbox_rename(p_kb_id text, p_free text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
    entry cutter_governance.outbox;
    v_stem text := regexp_replace(p_kb_id, '(-other[0-9a-f]{1,12})?\.md$', '');
begin
    select * into entry from cutter_governance.outbox where kb_id = p_kb_id for update;
    if not found then
        raise exception 'no outbox row for %', p_kb_id using errcode = 'CU006';
    end if;
    if not cutter_governance.fn_outbox_is_mine(entry) then
        raise exception '% is not for % to put', p_kb_id, session_user using errcode = 'CU006';
    end if;
    if left(p_free, length(v_stem)) <> v_stem or substr(p_free, length(v_stem) + 1) !~ '^-other[0-9a-f]{1,12}\.md$' then
        raise exception '% is not another name of %', p_free, p_kb_id using errcode = 'CU006';
    end if;
    if entry.done_at is not null and not exists (
        select from cutter_governance.approval_request where kb_id = p_kb_id and status = 'requested')
    then
        raise exception '% was put already', p_kb_id using errcode = 'CU005';
    end if;
    if exists (select from cutter_governance.outbox where kb_id = p_free) then
        raise exception '% is the name of another document: nothing was overwritten', p_free using errcode = 'CU011';
    end if;
    update cutter_governance.outbox set kb_id = p_free, done_at = null, sha256 = null where id = entry.id;
    update cutter_governance.approval_request set kb_id = p_free where kb_id = p_kb_id;
    update cutter_governance.batch_queue set kb_id = p_free where kb_id = p_kb_id;
end
$_$;

CREATE FUNCTION cutter_governance.fn_outbox_waiting(p_run_id text) RETURNS SETOF cutter_governance.outbox
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select * from cutter_governance.outbox o
    where o.run_id = p_run_id and o.done_at is null and cutter_governance.fn_outbox_is_mine(o) order by o.id
$$;

CREATE FUNCTION cutter_governance.fn_people_signed(p_request cutter_governance.approval_request) RETURNS bigint
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select least(count(distinct v.fingerprint), count(distinct v.approver))
    from cutter_governance.fn_request_approvals(p_request) v
$$;

CREATE FUNCTION cutter_governance.fn_pins_name_base(p_run cutter_governance.run, p_pins jsonb) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select jsonb_build_object('kind', p_pins -> 'operation_kind', 'run', p_pins -> 'base_run_id',
            'version', p_pins -> 'base_source_version_id', 'receipt', p_pins -> 'base_receipt_hash')
        = jsonb_build_object('kind', case
                when e.run_id is null and s.change_kind = 'text' then null
                when e.run_id is null then 'no_base'
                when s.change_kind = 'text' then 'revision' else s.change_kind end, 'run', e.run_id,
            'version', e.source_version_id, 'receipt', g.receipt_hash)
    from public.source_version s
    left join lateral (
        select * from public.enactment n where n.source_document_ref = p_run.document_id order by n.n desc limit 1) e on true
    left join cutter_governance.gate_receipt g on g.run_id = e.run_id and g.gate = 'IG_lifecycle_enact_execute'
    where s.source_document_ref = p_run.document_id and s.id::text = p_pins ->> 'source_version_id'
$$;

CREATE FUNCTION cutter_governance.fn_pins_refusal(p_run cutter_governance.run, p_step cutter_governance.gate_catalogue, p_pins jsonb) RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select case
        when p_pins is null or jsonb_typeof(p_pins) <> 'object' then 'result_without_pins'
        when p_step.pins_source and not exists (
            select from public.source_document d
            join public.source_version v on v.source_document_ref = d.source_document_ref
            where d.doc_code = p_run.document_id and d.address_docprefix = p_pins ->> 'docprefix'
                and d.id::text = p_pins ->> 'source_document_id' and v.id::text = p_pins ->> 'source_version_id')
            then 'pins_not_registered'
        when p_step.pins_source and not cutter_governance.fn_pins_name_base(p_run, p_pins) then 'pins_not_on_base'
        when p_step.gate = 'IG_mark' and not string_to_array(nullif(p_pins ->> 'red_findings', 'none'), ' ')
            <@ cutter_governance.fn_accepted_findings(p_run.source_version_id) then 'red_finding_not_accepted'
        when exists (
            select from jsonb_each(cutter_governance.fn_run_pins(p_run.run_id)) as pinned
            where p_pins ? pinned.key and p_pins -> pinned.key <> pinned.value) then 'pins_contradict' end
$$;

CREATE FUNCTION cutter_governance.fn_policy_install(p_number integer, p_deployment_id uuid, p_body text, p_thresholds jsonb, p_tiers jsonb, p_lifecycle_group text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    newest cutter_governance.policy_epoch;
    v_sha text := cutter_governance.fn_digest(p_body);
begin
    -- shared by each gate that consumes approvals: after this, nothing is written that the epoch before approved
    perform from cutter_governance.lane where name = 'policy_epoch' for update;
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

CREATE FUNCTION cutter_governance.fn_policy_note(p_policy jsonb) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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

CREATE FUNCTION cutter_governance.fn_policy_refusal(p_run_id text, p_step cutter_governance.gate_catalogue, p_policy jsonb) RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
    select case
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
                and (cutter_governance.fn_gate_approvers(p_run_id, p_step.gate) ->> (d ->> 'tier'))::integer
                    < (cutter_governance.fn_gate_needs(p_step.gate) ->> (d ->> 'tier'))::integer)
            then 'policy_approval_missing' end
$_$;

CREATE FUNCTION cutter_governance.fn_policy_stop(p_run_id text) RETURNS jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
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
$_$;

CREATE FUNCTION cutter_governance.fn_prev_hash(p_run_id text, p_gate text) RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select case when before.gate is null then cutter_governance.fn_digest(p_run_id) else (
        select r.receipt_hash from cutter_governance.gate_receipt r
        where r.run_id = p_run_id and r.gate = before.gate and r.sealed_at is not null) end
    from cutter_governance.gate_catalogue c
    left join lateral (
        select b.gate from cutter_governance.gate_catalogue b
        where b.ordinal < c.ordinal order by b.ordinal desc limit 1) before on true
    where c.gate = p_gate
$$;

CREATE FUNCTION cutter_governance.fn_queue_enter(p_batch_id text, p_document_id text, p_queue text, p_state text, p_code text, p_reason text, p_kb_id text, p_body text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    if exists (select from cutter_governance.batch_queue where batch_id = p_batch_id and document_id = p_document_id
               and left_at is null and queue = p_queue and state = p_state and code = p_code) then
        return false;
    end if;
    perform cutter_governance.fn_queue_leave(p_batch_id, p_document_id, p_queue);
    insert into cutter_governance.batch_queue (batch_id, document_id, run_id, queue, state, code, reason, kb_id)
    values (p_batch_id, p_document_id, (
            select run_id from cutter_governance.run where batch_id = p_batch_id and document_id = p_document_id
            order by created_at desc, run_id desc limit 1),
        p_queue, p_state, left(p_code, 100), left(p_reason, 500), p_kb_id);
    if p_body is not null then
        insert into cutter_governance.outbox (batch_id, kind, subject, kb_id, body)
        values (p_batch_id, 'queue_entry', p_document_id, p_kb_id, p_body);
    end if;
    perform cutter_governance.fn_audit_append(p_batch_id, p_batch_id, 'queue_entered', jsonb_build_object(
        'document_id', p_document_id, 'queue', p_queue, 'state', p_state, 'code', left(p_code, 100), 'kb_id', p_kb_id));
    return true;
end
$$;

CREATE FUNCTION cutter_governance.fn_queue_leave(p_batch_id text, p_document_id text, p_as text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    update cutter_governance.batch_queue set left_at = clock_timestamp(), left_as = left(p_as, 100)
    where batch_id = p_batch_id and document_id = p_document_id and left_at is null;
    return found;
end
$$;

CREATE FUNCTION cutter_governance.fn_reached_state(p_run_id text) RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select coalesce((
        select c.to_state from cutter_governance.gate_receipt r
        join cutter_governance.gate_catalogue c on c.gate = r.gate
        where r.run_id = p_run_id and r.sealed_at is not null order by c.ordinal desc limit 1), 'pending')
$$;

CREATE TABLE cutter_governance.gate_receipt (
    run_id text NOT NULL,
    gate text NOT NULL,
    attempt integer NOT NULL,
    role text NOT NULL,
    rehearsal boolean DEFAULT false NOT NULL,
    payload_sha256 text NOT NULL,
    opened_xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    opened_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    prev_hash text NOT NULL,
    before_pins jsonb NOT NULL,
    after_pins jsonb,
    policy jsonb,
    result jsonb,
    pin_seq bigint,
    sealed_at timestamp with time zone,
    sealed_body text,
    receipt_hash text,
    row_versions text,
    CONSTRAINT gate_receipt_hash_of_body CHECK (((receipt_hash IS NULL) OR (receipt_hash = encode(sha256(convert_to((prev_hash || sealed_body), 'UTF8'::name)), 'hex'::text)))),
    CONSTRAINT gate_receipt_sealed_whole CHECK ((((sealed_at IS NULL) = (receipt_hash IS NULL)) AND ((sealed_at IS NULL) = (after_pins IS NULL)) AND ((sealed_at IS NULL) = (result IS NULL)) AND ((sealed_at IS NULL) = (sealed_body IS NULL))))
);

CREATE FUNCTION cutter_governance.fn_receipt_body(p_receipt cutter_governance.gate_receipt) RETURNS text
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select jsonb_build_object('version', 'receipt/1', 'run_id', p_receipt.run_id, 'gate', p_receipt.gate,
        'attempt', p_receipt.attempt, 'role', p_receipt.role, 'payload_sha256', p_receipt.payload_sha256,
        'before_pins', p_receipt.before_pins, 'after_pins', p_receipt.after_pins, 'policy', p_receipt.policy,
        'result', p_receipt.result)::text
$$;

CREATE FUNCTION cutter_governance.fn_receipt_immutable() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    if tg_op in ('DELETE', 'TRUNCATE') or old.sealed_at is not null then
        raise exception 'gate_receipt is immutable once sealed: % refused', tg_op using errcode = 'CU005';
    end if;
    return new;
end
$$;

CREATE FUNCTION cutter_governance.fn_receipt_seal(p_receipt cutter_governance.gate_receipt, p_result jsonb, p_after_pins jsonb) RETURNS cutter_governance.gate_receipt
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    receipt cutter_governance.gate_receipt := p_receipt;
begin
    receipt.result := p_result;
    receipt.before_pins := receipt.before_pins - 'row_versions';
    receipt.after_pins := p_after_pins - 'row_versions';
    receipt.sealed_body := cutter_governance.fn_receipt_body(receipt);
    update cutter_governance.gate_receipt
    set result = p_result, before_pins = receipt.before_pins, after_pins = receipt.after_pins,
        row_versions = p_after_pins ->> 'row_versions',
        sealed_at = clock_timestamp(), sealed_body = receipt.sealed_body,
        pin_seq = nextval('cutter_governance.pin_seq'),
        receipt_hash = cutter_governance.fn_digest(receipt.prev_hash || receipt.sealed_body)
    where run_id = receipt.run_id and gate = receipt.gate
    returning * into receipt;
    update cutter_governance.gate_attempt set finished_at = clock_timestamp(), outcome = 'passed'
    where run_id = receipt.run_id and gate = receipt.gate and n = receipt.attempt;
    return receipt;
end
$$;

CREATE FUNCTION cutter_governance.fn_receipt_view(p_receipt cutter_governance.gate_receipt) RETURNS jsonb
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select jsonb_build_object('run_id', p_receipt.run_id, 'gate', p_receipt.gate, 'attempt', p_receipt.attempt,
        'payload_sha256', p_receipt.payload_sha256, 'result', p_receipt.result, 'prev_hash', p_receipt.prev_hash,
        'receipt_hash', p_receipt.receipt_hash, 'before_pins', p_receipt.before_pins, 'after_pins', p_receipt.after_pins,
        'opened_at', cutter_governance.fn_utc(p_receipt.opened_at), 'sealed_at', cutter_governance.fn_utc(p_receipt.sealed_at),
        'role', p_receipt.role, 'policy', p_receipt.policy)
$$;

CREATE FUNCTION cutter_governance.fn_receipts_drift(p_run_id text) RETURNS jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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

CREATE FUNCTION cutter_governance.fn_refusal_record(p_run_id text, p_gate text, p_message text, p_code text, p_reason text) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    insert into cutter_governance.message_refusal (run_id, gate, message, code, reason)
    values (p_run_id, left(p_gate, 100), left(p_message, 100), left(p_code, 100), left(p_reason, 500))
$$;

CREATE FUNCTION cutter_governance.fn_request_approvals(p_request cutter_governance.approval_request) RETURNS SETOF cutter_governance.approval_verdict
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select v.* from cutter_governance.approval_verdict v
    where v.run_id = p_request.run_id and v.gate = p_request.gate and v.accepted and v.decision = 'approve'
        and (v.challenge = p_request.challenge or v.statement ->> 'binding' = 'tuple')
        and v.recorded_at >= p_request.requested_at and v.not_after > clock_timestamp()
        and v.policy_sha256 = (select e.sha256 from cutter_governance.policy_epoch e order by e.number desc limit 1)
        and not exists (select from cutter_governance.approval_revocation x where x.approval_sha256 = v.approval_sha256)
        and not exists (
            select from cutter_governance.gate_attempt t
            join cutter_governance.gate_catalogue c on c.gate = t.gate
            where t.run_id = v.run_id and c.sovereign = v.gate and t.outcome = 'approval_refused'
                and t.started_at >= v.recorded_at
                -- a refusal of another approval leaves this one, and too few people is nobody's fault
                and coalesce(t.report ->> 'approval_sha256', v.approval_sha256) = v.approval_sha256
                and t.reason not like 'threshold\_missing:%')
$$;

CREATE FUNCTION cutter_governance.fn_request_cancel() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    update cutter_governance.approval_request set status = 'canceled' where run_id = new.run_id and status = 'requested';
    return null;
end
$$;

CREATE FUNCTION cutter_governance.fn_request_decides() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_expected jsonb := cutter_governance.fn_expected_pins(new.run_id);
    v_as_pinned boolean := cutter_governance.fn_review_decision_pin(new.run_id) @> (v_expected -> 'review_decision');
begin
    update cutter_governance.review_decision set verdict = verdict
    where review_decision_id = new.review_decision_id and verdict = 'PENDING';
    if v_as_pinned then
        update cutter_governance.approval_request
        set pin_seq = nextval('cutter_governance.pin_seq'), after_pins = v_expected || jsonb_build_object(
            'review_decision', cutter_governance.fn_review_decision_pin(new.run_id))
        where request_id = new.request_id;
    end if;
    return null;
end
$$;

CREATE FUNCTION cutter_governance.fn_request_document(p_request_id uuid, p_kb_id text, p_body text, p_tier text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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

CREATE FUNCTION cutter_governance.fn_request_end(p_run_id text, p_gate text, p_status text, p_approval_sha256 text DEFAULT NULL::text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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

CREATE FUNCTION cutter_governance.fn_request_open(p_run_id text, p_gate text, p_ttl_seconds integer, p_change_set_id uuid) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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

CREATE FUNCTION cutter_governance.fn_request_raise(p_run_id text, p_gate text, p_tier text) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    update cutter_governance.approval_request set tier = p_tier
    where run_id = p_run_id and gate = p_gate and status = 'requested' and p_tier in ('low', 'medium', 'high')
        and array_position(array['low', 'medium', 'high'], p_tier)
            > coalesce(array_position(array['low', 'medium', 'high'], tier), 0)
$$;

CREATE TABLE cutter_governance.stop_latch (
    run_id text NOT NULL,
    stopped boolean DEFAULT false NOT NULL,
    kind text,
    reason text,
    set_by text,
    set_at timestamp with time zone,
    CONSTRAINT stop_latch_kind_check CHECK ((kind = ANY (ARRAY['stop'::text, 'cancel'::text])))
);

CREATE FUNCTION cutter_governance.fn_request_refusal(p_run cutter_governance.run, p_latch cutter_governance.stop_latch, p_epoch cutter_governance.policy_epoch, p_gate text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_step cutter_governance.gate_catalogue;
    v_code text;
    v_stop jsonb := cutter_governance.fn_stop_answer(p_run, p_latch);
begin
    v_code := case
        when p_run.run_id is null then 'unknown_run'
        when p_epoch.number is null then 'no_policy_epoch'
        when p_run.ended_at is not null then 'run_ended' end;
    if v_code is null and v_stop is not null then
        return v_stop;
    end if;
    select * into v_step from cutter_governance.gate_catalogue where sovereign = p_gate;
    v_code := coalesce(v_code, case
        when exists (select from cutter_governance.gate_receipt r
                     where r.run_id = p_run.run_id and r.gate = v_step.gate and r.sealed_at is not null)
            then 'gate_sealed_before'
        when cutter_governance.fn_prev_hash(p_run.run_id, v_step.gate) is null then 'predecessor_not_sealed' end);
    return case when v_code is not null then jsonb_build_object('status', 'refused', 'code', v_code) end;
end
$$;

CREATE FUNCTION cutter_governance.fn_request_tuple(p_run cutter_governance.run, p_epoch cutter_governance.policy_epoch, p_gate text, p_pins jsonb, p_change_set_id uuid, p_decision uuid, p_nonce text) RETURNS jsonb
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select jsonb_build_object(
        'deployment_id', p_epoch.deployment_id, 'gate', p_gate, 'run_id', p_run.run_id, 'document_id', p_run.document_id,
        'source_version_id', p_run.source_version_id, 'writer_digest', p_pins -> 'writer_digest',
        'manifest_digest', p_pins -> 'manifest_digest', 'region_sha', p_pins -> 'region_sha',
        'candidate_count', p_pins -> 'candidate_count', 'findings_digest', p_pins -> 'findings_digest',
        'accepted_findings', coalesce(nullif(array_to_string(
            cutter_governance.fn_accepted_findings(p_run.source_version_id), ' '), ''), 'none'),
        'change_set_id', p_change_set_id,
        'grants_sha256', p_pins -> 'grants_sha256', 'review_decision_id', p_decision, 'nonce', p_nonce)
$$;

CREATE FUNCTION cutter_governance.fn_restore_point(p_run_id text, p_late_seconds double precision) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
    v_archiver constant jsonb := cutter_governance.fn_archiver(p_late_seconds);
    v_point jsonb;
begin
    if not exists (select from cutter_governance.run r where r.run_id = p_run_id and r.ended_at is null) then
        raise exception 'there is no open run % for a restore point', left(p_run_id, 100) using errcode = 'CU006';
    end if;
    if v_archiver ->> 'problem' is not null then
        return v_archiver;
    end if;
    -- The superuser's functions may be missing, and a run id is too long for a name: it ends in a UUID.
    execute 'select cutter_guard.fn_restore_point($1)' into v_point using right(p_run_id, 36)::uuid;
    return v_archiver || v_point;
end
$_$;

CREATE FUNCTION cutter_governance.fn_resume_verdict(p_run cutter_governance.run, p_latch cutter_governance.stop_latch, p_statement_sha256 text, p_needed text) RETURNS cutter_governance.approval_verdict
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    verdict cutter_governance.approval_verdict;
begin
    select * into verdict from cutter_governance.approval_verdict v
    where v.run_id = p_run.run_id and v.accepted and v.approval_sha256 = p_statement_sha256 and v.decision = p_needed;
    if not found or verdict.not_after <= clock_timestamp()
        or verdict.recorded_at <= greatest(p_run.state_at,
            case when p_needed = 'resume' and p_latch.stopped then p_latch.set_at end)
        or exists (select from cutter_governance.approval_revocation where approval_sha256 = p_statement_sha256)
        or exists (select from cutter_governance.order_consumption where statement_sha256 = p_statement_sha256)
    then
        return null;
    end if;
    return verdict;
end
$$;

CREATE FUNCTION cutter_governance.fn_review_decision_begins() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    new.verdict := 'PENDING';
    new.decided_by := '{}';
    new.decided_at := null;
    new.approval_sha256 := '{}';
    return case new.type when 'cut' then cutter_governance.fn_review_decision_decided(new) else new end;
end
$$;

CREATE TABLE cutter_governance.review_decision (
    review_decision_id uuid NOT NULL,
    run_id text NOT NULL,
    type text NOT NULL,
    manifest_id uuid,
    manifest_unit_local_id text,
    verdict text DEFAULT 'PENDING'::text NOT NULL,
    actor text NOT NULL,
    findings jsonb DEFAULT '[]'::jsonb NOT NULL,
    risk_class text,
    escalation_ref text,
    cut_change_set_ref uuid,
    prior_review_decision_id uuid,
    superseded_by_review_decision_id uuid,
    created_by text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    decided_by text[] DEFAULT '{}'::text[] NOT NULL,
    decided_at timestamp with time zone,
    approval_sha256 text[] DEFAULT '{}'::text[] NOT NULL,
    CONSTRAINT review_decision_is_signed CHECK ((((verdict = ANY (ARRAY['PASS'::text, 'REJECT'::text, 'VOID'::text])) = (decided_at IS NOT NULL)) AND ((decided_at IS NOT NULL) = (cardinality(decided_by) > 0)) AND (cardinality(decided_by) = cardinality(approval_sha256)))),
    CONSTRAINT review_decision_type_check CHECK ((type = ANY (ARRAY['cut'::text, 'lifecycle_enactment'::text]))),
    CONSTRAINT review_decision_verdict CHECK ((verdict = ANY (ARRAY['PENDING'::text, 'PASS'::text, 'REJECT'::text, 'VOID'::text, 'EXPIRED'::text])))
);

CREATE FUNCTION cutter_governance.fn_review_decision_decided(p_decision cutter_governance.review_decision) RETURNS cutter_governance.review_decision
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    -- in FROM, because `(f()).*` calls the function once for each column
    select decided.* from jsonb_populate_record(p_decision, coalesce((
        select jsonb_build_object(
            'verdict', case when q.status = 'canceled' and count(s.sha256) = 0 then 'EXPIRED' else case q.status
                when 'approved' then 'PASS' when 'rejected' then 'REJECT' when 'canceled' then 'VOID'
                when 'expired' then 'EXPIRED' else 'PENDING' end end,
            'decided_by', coalesce(jsonb_agg(s.approver order by s.sha256) filter (where s.sha256 is not null), '[]'),
            'approval_sha256', coalesce(jsonb_agg(s.sha256 order by s.sha256) filter (where s.sha256 is not null), '[]'),
            'decided_at', max(s.at))
        from cutter_governance.approval_request q
        left join lateral (
            select c.approver, c.approval_sha256 as sha256, c.consumed_at as at
            from cutter_governance.approval_consumption c where q.status = 'approved' and c.request_id = q.request_id
            union all
            select o.approver, o.statement_sha256, o.consumed_at from cutter_governance.order_consumption o
            where o.run_id = q.run_id and o.decision = case q.status when 'rejected' then 'reject' when 'canceled' then 'void' end
        ) as s on true
        where q.run_id = p_decision.run_id and case p_decision.type
            when 'cut' then q.gate = 'SG_cut_authz' and q.status = 'approved'
            else q.review_decision_id = p_decision.review_decision_id end
        group by q.request_id, q.status, q.n order by q.n desc limit 1), '{}')) as decided
$$;

CREATE FUNCTION cutter_governance.fn_review_decision_once() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    decided cutter_governance.review_decision;
    v_outcome constant text[] := array['verdict', 'decided_by', 'decided_at', 'approval_sha256'];
begin
    if tg_op = 'UPDATE' then
        decided := cutter_governance.fn_review_decision_decided(old);
        if old.verdict = 'PENDING' and decided.verdict <> 'PENDING'
            and to_jsonb(new) - v_outcome = to_jsonb(old) - v_outcome
        then
            return decided;
        end if;
    end if;
    raise exception 'review_decision is append-only except its one decision: % refused', tg_op using errcode = 'CU005';
end
$$;

CREATE FUNCTION cutter_governance.fn_review_decision_pin(p_run_id text) RETURNS jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select jsonb_build_object('count', count(*), 'fingerprint', cutter_governance.fn_digest(
        coalesce(string_agg(to_jsonb(d)::text, E'\n' order by d.review_decision_id), '')))
    from cutter_governance.review_decision d where d.run_id = p_run_id
$$;

CREATE FUNCTION cutter_governance.fn_review_decision_writer() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    if new.type = 'lifecycle_enactment' and current_user <> 'cutter_owner' then
        raise exception 'a lifecycle decision is made with its request, not by %', current_user using errcode = 'CU008';
    end if;
    return new;
end
$$;

CREATE FUNCTION cutter_governance.fn_revision_digest(p_run_id text) RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
    with used as materialized (
        select v.id, concat_ws(E'\x1f', u.canonical_address, v.unit_kind, v.section_type, coalesce(v.publication_type, ''),
            v.owner_ref, v.title, encode(sha256(convert_to(v.body, 'UTF8')), 'hex'), coalesce(p.canonical_address, '')) as line
        from (
            select w.version_id as id from cutter_governance.revision_row w where w.run_id = p_run_id
            union all
            select w.base_version_id from cutter_governance.revision_row w
            where w.run_id = p_run_id and w.base_version_id is distinct from w.version_id) as named
        join public.unit_version v on v.id = named.id
        join public.information_unit u on u.id = v.unit_id
        left join public.information_unit p on p.id = v.parent_unit_id)
    select encode(sha256(convert_to(concat_ws(E'\n', 'writer/2',
        concat_ws(E'\x1f', r.operation_kind, r.base_source_version_id, r.base_receipt_hash), lines.list), 'UTF8')), 'hex')
    from cutter_governance.run r
    cross join lateral (
        select string_agg(concat_ws(E'\x1f', coalesce(begun.line, ended.line), w.operation,
            coalesce(encode(sha256(convert_to(ended.line, 'UTF8')), 'hex'), ''), coalesce(c.canonical_address, '')),
            E'\n' order by w.address) as list
        from cutter_governance.revision_row w
        left join used begun on begun.id = w.version_id
        left join used ended on ended.id = w.base_version_id
        left join public.information_unit c on c.id = w.continues_unit_id
        where w.run_id = r.run_id) as lines
    where r.run_id = p_run_id
$$;

CREATE FUNCTION cutter_governance.fn_revision_log_problem(p_run cutter_governance.run, p_review_decision_id uuid) RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
    select case when logged.count <> changed.count
        then format('%s units changed, %s in the lifecycle log', changed.count, logged.count) end
    from (select count(*) from cutter_governance.revision_row w
          where w.run_id = p_run.run_id and w.operation <> 'keep') as changed,
        (select count(*) from public.iu_lifecycle_log l
         join cutter_governance.cut_change_set c on c.change_set_id = l.change_set_id
         join cutter_governance.revision_row w on w.run_id = c.run_id and w.unit_id = l.unit_id
         where c.run_id = p_run.run_id and l.review_decision_id = p_review_decision_id
             and l.to_status = case w.operation when 'repeal' then 'retired' else 'enacted' end) as logged
$$;

CREATE FUNCTION cutter_governance.fn_revision_problem(p_run cutter_governance.run, p_approved_digest text, p_enacting boolean) RETURNS text
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_problem text := cutter_governance.fn_base_problem(p_run);
    v_rows integer;
    v_in_force integer;
    v_as_planned integer;
begin
    if v_problem is not null then
        return v_problem;
    end if;
    if cutter_governance.fn_revision_digest(p_run.run_id) is distinct from p_approved_digest then
        return 'the rows and their base do not digest to what was approved';
    end if;
    select count(*) filter (where (case when p_enacting then version_id else base_version_id end) is not null),
        cutter_governance.fn_revision_rows_holding(p_run.run_id, p_enacting), count(*)
    into v_in_force, v_as_planned, v_rows
    from cutter_governance.revision_row w where w.run_id = p_run.run_id;
    if v_as_planned <> v_rows then
        return format('%s of %s rows are as planned', v_as_planned, v_rows);
    end if;
    select count(*) - v_in_force into v_in_force
    from public.information_unit u
    where u.canonical_address >= p_run.docprefix || '/' collate "C" and u.canonical_address < p_run.docprefix || '0' collate "C"
        and u.deleted_at is null and u.lifecycle_status = 'enacted';
    return case
        when v_in_force <> 0 then format('%s units in force too many or too few', v_in_force)
        when exists (
            select from public.information_unit u
            where u.canonical_address >= p_run.docprefix || '/' collate "C"
                and u.canonical_address < p_run.docprefix || '0' collate "C"
                and u.deleted_at is null and u.lifecycle_status = 'draft' and not exists (
                    select from cutter_governance.revision_row w where w.run_id = p_run.run_id and w.unit_id = u.id))
            then 'a draft is not in the plan' end;
end
$$;

CREATE TABLE cutter_governance.cut_change_set (
    change_set_id uuid NOT NULL,
    run_id text NOT NULL,
    decision_backlog_entry_id uuid NOT NULL,
    review_decision_id uuid NOT NULL,
    manifest_id uuid NOT NULL,
    manifest_version text NOT NULL,
    manifest_digest text NOT NULL,
    region_sha text NOT NULL,
    executor_signature_id uuid NOT NULL,
    verifier_signature_id uuid,
    executor_tool_revision text NOT NULL,
    verifier_tool_revision text NOT NULL,
    rollback_key text NOT NULL,
    idempotency_key text NOT NULL,
    emitted_by text NOT NULL,
    emitted_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT cut_change_set_revisions_differ CHECK ((executor_tool_revision <> verifier_tool_revision)),
    CONSTRAINT cut_change_set_verifier_signs_result CHECK ((verifier_signature_id IS NULL))
);

CREATE FUNCTION cutter_governance.fn_revision_record_problem(p_run cutter_governance.run, p_change_set cutter_governance.cut_change_set) RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
    select case
        when envelope.operation_kind <> p_run.operation_kind then 'the envelope names another operation'
        when planned.rows <> planned.blocks or planned.rows <> blocks.count
            or planned.changing <> planned.affected or planned.changing <> affected.count
            then format('%s blocks and %s affected rows for %s rows', planned.blocks, planned.affected, planned.rows) end
    from cutter_governance.manifest_envelope envelope
    cross join lateral (
        select count(*) as rows, count(*) filter (where w.operation <> 'keep') as changing, count(b.envelope_id) as blocks,
            count(a.affected_row_id) as affected
        from cutter_governance.revision_row w
        left join cutter_governance.manifest_unit_block b on b.envelope_id = envelope.envelope_id
            and b.target_unit_id = w.unit_id and b.proposed_canonical_address = w.address and b.operation = w.operation
            and b.render_order = w.document_order and b.target_version_id = coalesce(w.version_id, w.base_version_id)
            and b.span_sha256 = (select v.content_hash from public.unit_version v where v.id = b.target_version_id)
        left join cutter_governance.cut_change_set_affected_row a on a.change_set_id = p_change_set.change_set_id
            and a.unit_id = w.unit_id and a.operation = w.operation and a.unit_version_id is not distinct from w.version_id
            and a.ended_version_id is not distinct from w.base_version_id and a.content_hash = b.span_sha256
        where w.run_id = p_run.run_id) as planned
    cross join lateral (select count(*) from cutter_governance.manifest_unit_block b
                        where b.envelope_id = envelope.envelope_id) as blocks
    cross join lateral (select count(*) from cutter_governance.cut_change_set_affected_row a
                        where a.change_set_id = p_change_set.change_set_id) as affected
    where envelope.envelope_id = p_change_set.manifest_id
$$;

CREATE FUNCTION cutter_governance.fn_revision_rows_holding(p_run_id text, p_enacted boolean) RETURNS bigint
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
    select count(*) filter (where case
        when u.canonical_address <> w.address or u.deleted_at is not null then false
        when w.operation = 'keep' then u.version_anchor_ref = w.version_id and u.lifecycle_status = 'enacted'
        when not p_enacted then coalesce(begins.lifecycle_status = 'draft' and begins.withdrawn_at is null, w.operation = 'repeal')
            and coalesce(u.version_anchor_ref = base.id and base.lifecycle_status = 'enacted', u.lifecycle_status <> 'enacted')
        else coalesce(u.version_anchor_ref = begins.id and begins.lifecycle_status = 'enacted'
                and begins.enacted_by = e.change_set_id and begins.effective_from = e.effective_from,
                u.lifecycle_status = 'retired')
            and coalesce(base.ended_by = e.change_set_id and base.effective_until = e.effective_from
                and base.lifecycle_status = case w.operation when 'repeal' then 'retired' else 'superseded' end,
                w.operation = 'create') end)
    from cutter_governance.revision_row w
    join public.information_unit u on u.id = w.unit_id
    left join public.unit_version begins on begins.id = w.version_id and begins.unit_id = u.id
    left join public.unit_version base on base.id = w.base_version_id and base.unit_id = u.id
    left join public.enactment e on e.run_id = w.run_id
    where w.run_id = p_run_id
$$;

CREATE FUNCTION cutter_governance.fn_revocation_record(p_run_id text, p_approval_sha256 text, p_revocation_sha256 text, p_kb_id text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    verdict cutter_governance.approval_verdict;
begin
    select * into verdict from cutter_governance.approval_verdict
    where run_id = p_run_id and accepted and decision = 'revoke' and approval_sha256 = p_revocation_sha256
        and statement ->> 'approval_sha256' = p_approval_sha256;
    if not found then
        raise exception 'run %: no accepted revocation %', p_run_id, p_revocation_sha256 using errcode = 'CU006';
    end if;
    -- Each gate shares this row until COMMIT: a revocation comes before a gate opens or after it, never in between.
    perform from cutter_governance.stop_latch where run_id = p_run_id for update;
    -- The gate that consumes the approval takes this lock too, of whichever run it is.
    perform pg_advisory_xact_lock(hashtextextended(p_approval_sha256, 0));
    -- A signed approval may be taken back before anybody hands it over; one that was handed to another run may not.
    if (select count(*) > 0 and not bool_or(run_id = p_run_id) from cutter_governance.approval_verdict
        where approval_sha256 = p_approval_sha256 and accepted)
    then
        return jsonb_build_object('status', 'revokes_nothing');
    end if;
    if exists (select from cutter_governance.approval_consumption where approval_sha256 = p_approval_sha256) then
        return jsonb_build_object('status', 'consumed_already');
    end if;
    insert into cutter_governance.approval_revocation (approval_sha256, revocation_sha256, approver, kb_id)
    values (p_approval_sha256, p_revocation_sha256, verdict.approver, p_kb_id) on conflict do nothing;
    return jsonb_build_object('status', 'revoked');
end
$$;

CREATE FUNCTION cutter_governance.fn_role_key() RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select concat_ws(' ',
        (select concat(count(*), '.', bit_xor(hashtidextended(ctid, hashxidextended(xmin, oid::bigint))))
         from pg_namespace where nspname in ('public', 'cutter_governance', 'api')),
        (select concat(count(*), '.', bit_xor(hashtidextended(ctid, hashxidextended(xmin, oid::bigint))))
         from pg_database where datname = current_database()),
        (select concat(count(*), '.', bit_xor(hashtidextended(ctid, hashxidextended(xmin, oid::bigint))))
         from pg_default_acl),
        (select concat(count(*), '.', bit_xor(hashtidextended(ctid, hashxidextended(xmin, oid::bigint))))
         from pg_auth_members),
        (select concat(count(*), '.', bit_xor(hashtidextended(ctid, hashxidextended(xmin, setrole::bigint))))
         from pg_db_role_setting),
        (select concat(count(*), '.', bit_xor(hashtextextended(concat_ws(' ', oid, rolname, rolsuper, rolinherit,
             rolcreaterole, rolcreatedb, rolreplication, rolbypassrls), 0)))
         from pg_roles))
$$;

CREATE FUNCTION cutter_governance.fn_rows_fingerprint(p_docprefix text, p_as_status text DEFAULT NULL::text) RETURNS jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
    select jsonb_build_object('count', count(*), 'fingerprint',
        cutter_governance.fn_digest(coalesce(string_agg(concat_ws(E'\n', line, beside), E'\n' order by address), '')))
    from (
        select u.canonical_address as address,
            concat(u.canonical_address, ' ', encode(sha256(convert_to(v.body, 'UTF8')), 'hex'), ' ', v.content_hash, ' ',
                coalesce(p_as_status, u.lifecycle_status), ' ', coalesce(p_as_status, v.lifecycle_status), ' ',
                u.id, ' ', v.id, ' ', v.unit_id, ' ', u.content_anchor_ref, ' ', v.version_seq, ' ',
                u.parent_or_container_ref, ' ', u.unit_kind, ' ', u.owner_ref, ' ', u.conformance_status, ' ',
                u.identity_profile, ' ', v.content_profile, ' ', every.number, ' ',
                concat_ws(' ', v.source_version_id, v.document_order, v.title, v.unit_kind, v.section_type,
                    v.publication_type, v.owner_ref, v.parent_unit_id)) as line,
            case when u.lifecycle_status <> 'draft' then every.drafts end as beside
        from public.information_unit u
        left join public.unit_version v on v.id = u.version_anchor_ref
        cross join lateral (
            select count(*) as number, string_agg(cutter_governance.fn_draft_line(o), E'\n' order by o.version_seq)
                filter (where o.lifecycle_status = 'draft' and o.withdrawn_at is null) as drafts
            from public.unit_version o where o.unit_id = u.id) as every
        where u.canonical_address >= p_docprefix || '/' collate "C" and u.canonical_address < p_docprefix || '0' collate "C"
            and u.deleted_at is null) as units
$$;

CREATE FUNCTION cutter_governance.fn_rows_seen(p_run_id text, p_docprefix text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    -- read before the texts: a change between the two is in the fingerprint, and the next survey reads the texts again
    v_versions text := cutter_governance.fn_rows_versions(p_docprefix);
    v_enacted text := (
        select e.run_id from cutter_governance.run r join public.enactment e on e.source_document_ref = r.document_id
        where r.run_id = p_run_id collate "default" order by e.n desc limit 1);
    v_rows jsonb;
begin
    select jsonb_build_object('count', after_pins -> 'row_count', 'fingerprint', after_pins -> 'row_content') into v_rows
    from (select * from cutter_governance.gate_receipt
          where run_id in (p_run_id collate "default", v_enacted) and sealed_at is not null
          order by pin_seq desc limit 1) as newest
    where row_versions = v_versions;
    return coalesce(v_rows, cutter_governance.fn_rows_fingerprint(p_docprefix)) || jsonb_build_object('versions', v_versions);
end
$$;

CREATE FUNCTION cutter_governance.fn_rows_versions(p_docprefix text) RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
    select concat_ws(' ',
        (select concat(count(*), '.', bit_xor(hashtidextended(u.ctid, hashxidextended(u.xmin, 0))))
         from public.information_unit u
         where u.canonical_address >= p_docprefix || '/' collate "C" and u.canonical_address < p_docprefix || '0' collate "C"
            and u.deleted_at is null),
        (select concat(count(*), '.', bit_xor(hashtidextended(v.ctid, hashxidextended(v.xmin, 0))))
         from public.information_unit u
         join public.unit_version v on v.unit_id = u.id
         where u.canonical_address >= p_docprefix || '/' collate "C" and u.canonical_address < p_docprefix || '0' collate "C"
            and u.deleted_at is null))
$$;

CREATE FUNCTION cutter_governance.fn_run_ended_by_people() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_decision text := case when new.state = 'failed_rejected' then 'reject' else 'void' end;
begin
    select jsonb_build_object('gate', v.gate, 'outcome', new.state, 'reason', left(coalesce(v.statement ->> 'reason',
            'rejected by ' || o.approver), 500), 'report', null, 'at', cutter_governance.fn_utc(o.consumed_at), 'decision', o.decision,
            'approver', o.approver, 'fingerprint', o.fingerprint, 'kb_id', v.kb_id, 'approval_sha256', o.statement_sha256,
            'before', old.last_error)
    into new.last_error
    from cutter_governance.order_consumption o
    join cutter_governance.approval_verdict v on v.run_id = o.run_id and v.accepted
        and v.approval_sha256 = o.statement_sha256
    where o.run_id = new.run_id and o.decision = v_decision
    order by o.consumed_at desc, v.id limit 1;
    if not found then
        new.last_error := old.last_error;
    end if;
    return new;
end
$$;

CREATE FUNCTION cutter_governance.fn_run_evidence(p_run_id text) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    AS $$
begin
    return (
        with cut as (
            select g.run_id is not null as closing, g.attempt, g.sealed_at is not null as closed,
                coalesce(g.opened_at, 'infinity') as at,
                coalesce((select e.seq from cutter_governance.audit_event e
                          where e.chain = r.run_id and e.hash = g.result -> 'pins' ->> 'audit_head'), 9223372036854775807) as seq,
                g.result
            from cutter_governance.run r
            left join cutter_governance.gate_receipt g on g.run_id = r.run_id and g.gate = 'IG_closeout'
            where r.run_id = p_run_id)
        select jsonb_build_object(
            'as_of', case when cut.closing then cutter_governance.fn_utc(cut.at) end,
            'closed', case when cut.closed then cut.result -> 'pins' end,
            'history', cut.result -> 'history',
            'run', to_jsonb(r) || case when cut.closing
                then jsonb_build_object('state', 'lifecycle_enacted', 'state_at', null, 'ended_at', null, 'outcome', null)
                else '{}' end,
            'source', (
                select to_jsonb(v) - 'profile_body'
                    || jsonb_build_object('provenance', v.provenance - 'title', 'document', to_jsonb(d) - 'display_vi' - 'display_en')
                from public.source_version v join public.source_document d on d.source_document_ref = v.source_document_ref
                where v.id = r.source_version_id))
            || cutter_governance.fn_evidence_gates(p_run_id, cut.at, cut.closing, cut.attempt)
            || cutter_governance.fn_evidence_outputs(p_run_id)
            || cutter_governance.fn_evidence_approvals(p_run_id, cut.at)
            || cutter_governance.fn_evidence_effects(p_run_id, cut.at, cut.seq)
        from cut cross join cutter_governance.run r
        where r.run_id = p_run_id);
end
$$;

CREATE FUNCTION cutter_governance.fn_run_make(p_run_id text, p_document_id text, p_mode text, p_starter text, p_caps jsonb, p_first_execution_id text, p_batch_id text, p_amends text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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

CREATE FUNCTION cutter_governance.fn_run_move(p_run_id text, p_to text, p_trigger text, p_severity text DEFAULT 'info'::text, p_metadata jsonb DEFAULT '{}'::jsonb) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_from text;
    v_ended boolean := p_to in ('closeout_reported', 'skipped') or p_to like 'failed\_%' or p_to like 'voided\_%';
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

CREATE FUNCTION cutter_governance.fn_run_moves(p_run_id text) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select exists (
        select from cutter_governance.run r
        where r.run_id = p_run_id and r.ended_at is null and r.outcome is null
            and exists (select from cutter_governance.gate_catalogue c where r.state in (c.from_state, c.to_state))
            and not exists (
                select from cutter_governance.gate_catalogue c where c.from_state = r.state and c.sovereign is not null))
$$;

CREATE FUNCTION cutter_governance.fn_run_of_document(p_document_id text) RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select coalesce(case when n.ended_at is not null and n.state not like 'failed\_%' then (
        select r.run_id from cutter_governance.run r
        join cutter_governance.gate_receipt g on g.run_id = r.run_id
        where r.document_id = p_document_id and g.gate = 'IG_lifecycle_enact_execute' and g.sealed_at is not null
        order by g.sealed_at desc limit 1) end, n.run_id)
    from cutter_governance.run n where n.document_id = p_document_id
    order by n.ended_at is null desc, n.created_at desc, n.run_id desc limit 1
$$;

CREATE FUNCTION cutter_governance.fn_run_orders(p_run_id text) RETURNS jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select coalesce(jsonb_agg(jsonb_build_object('kb_id', v.kb_id, 'statement_sha256', o.statement_sha256,
        'decision', o.decision, 'consumed_at', o.consumed_at, 'stopped_state', o.stopped_state,
        'stopped_at', o.stopped_at,
        'policy_sha256', (select e.sha256 from cutter_governance.policy_epoch e where e.installed_at <= v.recorded_at
            order by e.number desc limit 1),
        'gate', case when exists (select from cutter_governance.gate_receipt r where r.run_id = p_run_id
                and r.gate = 'IG_cut_leg_a_execute' and r.sealed_at <= v.recorded_at)
            then 'SG_lifecycle_authz' else 'SG_cut_authz' end,
        -- fn_run_resume has held it against the survey
        'fingerprint', v.statement ->> 'fingerprint', 'body', encode(s.body, 'base64'),
        'signature', encode(s.signature, 'base64')) order by o.consumed_at), '[]')
    from cutter_governance.order_consumption o
    join cutter_governance.approval_verdict v on v.run_id = o.run_id and v.accepted
        and v.approval_sha256 = o.statement_sha256
    left join cutter_governance.signed_statement s on s.verdict_id = v.id
    where o.run_id = p_run_id and o.decision in ('resume', 'acknowledge_drift')
$$;

CREATE FUNCTION cutter_governance.fn_run_outcome(p_run_id text, p_outcome text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
    if p_outcome = 'skipped' then
        perform cutter_governance.fn_run_move(p_run_id, 'skipped', 'already_enacted');
    else
        perform cutter_governance.fn_audit_anchor(p_run_id, 'run_ended');
    end if;
end
$$;

CREATE FUNCTION cutter_governance.fn_run_pins(p_run_id text) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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

CREATE FUNCTION cutter_governance.fn_run_prioritise(p_run_id text, p_priority integer) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    update cutter_governance.run set priority = p_priority
    where run_id = p_run_id and state = 'pending' and ended_at is null and batch_id is null
$$;

CREATE FUNCTION cutter_governance.fn_run_published(p_run_id text, p_kb_id text DEFAULT NULL::text) RETURNS jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select case when cutter_governance.fn_run_moves(p_run_id) then (
        select jsonb_build_object('run', to_jsonb(r), 'documents', (
            select coalesce(jsonb_agg(jsonb_build_object('kb_id', o.kb_id, 'kind', o.kind, 'subject', o.subject,
                'sha256', o.sha256) order by o.id), '[]')
            from cutter_governance.outbox o
            where o.run_id = r.run_id and (o.done_at is null or o.kb_id = p_kb_id)))
        from cutter_governance.run r where r.run_id = p_run_id)
    else cutter_governance.fn_run_sidecar(p_run_id) end
        || jsonb_build_object('unseen_by', cutter_governance.fn_batch_unseen(p_run_id))
$$;

CREATE FUNCTION cutter_governance.fn_run_register(p_run_id text, p_document_id text, p_mode text, p_starter text, p_caps jsonb DEFAULT '{}'::jsonb, p_first_execution_id text DEFAULT NULL::text, p_batch_id text DEFAULT NULL::text, p_amends text DEFAULT NULL::text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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

CREATE FUNCTION cutter_governance.fn_run_resume(p_run_id text, p_statement_sha256 text DEFAULT NULL::text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
        verdict := cutter_governance.fn_resume_verdict(v_run, latch, p_statement_sha256, v_needed);
        if verdict.approval_sha256 is null then
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

CREATE FUNCTION cutter_governance.fn_run_sidecar(p_run_id text) RETURNS jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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

CREATE FUNCTION cutter_governance.fn_run_stop(p_run_id text, p_state text, p_reason text, p_report jsonb DEFAULT NULL::jsonb) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
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
            -- as a policy's stop it would continue with the approvals that exist already
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
    perform cutter_governance.fn_run_move(p_run_id, p_state, 'stop', 'warning', jsonb_build_object('reason', left(p_reason, 500)));
    return jsonb_build_object('state', (select state from cutter_governance.run where run_id = p_run_id));
end
$_$;

CREATE FUNCTION cutter_governance.fn_run_version(p_run_id text, p_build_id text) RETURNS text
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    update cutter_governance.run set workflow_version_id = left(p_build_id, 100)
    where run_id = p_run_id and ended_at is null
        and workflow_version_id is distinct from left(p_build_id, 100);
    select p_run_id
$$;

CREATE FUNCTION cutter_governance.fn_run_waits_for(p_run cutter_governance.run, p_gate text, p_statement jsonb) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select coalesce(case p_statement ->> 'decision'
        when 'revoke' then true
        when 'void' then true
        when 'resume' then p_run.state = p_statement ->> 'stopped_state' and p_run.state not like 'stopped\_drift\_%'
        when 'acknowledge_drift' then p_run.state like 'stopped\_drift\_%'
        when 'include_failed' then p_run.state like 'failed\_%'
        else p_run.state not like 'stopped\_%' and exists (
            select from cutter_governance.approval_request q
            where q.run_id = p_run.run_id and q.gate = p_gate and q.status = 'requested' and q.request_sha256 is not null
                and q.tuple ->> 'writer_digest' = p_statement ->> 'writer_digest'
                and (p_statement ->> 'binding' = 'tuple' or q.challenge = p_statement ->> 'challenge')) end, false)
$$;

CREATE FUNCTION cutter_governance.fn_search_corrected(p_form text) RETURNS tsquery
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    with asked as (
        select word, (select k.word from public.search_word k where k.word = asked.word collate "C") is not null as known
        from regexp_split_to_table(btrim(p_form), ' +') as asked (word)),
    meant as (
        select a.word, a.known, case when a.known or length(a.word) < 4 then array[a.word] else (
            select array_agg(k.word) from (
                select k.word from public.search_word k
                where k.near && cutter_governance.fn_search_near(a.word)
                order by abs(length(k.word) - length(a.word)), k.word limit 8) k) end as words
        from asked a)
    select case when bool_and(known or length(word) < 4) or bool_or(words is null) then null
        else to_tsquery('simple', string_agg('(' || array_to_string(words, '|') || ')', '&')) end
    from meant
$$;

CREATE FUNCTION cutter_governance.fn_search_enter(p_change_set_id uuid) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    insert into public.unit_search (version_id, words, grams)
    select v.id, cutter_governance.fn_search_words(f.title, f.body, f.law),
        array_append(cutter_governance.fn_search_grams(f.title || ' ' || f.body), f.law)
    from public.enactment e
    join public.source_document d on d.source_document_ref = e.source_document_ref
    join cutter_governance.cut_change_set_affected_row a on a.change_set_id = e.change_set_id
    join public.unit_version v on v.id = a.unit_version_id
    cross join lateral (
        select cutter_governance.fn_search_form(v.title) as title, cutter_governance.fn_search_form(v.body) as body,
            cutter_governance.fn_search_law(d.doc_code) as law offset 0) f
    where e.change_set_id = p_change_set_id
    on conflict (version_id) do nothing;
    insert into public.search_word (word, near)
    select word, cutter_governance.fn_search_near(word)
    from (
        select distinct lexeme as word
        from cutter_governance.cut_change_set_affected_row a
        join public.unit_search s on s.version_id = a.unit_version_id
        cross join lateral unnest(tsvector_to_array(s.words)) lexeme
        where a.change_set_id = p_change_set_id) as words
    where length(word) between 4 and 40 and word !~ '[\x01[:digit:]]'
        and (select k.word from public.search_word k where k.word = words.word collate "C") is null
    on conflict (word) do nothing
$$;

CREATE FUNCTION cutter_governance.fn_search_fill() RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_change_set uuid;
    v_entered integer := 0;
begin
    for v_change_set in
        select e.change_set_id from public.enactment e
        where exists (
            select from cutter_governance.cut_change_set_affected_row a
            where a.change_set_id = e.change_set_id and a.unit_version_id is not null
                and not exists (select from public.unit_search s where s.version_id = a.unit_version_id))
    loop
        perform cutter_governance.fn_search_enter(v_change_set);
        v_entered := v_entered + 1;
    end loop;
    return v_entered;
end
$$;

CREATE FUNCTION cutter_governance.fn_search_fold(p_text text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    RETURN NORMALIZE(translate(replace(replace(replace(lower(regexp_replace(NORMALIZE(p_text, NFKD), '[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed]'::text, ''::text, 'g'::text)), 'ß'::text, 'ss'::text), 'æ'::text, 'ae'::text), 'œ'::text, 'oe'::text), 'đøłıðςٱىیةک٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹'::text, (('dolidσايي'::text || 'هك'::text) || '01234567890123456789'::text)), NFC);

CREATE FUNCTION cutter_governance.fn_search_form(p_text text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    RETURN regexp_replace(cutter_governance.fn_search_fold(p_text), '[^[:alnum:]]+'::text, ' '::text, 'g'::text);

CREATE FUNCTION cutter_governance.fn_search_grams(p_form text) RETURNS text[]
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    with word as materialized (select distinct word from string_to_table(p_form, ' ') as word),
    piece as (
        select word from word where length(word) <= 300
        union all
        select small from word cross join cutter_governance.fn_search_pieces(word, 30000) as large
        cross join cutter_governance.fn_search_pieces(large, 300) as small
        where length(word) > 300)
    select coalesce(array_agg(distinct gram), '{}') from (
        select substr(word, n, 3) as gram from piece cross join generate_series(1, length(word) - 2) as n
        union all
        select substr(word, n, size) from piece cross join generate_series(1, 2) as size
        cross join generate_series(1, length(word) - size + 1) as n
        -- Such a letter has at least three bytes, so the first condition is quick and rules out most words.
        where octet_length(word) > length(word) + 1
            and ascii(substr(word, n, 1)) >= 3584 and ascii(substr(word, n + size - 1, 1)) >= 3584) as part
$$;

CREATE FUNCTION cutter_governance.fn_search_hits(p_query tsquery, p_grams text[], p_document text) RETURNS TABLE(version_id uuid, is_word boolean)
    LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 20
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_law text := cutter_governance.fn_search_law(p_document);
    v_query tsquery := case when v_law is null then p_query
        else p_query && ('''' || replace(replace(v_law, '\', '\\'), '''', '''''') || '''')::tsquery end;
begin
    return query select s.version_id, true from public.unit_search s where s.words @@ v_query;
    if cardinality(p_grams) > 0 then
        return query select s.version_id, false from public.unit_search s
            where s.grams @> array_remove(array_append(p_grams, v_law), null) and not s.words @@ v_query;
    end if;
end
$$;

CREATE FUNCTION cutter_governance.fn_search_law(p_document text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    RETURN (''::text || p_document);

CREATE FUNCTION cutter_governance.fn_search_near(p_word text) RETURNS text[]
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select coalesce(array_agg(distinct near), '{}')
    from (
        select p_word as near
        union all
        select overlay(p_word placing '' from place for 1) from generate_series(1, length(p_word)) place) as words
    where length(p_word) between 4 and 40
$$;

CREATE FUNCTION cutter_governance.fn_search_of_enactment() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    perform cutter_governance.fn_search_enter(new.change_set_id);
    return null;
end
$$;

CREATE FUNCTION cutter_governance.fn_search_pieces(p_word text, p_letters integer) RETURNS SETOF text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select substr(p_word, first, p_letters) from generate_series(1, length(p_word), p_letters - 2) as first
$$;

CREATE FUNCTION cutter_governance.fn_search_query(p_words text) RETURNS tsquery
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    RETURN CASE WHEN (p_words ~ '"|(^|\s)-\S|\mOR\M'::text) THEN websearch_to_tsquery('simple'::regconfig, regexp_replace(cutter_governance.fn_search_fold(p_words), '[^[:alnum:]"-]+|(?<=[[:alnum:]])-'::text, ' '::text, 'g'::text)) ELSE plainto_tsquery('simple'::regconfig, cutter_governance.fn_search_form(p_words)) END;

CREATE FUNCTION cutter_governance.fn_search_units(p_query tsquery, p_words text, p_on date, p_document text, p_version integer, p_recorded timestamp with time zone, p_most integer) RETURNS TABLE(document text, version integer, address text, title text, body text, content_sha256 text, effective_from date, rank real)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    with asked as materialized (
        select btrim(cutter_governance.fn_search_form(p_words)) as form),
    hit as materialized (
        select v.id, d.doc_code, e.n, v.document_order, ts_rank(
            (select s.words from public.unit_search s where s.version_id = h.version_id), p_query) as rank
        from asked
        cross join cutter_governance.fn_search_hits(p_query, case when p_words !~ '(^|\s)-|"' then
            cutter_governance.fn_search_grams(asked.form) end, p_document) h
        join public.unit_version v on v.id = h.version_id
        join public.enactment b on b.change_set_id = v.enacted_by
        join public.source_document d on d.source_document_ref = b.source_document_ref
        left join public.enactment x on x.change_set_id = v.ended_by
        cross join lateral (
            select e.n from public.enactment e
            where e.source_document_ref = b.source_document_ref and e.enacted_at <= p_recorded
                and case when p_version is null then e.effective_from <= p_on else e.n = p_version end
            order by e.n desc limit 1) e
        where b.n <= e.n and (x.n is null or x.n > e.n) and (p_document is null or d.doc_code = p_document)
            and case when h.is_word then true else
                strpos(cutter_governance.fn_search_form(v.title), asked.form) > 0
                or strpos(cutter_governance.fn_search_form(v.body), asked.form) > 0 end
        order by h.is_word desc, rank desc, d.doc_code, v.document_order limit 2000),
    best as materialized (
        select hit.id, hit.doc_code, hit.n, hit.document_order, (
            hit.rank + 4 * (strpos(cutter_governance.fn_search_form(v.title), asked.form) > 0)::integer
            + 2 * (strpos(lower(v.body), lower(p_words)) > 0)::integer
            + (strpos(cutter_governance.fn_search_form(v.body), asked.form) > 0)::integer)::real as rank
        from asked cross join hit
        join public.unit_version v on v.id = hit.id
        order by 5 desc, hit.doc_code, hit.document_order limit p_most)
    select best.doc_code, best.n, u.canonical_address, v.title, v.body, v.content_hash, v.effective_from, best.rank
    from best
    join public.unit_version v on v.id = best.id
    join public.information_unit u on u.id = v.unit_id
    order by best.rank desc, best.doc_code, best.document_order
$$;

CREATE FUNCTION cutter_governance.fn_search_words(p_title text, p_body text, p_law text) RETURNS tsvector
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select setweight(to_tsvector('simple', left(p_title, 1000)), 'A') || to_tsvector('simple', left(p_body, 250000))
        || array_to_tsvector(array[p_law])
$$;

CREATE FUNCTION cutter_governance.fn_sessions_end_overdue() RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    ended integer := 0;
begin
    if to_regprocedure('cutter_guard.fn_end_overdue()') is not null then
        execute 'select cutter_guard.fn_end_overdue()' into ended;
    end if;
    return ended;
end
$$;

CREATE FUNCTION cutter_governance.fn_settings_that_affect_a_write(p_settings text[]) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
    select string_agg(setting, '; ' order by setting collate "C") from unnest(p_settings) as setting
    where lower(split_part(setting, '=', 1)) !~ ('^(application_name|client_min_messages|[a-z_]*timeout'
        || '|client_connection_check_interval|temp_file_limit|[a-z_]*work_mem|hash_mem_multiplier|temp_buffers'
        || '|(log|track|tcp|enable|cpu|geqo|jit|max_parallel|min_parallel|vacuum)(_[a-z_]*)?'
        || '|(seq|random)_page_cost|effective_[a-z_]*|(from|join)_collapse_limit|plan_cache_mode)$')
$_$;

CREATE FUNCTION cutter_governance.fn_signature_kind() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
begin
    if not ((new.signature_kind = 'executor' and session_user = 'cutter_exec')
            or (new.signature_kind = 'verifier' and session_user = 'cutter_verify'))
    then
        raise exception 'a % signature is not for % to write', new.signature_kind, session_user using errcode = 'CU008';
    end if;
    return new;
end
$$;

CREATE FUNCTION cutter_governance.fn_source_of_open_gate(p_address text) RETURNS uuid
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select r.source_version_id from cutter_governance.gate_receipt g
    join cutter_governance.run r on r.run_id = g.run_id
    where g.opened_xid = pg_current_xact_id() and g.sealed_at is null and starts_with(p_address, r.docprefix || '/')
    limit 1
$$;

CREATE FUNCTION cutter_governance.fn_source_register(p_document jsonb, p_bytes bytea, p_version jsonb, p_by text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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
        and v.profile_sha256 = p_version ->> 'profile_sha256' and v.marking_options = p_version -> 'options'
        and v.change_kind = coalesce(p_version ->> 'change_kind', 'text')
        and v.change_reason is not distinct from p_version ->> 'change_reason'
        and v.effective_from is not distinct from (p_version ->> 'effective_from')::date
        and v.version_seq = (select max(s.version_seq) from public.source_version s
                             where s.source_document_ref = document.source_document_ref);
    if found then
        return jsonb_build_object('status', 'registered_before', 'source_version_id', version.id,
            'version_seq', version.version_seq, 'sha256', v_sha);
    end if;
    insert into public.source_snapshot (sha256, bytes) values (v_sha, p_bytes) on conflict do nothing;
    insert into public.source_version (
        document_version_id, source_document_ref, version_seq, content_checksum, size_bytes, source_format, provenance,
        profile_id, profile_sha256, profile_body, marking_options, registered_by, change_kind, change_reason, effective_from)
    select document.doc_code || '@' || next.seq, document.source_document_ref, next.seq, v_sha, length(p_bytes),
        coalesce(p_version ->> 'format', 'markdown'), coalesce(p_version -> 'provenance', '{}'),
        p_version ->> 'profile_id', p_version ->> 'profile_sha256', p_version ->> 'profile_body', p_version -> 'options', p_by,
        coalesce(p_version ->> 'change_kind', 'text'), p_version ->> 'change_reason', (p_version ->> 'effective_from')::date
    from (select coalesce(max(version_seq), 0) + 1 as seq from public.source_version
          where source_document_ref = document.source_document_ref) as next
    returning * into version;
    return jsonb_build_object('status', 'registered', 'source_version_id', version.id, 'version_seq', version.version_seq,
        'sha256', v_sha);
end
$$;

CREATE FUNCTION cutter_governance.fn_stop_answer(p_run cutter_governance.run, p_latch cutter_governance.stop_latch) RETURNS jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select case
        when p_latch.stopped then
            jsonb_build_object('status', 'stopped', 'kind', p_latch.kind, 'reason', p_latch.reason)
        when p_run.state like 'stopped\_%' then
            jsonb_build_object('status', 'stopped', 'kind', substr(p_run.state, 9),
                'reason', 'the run is ' || p_run.state || ' and was not resumed') end
$$;

CREATE FUNCTION cutter_governance.fn_stop_is_signed(p_state text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    RETURN ((p_state ~~ 'stopped\_%'::text) AND (p_state !~~ 'stopped\_unavailable\_%'::text) AND (p_state !~~ 'stopped\_soft\_cap\_%'::text) AND (p_state <> ALL (ARRAY['stopped_expired'::text, 'stopped_signal_flood'::text, 'stopped_terminated'::text])));

CREATE FUNCTION cutter_governance.fn_stop_route_record(p_run_id text, p_kb_id text, p_body text) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    insert into cutter_governance.outbox (run_id, kind, subject, kb_id, body)
    values (p_run_id, 'stop_route', 'SG_failure_escalation', p_kb_id, p_body) on conflict (kb_id) do nothing
$$;

CREATE FUNCTION cutter_governance.fn_stop_set(p_run_id text, p_kind text, p_reason text, p_by text, p_wait boolean DEFAULT true) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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

CREATE FUNCTION cutter_governance.fn_stopped_at(p_run_id text) RETURNS timestamp with time zone
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select greatest(r.state_at, case when l.stopped then l.set_at end)
    from cutter_governance.run r join cutter_governance.stop_latch l on l.run_id = r.run_id
    where r.run_id = p_run_id and r.state like 'stopped\_%'
$$;

CREATE FUNCTION cutter_governance.fn_stored_digest(p_run_id text) RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select case when r.operation_kind = 'first_cut' then cutter_governance.fn_writer_digest(r.docprefix)
        else cutter_governance.fn_revision_digest(r.run_id) end
    from cutter_governance.run r where r.run_id = p_run_id
$$;

CREATE FUNCTION cutter_governance.fn_survey(p_run_id text, p_docprefix text, p_rows jsonb DEFAULT NULL::jsonb) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    rows jsonb := coalesce(p_rows, cutter_governance.fn_rows_seen(p_run_id, p_docprefix));
    decisions jsonb;
begin
    select jsonb_build_object('count', count(*),
        'fingerprint', cutter_governance.fn_digest(coalesce(string_agg(to_jsonb(d)::text, E'\n' order by d.review_decision_id), '')))
    into decisions
    -- Callers pass a prefix of collation C. It would be the collation of the comparison and keep the index from it.
    from cutter_governance.review_decision d where d.run_id = p_run_id collate "default";
    return cutter_governance.fn_definition_pins() || coalesce((
        select jsonb_build_object('base', e.run_id) from cutter_governance.run r
        join public.enactment e on e.source_document_ref = r.document_id
        where r.run_id = p_run_id collate "default" order by e.n desc limit 1), '{}') || jsonb_build_object(
        'row_count', rows -> 'count', 'row_content', rows -> 'fingerprint', 'review_decision', decisions,
        'source', (select jsonb_object_agg(p.proname, md5(p.prosrc)) from pg_proc p
                   where p.pronamespace = 'public'::regnamespace
                       and p.proname in ('fn_iu_create', 'fn_iu_enact', 'fn_iu_apply_edit_draft')));
end
$$;

CREATE FUNCTION cutter_governance.fn_survey_after(p_run cutter_governance.run, p_before jsonb) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_docprefix text := coalesce(p_run.docprefix, '');
    v_versions text := cutter_governance.fn_rows_versions(v_docprefix);
    v_rows jsonb := case when p_before ->> 'row_versions' = v_versions
        then jsonb_build_object('count', p_before -> 'row_count', 'fingerprint', p_before -> 'row_content')
        else cutter_governance.fn_rows_fingerprint(v_docprefix) end;
begin
    return cutter_governance.fn_survey(p_run.run_id, v_docprefix, v_rows) || jsonb_build_object('row_versions', v_versions);
end
$$;

CREATE FUNCTION cutter_governance.fn_survey_at_rest(p_before jsonb, p_after jsonb) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    RETURN ((p_before - ARRAY['row_content_enacted'::text, 'row_versions'::text]) || (p_after - ARRAY['row_count'::text, 'row_content'::text, 'review_decision'::text, 'row_versions'::text]));

CREATE FUNCTION cutter_governance.fn_table_definitions() RETURNS jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select jsonb_object_agg(c.relname, jsonb_build_object(
        'kind', c.relkind, 'owner', pg_get_userbyid(c.relowner), 'row_security', c.relrowsecurity,
        'forced', c.relforcerowsecurity, 'persistence', c.relpersistence, 'children', c.relhassubclass,
        'options', coalesce(array_to_string(c.reloptions, '; '), ''), 'rules', c.relhasrules,
        'view', case when c.relkind in ('v', 'm') then md5(pg_get_viewdef(c.oid)) end, 'columns', columns.list,
        'constraints', constraints.list, 'indexes', indexes.list))
    from pg_class c
    cross join lateral (
        select string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || ' ' || a.attnotnull || ' '
            || coalesce(pg_get_expr(d.adbin, d.adrelid), ''), '; ' order by a.attnum) as list
        from pg_attribute a
        left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns
    cross join lateral (
        select string_agg(k.conname || ' ' || pg_get_constraintdef(k.oid) || ' ' || k.convalidated, '; '
            order by k.conname) as list
        from pg_constraint k where k.conrelid = c.oid) as constraints
    cross join lateral (
        select string_agg(pg_get_indexdef(i.indexrelid) || ' ' || i.indisvalid, '; ' order by i.indexrelid::regclass::text) as list
        from pg_index i where i.indrelid = c.oid) as indexes
    where c.relkind in ('r', 'p', 'v', 'm', 'f')
        and c.relnamespace in ('public'::regnamespace, 'cutter_governance'::regnamespace, 'api'::regnamespace)
$$;

CREATE FUNCTION cutter_governance.fn_tenant_caps(p_tenant text, p_workflow text) RETURNS jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select jsonb_build_object('tenant', p_tenant, 'workflow', p_workflow, 'weight', coalesce(o.weight, a.weight, 1),
        'max_concurrency', coalesce(o.max_concurrency, a.max_concurrency),
        'max_runs_per_min', coalesce(o.max_runs_per_min, a.max_runs_per_min),
        'max_writes_per_run', coalesce(o.max_writes_per_run, a.max_writes_per_run))
    from (select) as one
    left join cutter_governance.tenant_cap a on a.tenant = p_tenant and a.workflow = 'any'
    left join cutter_governance.tenant_cap o on o.tenant = p_tenant and o.workflow = p_workflow
$$;

CREATE FUNCTION cutter_governance.fn_tenant_room(p_tenant text, p_workflow text) RETURNS jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    with cap as (
        select caps, (caps ->> 'max_concurrency')::integer as at_once, (caps ->> 'max_runs_per_min')::integer as a_minute
        from cutter_governance.fn_tenant_caps(p_tenant, p_workflow) as caps
    ), used as (
        -- the minute before the caller's statement: a clock that moves cannot be looked up in an index
        select (select count(*) from cutter_governance.run
                where tenant = p_tenant and ended_at is null and state not like 'stopped\_%'
                    and state not in ('awaiting_cut_authorization', 'awaiting_lifecycle_authorization')) as at_work,
            (select count(*) from cutter_governance.run
             where tenant = p_tenant and created_at > statement_timestamp() - interval '1 minute') as last_minute
    ), room as (
        select at_once - at_work as at_once, a_minute - last_minute as a_minute,
            least(at_once - at_work, a_minute - last_minute) as runs
        from cap, used
    )
    select cap.caps || to_jsonb(used) || jsonb_build_object('room', case when runs < 0 then 0 else runs end,
        'code', case when room.at_once <= 0 then 'STOP_TENANT_CONCURRENCY' when room.a_minute <= 0 then 'STOP_TENANT_RATE' end,
        'again_utc', case when room.a_minute <= 0 then (
            select to_char((created_at + interval '61 seconds') at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
            from cutter_governance.run
            where tenant = p_tenant order by created_at desc offset cap.a_minute - 1 limit 1) end)
    from cap, used, room
$$;

CREATE FUNCTION cutter_governance.fn_tenant_set(p_tenant text, p_workflow text, p_caps jsonb, p_by text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_before jsonb := cutter_governance.fn_tenant_caps(p_tenant, p_workflow);
    v_after jsonb;
begin
    insert into cutter_governance.tenant_cap (tenant, workflow) values (p_tenant, p_workflow) on conflict do nothing;
    update cutter_governance.tenant_cap c
    set weight = n.weight, max_concurrency = n.max_concurrency, max_runs_per_min = n.max_runs_per_min,
        max_writes_per_run = n.max_writes_per_run, set_at = clock_timestamp()
    from cutter_governance.tenant_cap o, jsonb_populate_record(o, p_caps - 'tenant' - 'workflow') as n
    where c.tenant = p_tenant and c.workflow = p_workflow and o.tenant = c.tenant and o.workflow = c.workflow;
    delete from cutter_governance.tenant_cap
    where tenant = p_tenant and workflow = p_workflow
        and num_nonnulls(weight, max_concurrency, max_runs_per_min, max_writes_per_run) = 0;
    v_after := cutter_governance.fn_tenant_caps(p_tenant, p_workflow);
    perform cutter_governance.fn_audit_append('tenants', 'tenants', 'tenant_caps', jsonb_build_object(
        'tenant', p_tenant, 'workflow', p_workflow, 'before', v_before, 'after', v_after, 'by', left(p_by, 100),
        'session', session_user));
    perform cutter_governance.fn_audit_anchor('tenants', 'tenant_caps');
    return v_after;
end
$$;

CREATE FUNCTION cutter_governance.fn_tenant_turn(p_tenant text, p_workflow text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    caps jsonb := cutter_governance.fn_tenant_caps(p_tenant, p_workflow);
begin
    if coalesce(caps ->> 'max_concurrency', caps ->> 'max_runs_per_min') is null then
        return caps;
    end if;
    insert into cutter_governance.audit_head (chain, seq, hash)
    values ('global', 0, cutter_governance.fn_digest('global')) on conflict do nothing;
    perform from cutter_governance.audit_head where chain = 'global' for update;
    return cutter_governance.fn_tenant_room(p_tenant, p_workflow);
end
$$;

CREATE FUNCTION cutter_governance.fn_trigger_definitions() RETURNS jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select jsonb_object_agg(c.relname || '.' || t.tgname, jsonb_build_object(
        'enabled', t.tgenabled, 'function', t.tgfoid::regproc::text, 'type', t.tgtype,
        'deferred', t.tginitdeferred, 'arguments', encode(t.tgargs, 'escape'),
        'condition', case when t.tgqual is null then ''
            else substring(pg_get_triggerdef(t.oid) from ' WHEN (.*) EXECUTE ') end,
        'columns', t.tgattr::text))
    from pg_trigger t
    join pg_class c on c.oid = t.tgrelid
    where not t.tgisinternal
        and c.relnamespace in ('public'::regnamespace, 'cutter_governance'::regnamespace)
$$;

CREATE FUNCTION cutter_governance.fn_tuple_covers(p_statement jsonb, p_run cutter_governance.run, p_request cutter_governance.approval_request) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    select coalesce(p_run.mode = 'live' and p_run.batch_id = p_statement ->> 'batch_id'
        and p_run.document_id = p_statement ->> 'document_id'
        and p_run.source_version_id::text = p_statement ->> 'source_version_id'
        and p_request.tuple ->> 'writer_digest' = p_statement ->> 'writer_digest'
        and p_request.tuple ->> 'candidate_count' = p_statement ->> 'candidate_count'
        and p_request.tuple ->> 'findings_digest' = p_statement ->> 'findings_digest'
        and p_request.tuple ->> 'accepted_findings' = p_statement ->> 'accepted_findings'
        and p_request.gate = p_statement ->> 'gate'
        and exists (
            select from cutter_governance.run r join cutter_governance.approval_request q on q.run_id = r.run_id
            where r.batch_id = p_run.batch_id || '-dryrun' and r.document_id = p_run.document_id
                and r.mode = 'dryrun' and q.request_sha256 = p_statement ->> 'request_sha256')
        and (p_request.gate <> 'SG_lifecycle_authz' or (
            exists (select from cutter_governance.prepared_decision d
                    where d.review_decision_id = p_request.review_decision_id and d.batch_id = p_run.batch_id
                        and d.document_id = p_run.document_id)
            and cutter_governance.fn_stored_digest(p_run.run_id) = p_statement ->> 'writer_digest'
            and exists (select from cutter_governance.cut_change_set c
                        join cutter_governance.verify_result v on v.change_set_id = c.change_set_id
                        where c.run_id = p_run.run_id and v.verdict = 'pass'))), false)
$$;

CREATE FUNCTION cutter_governance.fn_unsigned_decide(p_run_id text, p_stop text, p_decision text, p_approver text, p_account text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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

CREATE FUNCTION cutter_governance.fn_unsigned_may(p_mode text, p_tier text) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
    select coalesce((select e.body ~ '(?n)^signing: optional$' from cutter_governance.policy_epoch e
                     order by e.number desc limit 1), false)
        and coalesce(p_mode = 'dryrun' and p_tier in ('low', 'medium', 'high'), false)
$_$;

CREATE FUNCTION cutter_governance.fn_utc(p_at timestamp with time zone) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    RETURN to_char((p_at AT TIME ZONE 'UTC'::text), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'::text);

CREATE FUNCTION cutter_governance.fn_verdict_record(p_run_id text, p_gate text, p_kb_id text, p_verdict jsonb, p_body bytea DEFAULT NULL::bytea, p_signature bytea DEFAULT NULL::bytea) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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

CREATE FUNCTION cutter_governance.fn_verify_problem(p_run cutter_governance.run) RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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

CREATE FUNCTION cutter_governance.fn_version_line(p_version_id uuid) RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
    select concat_ws(E'\x1f', u.canonical_address, v.unit_kind, v.section_type, coalesce(v.publication_type, ''),
        v.owner_ref, v.title, encode(sha256(convert_to(v.body, 'UTF8')), 'hex'), coalesce(p.canonical_address, ''))
    from public.unit_version v
    join public.information_unit u on u.id = v.unit_id
    left join public.information_unit p on p.id = v.parent_unit_id
    where v.id = p_version_id
$$;

CREATE FUNCTION cutter_governance.fn_vocabulary_extend(p_words jsonb, p_by text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
declare
    v_wrong text;
    v_new jsonb;
begin
    select f.family || ' ' || coalesce(c.code, '(none)') into v_wrong
    from jsonb_each(p_words) as f (family, codes), jsonb_array_elements_text(f.codes) as c (code)
    where f.family not in ('owner', 'publication_type', 'unit_kind')
        or coalesce(c.code, '') !~ '^[a-z][a-z0-9_-]{0,47}$'
    limit 1;
    if v_wrong is not null then
        raise exception '% cannot be added to the vocabulary', v_wrong using errcode = 'CU003';
    end if;
    with added as (
        insert into public.vocabulary (family, code)
        select f.family, c.code from jsonb_each(p_words) as f (family, codes),
            jsonb_array_elements_text(f.codes) as c (code)
        on conflict do nothing
        returning family, code
    )
    select coalesce(jsonb_agg(jsonb_build_array(family, code) order by family, code), '[]') into v_new from added;
    if v_new <> '[]' then
        perform cutter_governance.fn_audit_append('vocabulary', 'vocabulary', 'vocabulary_extended', jsonb_build_object(
            'words', v_new, 'by', left(p_by, 100), 'session', session_user));
        perform cutter_governance.fn_audit_anchor('vocabulary', 'vocabulary_extended');
    end if;
    return jsonb_build_object('added', v_new);
end
$_$;

CREATE FUNCTION cutter_governance.fn_void_close(p_run_id text, p_state text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
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
        select count(*) filter (where u.deleted_at is null and (
                u.lifecycle_status = 'draft' or v.lifecycle_status = 'draft' and v.withdrawn_at is null)),
            count(*) filter (where v.withdrawn_reason = 'void ' || p_run_id)
        into v_drafts, v_withdrawn
        -- Each part has its own index: no index has both the units that exist and those that are withdrawn.
        from (
            select * from public.information_unit e where e.deleted_at is null
                and e.canonical_address >= v_docprefix || '/' collate "C"
                and e.canonical_address < v_docprefix || '0' collate "C"
            union all
            select * from public.information_unit w where w.deleted_at is not null
                and w.canonical_address >= v_docprefix || '/' collate "C"
                and w.canonical_address < v_docprefix || '0' collate "C"
        ) u
        join public.unit_version v on v.unit_id = u.id;
    end if;
    if v_drafts > 0 then
        raise exception 'run %: % drafts were not withdrawn', p_run_id, v_drafts using errcode = 'CU010';
    end if;
    update cutter_governance.void_record set closed_at = clock_timestamp(), withdrawn = v_withdrawn
    where run_id = p_run_id and opened_xid = pg_current_xact_id() and closed_at is null;
    if not found then
        raise exception 'run %: no void is open here', p_run_id using errcode = 'CU006';
    end if;
    perform cutter_governance.fn_run_move(p_run_id, p_state, 'void', 'warning', jsonb_build_object('withdrawn', v_withdrawn));
    return jsonb_build_object('status', 'voided', 'state', p_state, 'withdrawn', v_withdrawn);
end
$_$;

CREATE FUNCTION cutter_governance.fn_void_open(p_run_id text, p_statement_sha256 text, p_policy jsonb DEFAULT NULL::jsonb) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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

CREATE FUNCTION cutter_governance.fn_wave_backup(p_run_id text, p_batch_id text, p_seconds double precision) RETURNS jsonb
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
    -- From the backups of that time, because nothing bounds how many there are of all times. Their index begins with the time
    -- of the record. An index finds only what is compared with one time, so it is that of the statement.
    with recent as materialized (
        select a.id, a.run_id, a.target, a.response_metadata ->> 'sha256' as sha256,
            a.response_metadata ->> 'taken_utc' as taken_utc
        from cutter_governance.action_receipt a
        where a.connector = 'backup' and a.operation = 'take'
            and a.response_metadata ->> 'taken_utc' > to_char(
                (statement_timestamp() - make_interval(secs => p_seconds)) at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS"Z"')
            and a.at > statement_timestamp() - make_interval(secs => p_seconds)
            and exists (select from cutter_governance.run mine where mine.run_id = p_run_id and mine.batch_id = p_batch_id))
    select g.result -> 'pins' from recent a
    join cutter_governance.run r on r.run_id = a.run_id and r.batch_id = p_batch_id
    join cutter_governance.gate_receipt g on g.run_id = r.run_id and g.gate = 'IG_backup' and g.sealed_at is not null
        and g.result -> 'pins' ->> 'backup_artifact' = a.target and g.result -> 'pins' ->> 'backup_sha256' = a.sha256
    where cutter_governance.fn_backup_problem() is null
        and a.taken_utc >= coalesce((
            select to_char(h.given_up_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
            from cutter_governance.backup_head h), '')
    order by a.id desc limit 1
$$;

CREATE FUNCTION cutter_governance.fn_wave_lock(p_batch_id text) RETURNS boolean
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    RETURN pg_try_advisory_lock(hashtextextended(('cutter backup '::text || p_batch_id), (0)::bigint));

CREATE FUNCTION cutter_governance.fn_worker_beat(p_worker_id text, p_build_id text, p_beat_seconds integer, p_queues jsonb, p_state text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_role text := case session_user when 'cutter_read' then 'cutter' when 'cutter_exec' then 'exec'
        when 'cutter_verify' then 'verify' end;
    seen cutter_governance.worker_heartbeat;
begin
    if v_role is null then
        raise exception '% serves no task queue', session_user using errcode = 'CU006';
    end if;
    select * into seen from cutter_governance.worker_heartbeat where worker_id = p_worker_id for update;
    if not found then
        if p_state <> 'initializing' then
            return 'shutdown';
        end if;
        perform cutter_governance.fn_workers_judge();
        delete from cutter_governance.worker_heartbeat
        where seen_at < clock_timestamp() - interval '7 days' or worker_id in (
            select worker_id from cutter_governance.worker_heartbeat
            where owner = session_user and state = 'shutdown' order by seen_at desc, worker_id offset 1000);
        if (select count(*) from cutter_governance.worker_heartbeat
            where owner = session_user and state <> 'shutdown') >= 1000
        then
            raise exception 'too many workers of % at once', session_user using errcode = 'CU006';
        end if;
        insert into cutter_governance.worker_heartbeat (worker_id, role, build_id, queues, beat_seconds)
        values (p_worker_id, v_role, p_build_id, p_queues, p_beat_seconds);
        return 'initializing';
    end if;
    if seen.owner <> session_user then
        raise exception 'worker % is not one of %', p_worker_id, session_user using errcode = 'CU006';
    end if;
    if seen.state = 'shutdown' then
        return seen.state;
    end if;
    update cutter_governance.worker_heartbeat set seen_at = clock_timestamp(), queues = p_queues
    where worker_id = p_worker_id returning * into seen;
    -- it comes back, and it goes from any work to any other, by being idle
    if seen.state = 'unresponsive' or (seen.state = 'initializing' and p_state = 'busy') then
        seen := cutter_governance.fn_worker_move(seen, 'idle');
    end if;
    if seen.state <> p_state then
        seen := cutter_governance.fn_worker_move(seen, p_state);
    end if;
    return seen.state;
end
$$;

CREATE TABLE cutter_governance.worker_heartbeat (
    worker_id text NOT NULL,
    owner text DEFAULT SESSION_USER NOT NULL,
    role text NOT NULL,
    build_id text NOT NULL,
    state text DEFAULT 'initializing'::text NOT NULL,
    queues jsonb NOT NULL,
    beat_seconds integer NOT NULL,
    started_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    state_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    seen_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT worker_heartbeat_beat_seconds_check CHECK (((beat_seconds >= 1) AND (beat_seconds <= 300))),
    CONSTRAINT worker_heartbeat_build_id_check CHECK (((length(build_id) >= 1) AND (length(build_id) <= 100))),
    CONSTRAINT worker_heartbeat_queues_check CHECK ((length((queues)::text) <= 2000)),
    CONSTRAINT worker_heartbeat_role_check CHECK ((role = ANY (ARRAY['cutter'::text, 'exec'::text, 'verify'::text]))),
    CONSTRAINT worker_heartbeat_state_check CHECK ((state = ANY (ARRAY['initializing'::text, 'idle'::text, 'busy'::text, 'unresponsive'::text, 'shutdown'::text]))),
    CONSTRAINT worker_heartbeat_worker_id_check CHECK (((length(worker_id) >= 1) AND (length(worker_id) <= 100)))
);

CREATE FUNCTION cutter_governance.fn_worker_move(p_worker cutter_governance.worker_heartbeat, p_to text) RETURNS cutter_governance.worker_heartbeat
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    v_trigger text := cutter_governance.fn_worker_trigger(p_worker.state, p_to);
    moved cutter_governance.worker_heartbeat;
begin
    if v_trigger is null then
        raise exception 'worker %: % is not reached from %', p_worker.worker_id, p_to, p_worker.state
            using errcode = 'CU006';
    end if;
    -- the chain's head first: a later event on the chain also happened later
    insert into cutter_governance.audit_head (chain, seq, hash)
    values ('workers', 0, cutter_governance.fn_digest('workers')) on conflict do nothing;
    perform from cutter_governance.audit_head where chain = 'workers' for update;
    update cutter_governance.worker_heartbeat set state = p_to, state_at = clock_timestamp()
    where worker_id = p_worker.worker_id returning * into moved;
    perform cutter_governance.fn_audit_append('workers', 'workers', 'transition', jsonb_build_object(
        'timestamp', cutter_governance.fn_utc(moved.state_at), 'event_type', 'worker_state_transition',
        'severity', case when 'unresponsive' in (p_to, p_worker.state) and p_to <> 'idle' then 'error' else 'info' end,
        'entity_id', p_worker.worker_id, 'from_state', p_worker.state, 'to_state', p_to, 'trigger', v_trigger,
        'metadata', jsonb_build_object('role', moved.role, 'build_id', moved.build_id, 'queues', moved.queues)));
    if p_worker.state = 'initializing' then
        perform cutter_governance.fn_audit_anchor('workers', 'worker_registered');
    end if;
    return moved;
end
$$;

CREATE FUNCTION cutter_governance.fn_worker_trigger(p_from text, p_to text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'pg_temp'
    RETURN CASE ((p_from || ' '::text) || p_to) WHEN 'initializing idle'::text THEN 'registration_complete'::text WHEN 'idle busy'::text THEN 'task_assigned'::text WHEN 'busy idle'::text THEN 'task_completed'::text WHEN 'idle unresponsive'::text THEN 'health_check_timeout'::text WHEN 'busy unresponsive'::text THEN 'health_check_timeout'::text WHEN 'unresponsive idle'::text THEN 'health_check_recovered'::text WHEN 'unresponsive shutdown'::text THEN 'max_timeout_exceeded'::text WHEN 'initializing shutdown'::text THEN 'shutdown_requested'::text WHEN 'idle shutdown'::text THEN 'shutdown_requested'::text WHEN 'busy shutdown'::text THEN 'shutdown_requested'::text ELSE NULL::text END;

CREATE FUNCTION cutter_governance.fn_workers_judge() RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
declare
    silent cutter_governance.worker_heartbeat;
begin
    for silent in
        select * from cutter_governance.worker_heartbeat
        where state <> 'shutdown' and seen_at < clock_timestamp() - interval '1 second'
            * case state when 'initializing' then 600 else least(3 * beat_seconds, 600) end
        order by worker_id for update skip locked
    loop
        if silent.state in ('idle', 'busy') then
            silent := cutter_governance.fn_worker_move(silent, 'unresponsive');
        end if;
        if silent.seen_at < clock_timestamp() - interval '10 minutes' then
            perform cutter_governance.fn_worker_move(silent, 'shutdown');
        end if;
    end loop;
end
$$;

CREATE FUNCTION cutter_governance.fn_writer_digest(p_docprefix text) RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
    select encode(sha256(convert_to('writer/1' || coalesce(string_agg(E'\n' || line, '' order by address), ''), 'UTF8')), 'hex')
    from (
        select u.canonical_address as address,
            concat_ws(E'\x1f', u.canonical_address, u.unit_kind, u.identity_profile ->> 'primary_section_type_ref',
                coalesce(u.identity_profile ->> 'publication_type_ref', ''), u.owner_ref,
                u.identity_profile ->> 'title', encode(sha256(convert_to(v.body, 'UTF8')), 'hex'),
                case when p.deleted_at is null then coalesce(p.canonical_address, '') else '' end) as line
        from public.information_unit u
        join public.unit_version v on v.id = u.version_anchor_ref
        left join public.information_unit p on p.id = u.parent_or_container_ref
        where u.canonical_address >= p_docprefix || '/' collate "C" and u.canonical_address < p_docprefix || '0' collate "C"
            and u.deleted_at is null) as rows
$$;

CREATE FUNCTION public.fn_content_hash(p_body text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    RETURN encode(sha256(convert_to(p_body, 'UTF8'::name)), 'hex'::text);

CREATE FUNCTION public.fn_enacted_immutable() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
    if tg_op = 'TRUNCATE' then
        raise exception '% may not be truncated: it holds enacted law', tg_table_name using errcode = 'CU002';
    end if;
    if old.lifecycle_status <> 'draft'
        and (tg_op = 'DELETE' or not public.fn_may_end(tg_table_name, to_jsonb(old), to_jsonb(new)))
    then
        raise exception '% %: enacted law is immutable', tg_table_name, old.id using errcode = 'CU002';
    end if;
    if tg_op = 'DELETE' then
        return old;
    end if;
    return new;
end
$$;

CREATE FUNCTION public.fn_iu_apply_edit_draft(p_draft_id uuid, p_actor text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
declare
    draft public.iu_edit_draft;
    unit public.information_unit;
    v_version uuid := gen_random_uuid();
    v_seq integer;
begin
    select * into draft from public.iu_edit_draft d where d.id = p_draft_id;
    if not found then
        return jsonb_build_object('status', 'refused_unknown_draft');
    end if;
    select * into unit from public.information_unit u where u.id = draft.unit_id and u.deleted_at is null for update;
    if not found or unit.lifecycle_status <> 'draft' then
        return jsonb_build_object('status', 'refused_base_enacted');
    end if;
    select max(version_seq) + 1 into v_seq from public.unit_version v where v.unit_id = unit.id;
    perform set_config('app.canonical_writer', 'fn_iu_apply_edit_draft', true);
    insert into public.unit_version (
        id, unit_id, body, content_hash, version_seq, lifecycle_status, created_by, source_version_id, document_order,
        title, unit_kind, section_type, publication_type, owner_ref, parent_unit_id)
    select v_version, v.unit_id, draft.body, public.fn_content_hash(draft.body), v_seq, unit.lifecycle_status, p_actor,
        v.source_version_id, v.document_order, v.title, v.unit_kind, v.section_type, v.publication_type, v.owner_ref,
        v.parent_unit_id
    from public.unit_version v where v.id = unit.version_anchor_ref;
    update public.information_unit u
    set content_anchor_ref = v_version::text, version_anchor_ref = v_version, updated_at = clock_timestamp(),
        updated_by = p_actor
    where u.id = unit.id;
    perform set_config('app.canonical_writer', '', true);
    return jsonb_build_object('status', 'applied', 'version_id', v_version);
end
$$;

CREATE FUNCTION public.fn_iu_birth_gate_layer1() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
declare
    missing text;
begin
    select family || ' ' || coalesce(code, '(none)') into missing
    from (values ('unit_kind', new.unit_kind),
                 ('section_type', new.identity_profile ->> 'primary_section_type_ref'),
                 ('publication_type', new.identity_profile ->> 'publication_type_ref'),
                 ('owner', new.owner_ref)) as wanted (family, code)
    where not exists (
        select from public.vocabulary v where v.family = wanted.family and v.code = wanted.code)
        and not (wanted.family = 'publication_type' and wanted.code is null)
    limit 1;
    if missing is not null then
        raise exception '%: % is not in the vocabulary', new.canonical_address, missing using errcode = 'CU003';
    end if;
    if new.lifecycle_status <> 'draft' then
        raise exception '%: units are born as drafts', new.canonical_address using errcode = 'CU003';
    end if;
    return new;
end
$$;

CREATE FUNCTION public.fn_iu_birth_gate_layer2() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
begin
    if not exists (
        select from public.information_unit u
        join public.unit_version v on v.id = u.version_anchor_ref and v.unit_id = u.id
        where u.id = new.id and u.unit_kind = v.unit_kind and u.owner_ref = v.owner_ref
            and u.parent_or_container_ref is not distinct from v.parent_unit_id
            and u.identity_profile = public.fn_version_profile(v)
            and u.content_anchor_ref = v.id::text and u.lifecycle_status = v.lifecycle_status)
    then
        raise exception '%: anchors do not agree at commit', new.canonical_address using errcode = 'CU004';
    end if;
    return null;
end
$$;

CREATE FUNCTION public.fn_iu_create(p_canonical_address text, p_title text, p_body text, p_actor text, p_unit_kind text DEFAULT NULL::text, p_section_type text DEFAULT NULL::text, p_owner_ref text DEFAULT NULL::text, p_publication_type text DEFAULT NULL::text, p_parent_ref uuid DEFAULT NULL::uuid) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
declare
    plan jsonb;
    v_unit uuid := gen_random_uuid();
    v_version uuid := gen_random_uuid();
    v_profile jsonb;
    v_place integer := public.fn_iu_next_place();
begin
    perform pg_advisory_xact_lock(hashtext(p_canonical_address));
    plan := public.fn_iu_create_plan(p_canonical_address, p_title, p_body, p_actor);
    if plan ->> 'status' <> 'plan_ok' then
        return plan;
    end if;
    v_profile := jsonb_strip_nulls(jsonb_build_object(
        'title', p_title, 'owner_lookup_ref', coalesce(p_owner_ref, p_actor),
        'primary_section_type_ref', coalesce(p_section_type, 'section'), 'publication_type_ref', p_publication_type));
    perform set_config('app.canonical_writer', 'fn_iu_create', true);
    insert into public.information_unit (
        id, canonical_address, unit_kind, content_anchor_ref, version_anchor_ref, owner_ref, parent_or_container_ref,
        identity_profile, created_by, updated_by)
    values (
        v_unit, p_canonical_address, coalesce(p_unit_kind, 'law_unit'), v_version::text, v_version,
        coalesce(p_owner_ref, p_actor), p_parent_ref, v_profile, p_actor, p_actor);
    insert into public.unit_version (
        id, unit_id, body, content_hash, version_seq, created_by, source_version_id, document_order, title, unit_kind,
        section_type, publication_type, owner_ref, parent_unit_id)
    values (
        v_version, v_unit, p_body, public.fn_content_hash(p_body), 1, p_actor,
        cutter_governance.fn_source_of_open_gate(p_canonical_address), v_place, p_title,
        coalesce(p_unit_kind, 'law_unit'), coalesce(p_section_type, 'section'), p_publication_type,
        coalesce(p_owner_ref, p_actor), p_parent_ref);
    perform set_config('app.canonical_writer', '', true);
    return jsonb_build_object('status', 'created', 'canonical_address', p_canonical_address, 'unit_id', v_unit,
                              'version_id', v_version, 'invariants_verified', true);
end
$$;

CREATE FUNCTION public.fn_iu_create_plan(p_canonical_address text, p_title text, p_body text, p_actor text, p_unit_kind text DEFAULT NULL::text, p_section_type text DEFAULT NULL::text, p_owner_ref text DEFAULT NULL::text, p_publication_type text DEFAULT NULL::text, p_parent_ref uuid DEFAULT NULL::uuid) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
declare
    existing public.information_unit;
    version public.unit_version;
begin
    if coalesce(p_canonical_address, '') = '' or coalesce(p_title, '') = '' or coalesce(p_body, '') = ''
        or coalesce(p_actor, '') = ''
    then
        return jsonb_build_object('status', 'refused_empty_argument', 'canonical_address', p_canonical_address);
    end if;
    select * into existing from public.information_unit u
    where u.canonical_address = p_canonical_address and u.deleted_at is null;
    if not found then
        return jsonb_build_object('status', 'plan_ok', 'canonical_address', p_canonical_address);
    end if;
    if existing.version_anchor_ref is null then
        return jsonb_build_object('status', 'exists_missing_version', 'unit_id', existing.id);
    end if;
    select * into version from public.unit_version v where v.id = existing.version_anchor_ref;
    if not found or version.unit_id <> existing.id or existing.content_anchor_ref <> version.id::text then
        return jsonb_build_object('status', 'exists_anchor_invalid', 'unit_id', existing.id);
    end if;
    if version.content_hash = public.fn_content_hash(p_body) then
        return jsonb_build_object('status', 'exists_complete', 'unit_id', existing.id);
    end if;
    return jsonb_build_object('status', 'exists_unknown_state', 'unit_id', existing.id);
end
$$;

CREATE FUNCTION public.fn_iu_draft(p_unit public.information_unit, p_place integer, p_title text, p_body text, p_actor text, p_unit_kind text, p_section_type text, p_owner_ref text, p_publication_type text, p_parent_unit_id uuid) RETURNS uuid
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
declare
    v_version uuid := gen_random_uuid();
begin
    perform set_config('app.canonical_writer', 'fn_iu_revise', true);
    insert into public.unit_version (
        id, unit_id, body, content_hash, version_seq, created_by, source_version_id, document_order, title, unit_kind,
        section_type, publication_type, owner_ref, parent_unit_id)
    values (
        v_version, p_unit.id, p_body, public.fn_content_hash(p_body),
        (select max(v.version_seq) + 1 from public.unit_version v where v.unit_id = p_unit.id), p_actor,
        cutter_governance.fn_source_of_open_gate(p_unit.canonical_address), p_place, p_title,
        coalesce(p_unit_kind, 'law_unit'), coalesce(p_section_type, 'section'), p_publication_type,
        coalesce(p_owner_ref, p_actor), p_parent_unit_id);
    perform set_config('app.canonical_writer', '', true);
    return v_version;
end
$$;

CREATE FUNCTION public.fn_iu_enact(p_canonical_address text, p_actor text, p_review_decision_id uuid, p_target_lifecycle text DEFAULT 'enacted'::text, p_change_set_id uuid DEFAULT NULL::uuid, p_reason text DEFAULT NULL::text, p_tool_revision text DEFAULT NULL::text, p_dry_run boolean DEFAULT false) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
declare
    unit public.information_unit;
    affected cutter_governance.cut_change_set_affected_row;
    enacted public.enactment;
    v_refusal text := cutter_governance.fn_enact_refusal(
        p_review_decision_id, p_change_set_id, p_target_lifecycle, p_dry_run);
begin
    if v_refusal is null then
        select * into unit from public.information_unit u
        where u.canonical_address = p_canonical_address and u.deleted_at is null for update;
        select * into affected from cutter_governance.cut_change_set_affected_row a
        where a.change_set_id = p_change_set_id and a.unit_id = unit.id;
        v_refusal := case
            when unit.id is null then 'refused_unknown_unit'
            when unit.lifecycle_status = 'enacted' and affected.ended_version_id is distinct from unit.version_anchor_ref
                then 'already_enacted'
            -- If no affected row names the unit, fn_affected_as_stored is false.
            when (affected.operation = 'repeal') <> (p_target_lifecycle = 'retired')
                or not cutter_governance.fn_affected_as_stored(affected, unit) then 'refused_not_in_change_set'
            when p_dry_run then 'dry_run_ok' end;
    end if;
    if v_refusal is not null then
        return jsonb_build_object('status', v_refusal, 'canonical_address', p_canonical_address);
    end if;
    enacted := cutter_governance.fn_enactment_of(p_change_set_id);
    perform set_config('app.canonical_writer', 'fn_iu_enact', true);
    update public.unit_version v
    set lifecycle_status = case affected.operation when 'repeal' then 'retired' else 'superseded' end,
        effective_until = enacted.effective_from, ended_by = p_change_set_id, ended_at = clock_timestamp()
    where v.id = affected.ended_version_id;
    update public.unit_version v
    set lifecycle_status = 'enacted', enacted_at = clock_timestamp(), enacted_by = p_change_set_id,
        effective_from = enacted.effective_from, continues_unit_id = (
            select w.continues_unit_id from cutter_governance.revision_row w
            where w.run_id = enacted.run_id and w.unit_id = unit.id)
    where v.id = affected.unit_version_id;
    perform public.fn_iu_show(unit.id, coalesce(affected.unit_version_id, affected.ended_version_id), p_actor);
    perform set_config('app.canonical_writer', '', true);
    insert into public.iu_lifecycle_log (
        unit_id, from_status, to_status, actor, review_decision_id, change_set_id, reason, tool_revision)
    values (unit.id, unit.lifecycle_status, p_target_lifecycle, p_actor, p_review_decision_id, p_change_set_id, p_reason,
        p_tool_revision);
    return jsonb_build_object('status', p_target_lifecycle, 'canonical_address', p_canonical_address, 'unit_id', unit.id);
end
$$;

CREATE FUNCTION public.fn_iu_gateway_guard() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
declare
    marker text := coalesce(current_setting('app.canonical_writer', true), '');
    v_address text;
begin
    if tg_op = 'DELETE' or session_user <> 'cutter_exec'
        or marker not in ('fn_iu_create', 'fn_iu_revise', 'fn_iu_apply_edit_draft', 'fn_iu_enact', 'fn_iu_withdraw_drafts')
    then
        raise exception 'IU Gateway blocked: % on % by % outside the gateway functions', tg_op, tg_table_name, session_user
            using errcode = 'CU001';
    end if;
    if tg_table_name = 'information_unit' then
        v_address := new.canonical_address;
    else
        select u.canonical_address into v_address from public.information_unit u where u.id = new.unit_id;
    end if;
    if marker = 'fn_iu_withdraw_drafts' then
        perform from cutter_governance.void_record v
        join cutter_governance.run r on r.run_id = v.run_id
        where v.opened_xid = pg_current_xact_id() and v.closed_at is null and starts_with(v_address, r.docprefix || '/');
    else
        perform from cutter_governance.gate_receipt g
        join cutter_governance.run r on r.run_id = g.run_id
        where g.opened_xid = pg_current_xact_id() and g.sealed_at is null and g.prev_hash <> ''
            and starts_with(v_address, r.docprefix || '/')
            and g.gate = case marker when 'fn_iu_enact' then 'IG_lifecycle_enact_execute' else 'IG_cut_leg_a_execute' end;
    end if;
    if not found then
        raise exception 'IU Gateway blocked: % for %: no gate of its run is open in this transaction', marker, v_address
            using errcode = 'CU007';
    end if;
    return new;
end
$$;

CREATE FUNCTION public.fn_iu_keep(p_run_id text, p_places integer[], p_addresses text[]) RETURNS SETOF text
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
    with planned as materialized (
        select p.n, p.place, p.address, u.id, u.version_anchor_ref, u.id is not null and u.lifecycle_status <> 'retired' as known
        from unnest(p_places, p_addresses) with ordinality as p (place, address, n)
        left join public.information_unit u on u.canonical_address = p.address collate "C" and u.deleted_at is null),
    written as (
        insert into cutter_governance.revision_row (
            run_id, address, document_order, operation, unit_id, version_id, base_version_id)
        select p_run_id, address, place, 'keep', id, version_anchor_ref, version_anchor_ref from planned where known)
    select case when known then 'kept' else 'refused_not_in_base' end from planned order by n
$$;

CREATE FUNCTION public.fn_iu_next_place() RETURNS integer
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    RETURN (set_config('app.document_order'::text, (((COALESCE(NULLIF(current_setting('app.document_order'::text, true), ''::text), '0'::text))::integer + 1))::text, true))::integer;

CREATE FUNCTION public.fn_iu_revise(p_run_id text, p_operation text, p_place integer, p_canonical_address text, p_actor text, p_title text DEFAULT NULL::text, p_body text DEFAULT NULL::text, p_unit_kind text DEFAULT NULL::text, p_section_type text DEFAULT NULL::text, p_owner_ref text DEFAULT NULL::text, p_publication_type text DEFAULT NULL::text, p_parent_address text DEFAULT NULL::text, p_continues_address text DEFAULT NULL::text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
declare
    unit public.information_unit;
    v_parent uuid;
    v_version uuid;
    v_status text;
begin
    perform pg_advisory_xact_lock(hashtext(p_canonical_address));
    select * into unit from public.information_unit u
    where u.canonical_address = p_canonical_address and u.deleted_at is null;
    v_status := case
        when p_operation not in ('revise', 'create', 'repeal') then 'refused_operation'
        when (p_operation = 'create') <> (unit.id is null or unit.lifecycle_status = 'retired') then 'refused_not_in_base'
        when p_operation in ('create', 'revise') and (coalesce(p_title, '') = '' or coalesce(p_body, '') = '')
            then 'refused_empty_argument' end;
    if v_status is not null then
        return jsonb_build_object('status', v_status, 'canonical_address', p_canonical_address);
    end if;
    select u.id into v_parent from public.information_unit u
    where u.canonical_address = p_parent_address and u.deleted_at is null;
    if p_operation = 'create' and unit.id is null then
        perform set_config('app.document_order', (p_place - 1)::text, true);
        perform public.fn_iu_create(p_canonical_address, p_title, p_body, p_actor, p_unit_kind, p_section_type,
            p_owner_ref, p_publication_type, v_parent);
        select * into unit from public.information_unit u
        where u.canonical_address = p_canonical_address and u.deleted_at is null;
        v_version := unit.version_anchor_ref;
        v_status := 'created';
    elsif p_operation in ('create', 'revise') then
        v_version := public.fn_iu_draft(unit, p_place, p_title, p_body, p_actor, p_unit_kind, p_section_type, p_owner_ref,
            p_publication_type, v_parent);
        v_status := case p_operation when 'create' then 'revived' else 'revised' end;
    end if;
    insert into cutter_governance.revision_row (
        run_id, address, document_order, operation, unit_id, version_id, base_version_id, continues_unit_id)
    values (p_run_id, p_canonical_address, p_place, p_operation, unit.id,
        v_version, case when p_operation <> 'create' then unit.version_anchor_ref end,
        (select u.id from public.information_unit u
         where u.canonical_address = p_continues_address and u.deleted_at is null));
    return jsonb_build_object('canonical_address', p_canonical_address, 'unit_id', unit.id, 'version_id', v_version,
        'status', coalesce(v_status, 'repealed'));
end
$$;

CREATE FUNCTION public.fn_iu_show(p_unit_id uuid, p_version_id uuid, p_actor text) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
    update public.information_unit u
    set lifecycle_status = v.lifecycle_status, content_anchor_ref = v.id::text, version_anchor_ref = v.id,
        unit_kind = v.unit_kind, owner_ref = v.owner_ref, parent_or_container_ref = v.parent_unit_id,
        identity_profile = public.fn_version_profile(v), updated_at = clock_timestamp(), updated_by = p_actor
    from public.unit_version v
    where u.id = p_unit_id and v.id = p_version_id and v.unit_id = u.id
$$;

CREATE FUNCTION public.fn_iu_withdraw_drafts(p_run_id text) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
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
        update public.unit_version v
        set withdrawn_at = clock_timestamp(), withdrawn_reason = 'void ' || p_run_id
        from public.information_unit u
        where u.id = v.unit_id and v.lifecycle_status = 'draft' and v.withdrawn_at is null and u.deleted_at is null
            and u.canonical_address >= v_docprefix || '/' collate "C"
            and u.canonical_address < v_docprefix || '0' collate "C"
            and (u.version_anchor_ref = v.id or u.lifecycle_status <> 'draft');
        get diagnostics v_count = row_count;
        update public.information_unit u
        set deleted_at = clock_timestamp(), withdrawn_reason = 'void ' || p_run_id, updated_at = clock_timestamp(),
            updated_by = session_user
        where u.canonical_address >= v_docprefix || '/' collate "C" and u.canonical_address < v_docprefix || '0' collate "C"
            and u.deleted_at is null and u.lifecycle_status = 'draft';
        perform set_config('app.canonical_writer', '', true);
    end if;
    return jsonb_build_object('status', 'withdrawn', 'count', v_count);
end
$$;

CREATE FUNCTION public.fn_law_of(p_run_id text) RETURNS TABLE(document_order integer, address text, unit_id uuid, version_id uuid, title text, body_sha256 text, unit_kind text, section_type text, publication_type text, owner text, parent_address text)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
    select b.render_order, u.canonical_address, u.id, v.id, v.title, v.content_hash, v.unit_kind, v.section_type,
        v.publication_type, v.owner_ref, p.canonical_address
    from public.enactment e
    join cutter_governance.cut_change_set c on c.change_set_id = e.change_set_id
    join cutter_governance.manifest_unit_block b on b.envelope_id = c.manifest_id and b.block_role = 'result'
    join public.unit_version v on v.id = coalesce(b.target_version_id, (
        select a.unit_version_id from cutter_governance.cut_change_set_affected_row a
        where a.change_set_id = c.change_set_id and a.unit_id = b.target_unit_id))
    join public.information_unit u on u.id = v.unit_id
    left join public.information_unit p on p.id = v.parent_unit_id
    where e.run_id = p_run_id
    order by b.render_order
$$;

CREATE FUNCTION public.fn_may_end(p_table text, p_old jsonb, p_new jsonb) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    AS $$
    select coalesce(bool_or(case p_table
        when 'unit_version' then p_old ->> 'lifecycle_status' = 'enacted'
            and p_new ->> 'lifecycle_status' = case a.operation when 'repeal' then 'retired' else 'superseded' end
            and p_new ->> 'ended_by' = a.change_set_id::text and p_old ->> 'id' = a.ended_version_id::text
            and p_new - ended = p_old - ended
        else p_new ->> 'version_anchor_ref' = coalesce(a.unit_version_id, a.ended_version_id)::text
            and p_new ->> 'lifecycle_status' = case a.operation when 'repeal' then 'retired' else 'enacted' end
            and p_new - shown = p_old - shown end), false)
    from cutter_governance.gate_receipt g
    join cutter_governance.cut_change_set c on c.run_id = g.run_id
    join cutter_governance.cut_change_set_affected_row a on a.change_set_id = c.change_set_id
        and a.unit_id = (p_old ->> case p_table when 'unit_version' then 'unit_id' else 'id' end)::uuid
    cross join (select array['lifecycle_status', 'effective_until', 'ended_by', 'ended_at'] as ended,
        array['lifecycle_status', 'content_anchor_ref', 'version_anchor_ref', 'unit_kind', 'owner_ref',
            'parent_or_container_ref', 'identity_profile', 'updated_at', 'updated_by'] as shown) as columns
    where g.opened_xid = pg_current_xact_id() and g.sealed_at is null and g.gate = 'IG_lifecycle_enact_execute'
$$;

CREATE FUNCTION public.fn_version_profile(p_version public.unit_version) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'public', 'pg_temp'
    RETURN jsonb_strip_nulls(jsonb_build_object('title', (p_version).title, 'owner_lookup_ref', (p_version).owner_ref, 'primary_section_type_ref', (p_version).section_type, 'publication_type_ref', (p_version).publication_type));

CREATE TABLE public.iu_lifecycle_log (
    id bigint NOT NULL,
    unit_id uuid NOT NULL,
    from_status text NOT NULL,
    to_status text NOT NULL,
    actor text NOT NULL,
    review_decision_id uuid,
    change_set_id uuid,
    reason text,
    tool_revision text,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

CREATE TABLE public.source_document (
    source_document_ref text NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    doc_code text NOT NULL,
    tenant text DEFAULT 'default'::text NOT NULL,
    address_docprefix text NOT NULL COLLATE pg_catalog."C",
    source_url text,
    source_family text NOT NULL,
    authority_class text NOT NULL,
    display_vi text,
    display_en text,
    lifecycle text DEFAULT 'active'::text NOT NULL,
    forbidden_ids text[] DEFAULT '{}'::text[] NOT NULL,
    registered_by text NOT NULL,
    registered_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT source_document_code_form CHECK ((doc_code ~ '^[A-Z0-9-]{3,64}$'::text)),
    CONSTRAINT source_document_docprefix_form CHECK ((address_docprefix ~ '^[A-Z0-9][A-Z0-9-]{1,30}[A-Z0-9]$'::text)),
    CONSTRAINT source_document_docprefix_not_reserved CHECK (((address_docprefix !~ '^DIEU'::text) AND (address_docprefix <> 'ICX-CONST'::text))),
    CONSTRAINT source_document_lifecycle_check CHECK ((lifecycle = ANY (ARRAY['active'::text, 'retired'::text])))
);

CREATE VIEW api.change WITH (security_barrier='true') AS
 SELECT l.id AS cursor,
    l.at AS recorded_at,
    d.doc_code AS document,
    e.n AS version,
    e.operation_kind AS operation,
    a.operation AS change,
    u.canonical_address AS address,
    v.version_seq AS unit_version,
    v.title,
    v.content_hash AS content_sha256,
    o.version_seq AS ended_unit_version,
    o.content_hash AS ended_content_sha256,
    e.effective_from,
    e.run_id
   FROM ((((((public.iu_lifecycle_log l
     JOIN public.enactment e ON ((e.change_set_id = l.change_set_id)))
     JOIN public.source_document d ON ((d.source_document_ref = e.source_document_ref)))
     JOIN cutter_governance.cut_change_set_affected_row a ON (((a.change_set_id = l.change_set_id) AND (a.unit_id = l.unit_id))))
     JOIN public.information_unit u ON ((u.id = l.unit_id)))
     LEFT JOIN public.unit_version v ON ((v.id = a.unit_version_id)))
     LEFT JOIN public.unit_version o ON ((o.id = a.ended_version_id)))
  WHERE (l.to_status = ANY (ARRAY['enacted'::text, 'retired'::text]));

CREATE TABLE cutter_governance.manifest_unit_block (
    envelope_id uuid NOT NULL,
    unit_local_id text NOT NULL,
    block_role text NOT NULL,
    source_span text NOT NULL,
    span_sha256 text NOT NULL,
    render_order integer NOT NULL,
    target_unit_id uuid NOT NULL,
    proposed_canonical_address text NOT NULL,
    decision_backlog_ref uuid NOT NULL,
    operation text DEFAULT 'create'::text NOT NULL,
    target_version_id uuid,
    CONSTRAINT manifest_unit_block_block_role_check CHECK ((block_role = ANY (ARRAY['origin'::text, 'result'::text]))),
    CONSTRAINT manifest_unit_block_operation CHECK ((operation = ANY (ARRAY['keep'::text, 'revise'::text, 'create'::text, 'repeal'::text]))),
    CONSTRAINT manifest_unit_block_role_of_operation CHECK (((block_role = 'origin'::text) = (operation = 'repeal'::text)))
);

CREATE TABLE public.source_version (
    document_version_id text NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    source_document_ref text NOT NULL,
    version_seq integer NOT NULL,
    content_checksum text NOT NULL,
    size_bytes bigint NOT NULL,
    retrieval_timestamp timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    source_format text DEFAULT 'markdown'::text NOT NULL,
    authoritative_version boolean DEFAULT true NOT NULL,
    version_status text DEFAULT 'registered'::text NOT NULL,
    provenance jsonb DEFAULT '{}'::jsonb NOT NULL,
    profile_id text NOT NULL,
    profile_sha256 text NOT NULL,
    profile_body text NOT NULL,
    marking_options jsonb DEFAULT '{}'::jsonb NOT NULL,
    manifest_digest text,
    registered_by text NOT NULL,
    registered_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    effective_from date,
    change_kind text DEFAULT 'text'::text NOT NULL,
    change_reason text,
    CONSTRAINT source_version_change_has_reason CHECK ((((change_kind = 'text'::text) = (change_reason IS NULL)) AND (change_reason <> ''::text))),
    CONSTRAINT source_version_change_kind CHECK ((change_kind = ANY (ARRAY['text'::text, 'correction'::text, 'repeal'::text]))),
    CONSTRAINT source_version_correction_without_date CHECK (((change_kind <> 'correction'::text) OR (effective_from IS NULL))),
    CONSTRAINT source_version_profile_addressed_by_content CHECK ((profile_sha256 = encode(sha256(convert_to(profile_body, 'UTF8'::name)), 'hex'::text))),
    CONSTRAINT source_version_repeal_is_empty CHECK (((size_bytes >= 0) AND ((size_bytes = 0) = (change_kind = 'repeal'::text)))),
    CONSTRAINT source_version_version_seq_check CHECK ((version_seq > 0))
);

CREATE VIEW api.law_version WITH (security_barrier='true') AS
 SELECT d.doc_code AS document,
    e.n AS version,
    COALESCE(( SELECT (t.provenance ->> 'title'::text)
           FROM public.source_version t
          WHERE ((t.source_document_ref = s.source_document_ref) AND (t.version_seq <= s.version_seq) AND (t.provenance ? 'title'::text))
          ORDER BY t.version_seq DESC
         LIMIT 1), d.display_en, d.display_vi, d.doc_code) AS title,
    e.operation_kind AS operation,
    e.run_id,
    e.change_set_id AS change_set,
    e.enacted_at,
    e.effective_from,
    lead(e.effective_from) OVER later AS effective_until,
        CASE
            WHEN (e.effective_from > ((now() AT TIME ZONE 'UTC'::text))::date) THEN 'not_yet_in_force'::text
            WHEN (lead(e.effective_from) OVER later <= ((now() AT TIME ZONE 'UTC'::text))::date) THEN 'superseded'::text
            WHEN (e.operation_kind = 'repeal'::text) THEN 'repealed'::text
            ELSE 'in_force'::text
        END AS status,
    s.version_seq AS source_version,
    s.content_checksum AS source_sha256,
    c.region_sha AS region_sha256,
    c.manifest_version AS writer_digest,
    (( SELECT count(*) AS count
           FROM cutter_governance.manifest_unit_block m
          WHERE ((m.envelope_id = c.manifest_id) AND (m.block_role = 'result'::text))))::integer AS units,
    b.n AS base_version,
    e.base_receipt_hash,
    s.change_reason AS reason
   FROM ((((public.enactment e
     JOIN public.source_document d ON ((d.source_document_ref = e.source_document_ref)))
     JOIN public.source_version s ON ((s.id = e.source_version_id)))
     JOIN cutter_governance.cut_change_set c ON ((c.change_set_id = e.change_set_id)))
     LEFT JOIN public.enactment b ON ((b.run_id = e.base_run_id)))
  WINDOW later AS (PARTITION BY d.doc_code ORDER BY e.n);

CREATE VIEW api.law WITH (security_barrier='true') AS
 SELECT v.document,
    v.title,
    d.address_docprefix AS address_prefix,
    d.tenant,
    d.authority_class AS authority,
    d.source_url,
    v.status,
    v.version,
    v.effective_from,
    v.effective_until,
    v.units,
    ( SELECT max(a.version) AS max
           FROM api.law_version a
          WHERE (a.document = v.document)) AS newest_version,
    ( SELECT min(a.enacted_at) AS min
           FROM api.law_version a
          WHERE (a.document = v.document)) AS first_enacted_at,
    ( SELECT max(a.enacted_at) AS max
           FROM api.law_version a
          WHERE (a.document = v.document)) AS last_enacted_at
   FROM (( SELECT DISTINCT ON (a.document) a.document,
            a.version,
            a.title,
            a.operation,
            a.run_id,
            a.change_set,
            a.enacted_at,
            a.effective_from,
            a.effective_until,
            a.status,
            a.source_version,
            a.source_sha256,
            a.region_sha256,
            a.writer_digest,
            a.units,
            a.base_version,
            a.base_receipt_hash,
            a.reason
           FROM api.law_version a
          ORDER BY a.document, (a.effective_from <= ((now() AT TIME ZONE 'UTC'::text))::date) DESC,
                CASE
                    WHEN (a.effective_from <= ((now() AT TIME ZONE 'UTC'::text))::date) THEN a.version
                    ELSE (- a.version)
                END DESC) v
     JOIN public.source_document d ON ((d.doc_code = v.document)));

CREATE TABLE cutter_governance.approval_consumption (
    approval_sha256 text NOT NULL,
    run_id text NOT NULL,
    gate text NOT NULL,
    slot integer NOT NULL,
    request_id uuid NOT NULL,
    approver text NOT NULL,
    fingerprint text NOT NULL,
    document_id text NOT NULL,
    source_version_id uuid NOT NULL,
    writer_digest text NOT NULL,
    candidate_count integer NOT NULL,
    challenge text NOT NULL,
    review_decision_id uuid,
    policy_sha256 text NOT NULL,
    consumed_xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    consumed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT approval_consumption_slot_check CHECK ((slot > 0))
);

CREATE TABLE cutter_governance.dot_pair_signature (
    signature_id uuid NOT NULL,
    signature_kind text NOT NULL,
    signer_dot_id text NOT NULL,
    signer_identity text NOT NULL,
    signer_fingerprint text NOT NULL,
    signer_tool_revision text NOT NULL,
    payload text NOT NULL,
    payload_hash text NOT NULL,
    signature text NOT NULL,
    cross_reference_change_set_id uuid,
    cross_reference_verify_result_id uuid,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT dot_pair_signature_dot_of_kind CHECK (((signature_kind = 'executor'::text) = (signer_dot_id = 'DOT-991'::text))),
    CONSTRAINT dot_pair_signature_hash_of_payload CHECK ((payload_hash = encode(sha256(convert_to(payload, 'UTF8'::name)), 'hex'::text))),
    CONSTRAINT dot_pair_signature_one_reference CHECK ((((signature_kind = 'executor'::text) AND (cross_reference_change_set_id IS NOT NULL) AND (cross_reference_verify_result_id IS NULL)) OR ((signature_kind = 'verifier'::text) AND (cross_reference_verify_result_id IS NOT NULL) AND (cross_reference_change_set_id IS NULL)))),
    CONSTRAINT dot_pair_signature_signature_kind_check CHECK ((signature_kind = ANY (ARRAY['executor'::text, 'verifier'::text]))),
    CONSTRAINT dot_pair_signature_signer_dot_id_check CHECK ((signer_dot_id = ANY (ARRAY['DOT-991'::text, 'DOT-992'::text])))
);

CREATE TABLE cutter_governance.verify_result (
    verify_result_id uuid NOT NULL,
    change_set_id uuid NOT NULL,
    manifest_id uuid NOT NULL,
    review_decision_id uuid NOT NULL,
    manifest_version text NOT NULL,
    executor_signature_id uuid NOT NULL,
    verifier_signature_id uuid NOT NULL,
    executor_tool_revision text NOT NULL,
    verifier_tool_revision text NOT NULL,
    tool_revision_match boolean NOT NULL,
    verify_kind text DEFAULT 'axis_1_round_trip'::text NOT NULL,
    axis_1_status text NOT NULL,
    axis_2_status text NOT NULL,
    verdict text NOT NULL,
    findings jsonb DEFAULT '[]'::jsonb NOT NULL,
    state text DEFAULT 'complete'::text NOT NULL,
    canonicalization_rule_used text DEFAULT 'canon-md-v0.1.0'::text NOT NULL,
    created_by text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT verify_result_revisions_differ CHECK ((NOT tool_revision_match)),
    CONSTRAINT verify_result_verdict_check CHECK ((verdict = ANY (ARRAY['pass'::text, 'fail'::text, 'needs_human'::text])))
);

CREATE VIEW api.signature WITH (security_barrier='true') AS
 SELECT d.doc_code AS document,
    e.n AS version,
    s.role,
    s.name,
    s.fingerprint,
    s.signed_at,
    s.statement_sha256
   FROM ((public.enactment e
     JOIN public.source_document d ON ((d.source_document_ref = e.source_document_ref)))
     CROSS JOIN LATERAL ( SELECT
                CASE a.gate
                    WHEN 'SG_cut_authz'::text THEN 'approver of the cut'::text
                    ELSE 'approver of the enactment'::text
                END AS role,
            a.approver AS name,
            a.fingerprint,
            a.consumed_at AS signed_at,
            a.approval_sha256 AS statement_sha256
           FROM cutter_governance.approval_consumption a
          WHERE (a.run_id = e.run_id)
        UNION ALL
         SELECT x.signature_kind,
            x.signer_dot_id,
            x.signer_fingerprint,
            x.created_at,
            x.payload_hash
           FROM cutter_governance.dot_pair_signature x
          WHERE (x.cross_reference_change_set_id = e.change_set_id)
        UNION ALL
         SELECT x.signature_kind,
            x.signer_dot_id,
            x.signer_fingerprint,
            x.created_at,
            x.payload_hash
           FROM (cutter_governance.verify_result r
             JOIN cutter_governance.dot_pair_signature x ON ((x.cross_reference_verify_result_id = r.verify_result_id)))
          WHERE (r.change_set_id = e.change_set_id)) s);

CREATE TABLE public.source_snapshot (
    sha256 text NOT NULL,
    bytes bytea NOT NULL,
    CONSTRAINT source_snapshot_addressed_by_content CHECK ((sha256 = encode(sha256(bytes), 'hex'::text)))
);

CREATE VIEW api.source WITH (security_barrier='true') AS
 SELECT d.doc_code AS document,
    e.n AS version,
    x.sha256,
    x.bytes AS content,
    s.profile_body,
    s.marking_options,
    d.address_docprefix AS address_prefix,
    d.forbidden_ids
   FROM (((public.enactment e
     JOIN public.source_document d ON ((d.source_document_ref = e.source_document_ref)))
     JOIN public.source_version s ON ((s.id = e.source_version_id)))
     JOIN public.source_snapshot x ON ((x.sha256 = s.content_checksum)));

CREATE VIEW api.unit_of_version WITH (security_barrier='true') AS
 SELECT d.doc_code AS document,
    e.n AS version,
    (row_number() OVER (PARTITION BY d.doc_code, e.n ORDER BY b.render_order))::integer AS document_order,
    u.canonical_address AS address,
    v.version_seq AS unit_version,
    v.title,
    v.unit_kind,
    v.section_type,
    p.canonical_address AS parent,
    v.body,
    v.content_hash AS content_sha256,
    v.effective_from,
    v.effective_until,
    x.enacted_at AS ended_at
   FROM (((((((public.enactment e
     JOIN public.source_document d ON ((d.source_document_ref = e.source_document_ref)))
     JOIN cutter_governance.cut_change_set c ON ((c.change_set_id = e.change_set_id)))
     JOIN cutter_governance.manifest_unit_block b ON (((b.envelope_id = c.manifest_id) AND (b.block_role = 'result'::text))))
     JOIN public.unit_version v ON ((v.id = COALESCE(b.target_version_id, ( SELECT a.unit_version_id
           FROM cutter_governance.cut_change_set_affected_row a
          WHERE ((a.change_set_id = c.change_set_id) AND (a.unit_id = b.target_unit_id)))))))
     JOIN public.information_unit u ON ((u.id = v.unit_id)))
     LEFT JOIN public.information_unit p ON ((p.id = v.parent_unit_id)))
     LEFT JOIN public.enactment x ON ((x.change_set_id = v.ended_by)));

CREATE VIEW api.unit WITH (security_barrier='true') AS
 SELECT u.document,
    u.version,
    u.document_order,
    u.address,
    u.unit_version,
    u.title,
    u.unit_kind,
    u.section_type,
    u.parent,
    u.body,
    u.content_sha256,
    u.effective_from,
    u.effective_until
   FROM (api.law_version v
     JOIN api.unit_of_version u ON (((u.document = v.document) AND (u.version = v.version))))
  WHERE ((v.effective_from <= ((now() AT TIME ZONE 'UTC'::text))::date) AND ((((now() AT TIME ZONE 'UTC'::text))::date < v.effective_until) OR (v.effective_until IS NULL)));

CREATE VIEW api.unit_history WITH (security_barrier='true') AS
 SELECT d.doc_code AS document,
    u.canonical_address AS address,
    v.version_seq AS unit_version,
    v.id AS unit_version_id,
    u.id AS unit_id,
    v.title,
    v.unit_kind,
    v.section_type,
    p.canonical_address AS parent,
    v.document_order,
    v.body,
    v.content_hash AS content_sha256,
    v.effective_from,
    v.effective_until,
    v.enacted_at,
    e.n AS enacted_by_version,
    x.n AS ended_by_version,
    v.ended_at,
        CASE
            WHEN (v.effective_from > ((now() AT TIME ZONE 'UTC'::text))::date) THEN 'not_yet_in_force'::text
            WHEN ((v.effective_until IS NULL) OR (v.effective_until > ((now() AT TIME ZONE 'UTC'::text))::date)) THEN 'in_force'::text
            WHEN (v.lifecycle_status = 'retired'::text) THEN 'repealed'::text
            ELSE 'superseded'::text
        END AS status,
    c.canonical_address AS continues
   FROM (((((((public.enactment e
     JOIN public.source_document d ON ((d.source_document_ref = e.source_document_ref)))
     JOIN cutter_governance.cut_change_set_affected_row a ON ((a.change_set_id = e.change_set_id)))
     JOIN public.unit_version v ON (((v.id = a.unit_version_id) AND (v.enacted_by = a.change_set_id))))
     JOIN public.information_unit u ON ((u.id = v.unit_id)))
     LEFT JOIN public.enactment x ON ((x.change_set_id = v.ended_by)))
     LEFT JOIN public.information_unit p ON ((p.id = v.parent_unit_id)))
     LEFT JOIN public.information_unit c ON ((c.id = v.continues_unit_id)))
  WHERE (v.lifecycle_status = ANY (ARRAY['enacted'::text, 'superseded'::text, 'retired'::text]));

CREATE TABLE cutter_governance.action_receipt (
    id bigint NOT NULL,
    tenant text DEFAULT 'default'::text NOT NULL,
    idempotency_key text NOT NULL,
    run_id text,
    gate text,
    connector text NOT NULL,
    operation text NOT NULL,
    target text NOT NULL,
    payload_sha256 text NOT NULL,
    request_metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    response_metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    status text NOT NULL,
    reversible boolean NOT NULL,
    how_to_reverse text,
    recorded_by text DEFAULT SESSION_USER NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT action_receipt_status_check CHECK ((status = ANY (ARRAY['succeeded'::text, 'failed'::text])))
);

ALTER TABLE cutter_governance.action_receipt ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME cutter_governance.action_receipt_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE cutter_governance.approval_revocation (
    approval_sha256 text NOT NULL,
    revocation_sha256 text NOT NULL,
    approver text NOT NULL,
    kb_id text NOT NULL,
    recorded_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

ALTER TABLE cutter_governance.approval_verdict ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME cutter_governance.approval_verdict_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE cutter_governance.audit_event (
    chain text NOT NULL,
    seq bigint NOT NULL,
    run_id text,
    kind text NOT NULL,
    body text NOT NULL,
    prev_hash text NOT NULL,
    hash text NOT NULL,
    at timestamp with time zone NOT NULL,
    CONSTRAINT audit_event_hash_of_body CHECK ((hash = encode(sha256(convert_to((prev_hash || body), 'UTF8'::name)), 'hex'::text)))
);

CREATE TABLE cutter_governance.audit_head (
    chain text NOT NULL,
    seq bigint NOT NULL,
    hash text NOT NULL
);

CREATE TABLE cutter_governance.backup_coverage (
    document_id text NOT NULL,
    changes bigint NOT NULL,
    changed_by xid8,
    sealed_changes bigint,
    artifact text,
    sha256 text,
    fingerprint text,
    sealed_at timestamp with time zone,
    verified_at timestamp with time zone,
    problem text,
    CONSTRAINT backup_coverage_artifact_form CHECK ((length(artifact) <= 2048)),
    CONSTRAINT backup_coverage_counts CHECK ((changes > 0)),
    CONSTRAINT backup_coverage_fingerprint_form CHECK ((fingerprint ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT backup_coverage_is_whole CHECK ((num_nulls(sealed_changes, artifact, sha256, fingerprint, sealed_at, verified_at) = ANY (ARRAY[0, 6]))),
    CONSTRAINT backup_coverage_problem_is_said CHECK (((length(problem) >= 1) AND (length(problem) <= 512))),
    CONSTRAINT backup_coverage_seals_what_was CHECK ((sealed_changes <= changes)),
    CONSTRAINT backup_coverage_sha256_form CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text))
);

CREATE TABLE cutter_governance.backup_head (
    single boolean DEFAULT true NOT NULL,
    tree text,
    columns_sha256 text,
    documents bigint DEFAULT 0 NOT NULL,
    given_up_at timestamp with time zone,
    CONSTRAINT backup_head_columns_form CHECK ((columns_sha256 ~ '^[0-9a-f]{64}$'::text)),
    CONSTRAINT backup_head_is_one CHECK (single),
    CONSTRAINT backup_head_is_whole CHECK ((num_nulls(tree, columns_sha256) = ANY (ARRAY[0, 2]))),
    CONSTRAINT backup_head_tree_form CHECK ((tree ~ '^[0-9a-f]{64}$'::text))
);

CREATE TABLE cutter_governance.batch (
    batch_id text NOT NULL,
    queue_sha256 text NOT NULL,
    mode text NOT NULL,
    policy text NOT NULL,
    unattended boolean NOT NULL,
    lanes integer NOT NULL,
    hard_cap_seconds double precision NOT NULL,
    caps jsonb NOT NULL,
    weights jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_by text NOT NULL,
    starter text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    state text DEFAULT 'batch_pending'::text NOT NULL,
    state_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    halted text,
    halted_reason text,
    halted_at timestamp with time zone,
    began_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    again_at timestamp with time zone,
    ended_at timestamp with time zone,
    default_scope text,
    default_actor text,
    CONSTRAINT batch_batch_id_check CHECK ((batch_id ~ '^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}(-dryrun)?$'::text)),
    CONSTRAINT batch_check CHECK ((mode =
CASE
    WHEN (batch_id ~~ '%-dryrun'::text) THEN 'dryrun'::text
    ELSE 'live'::text
END)),
    CONSTRAINT batch_default_actor_check CHECK ((default_actor ~ '^[A-Za-z0-9._@-]{1,64}$'::text)),
    CONSTRAINT batch_default_scope_check CHECK ((default_scope = ANY (ARRAY['all'::text, 'enacted_only'::text]))),
    CONSTRAINT batch_halted_check CHECK ((halted = ANY (ARRAY['failure'::text, 'critical'::text, 'stop'::text, 'cancel'::text, 'hard_cap'::text]))),
    CONSTRAINT batch_hard_cap_seconds_check CHECK ((hard_cap_seconds > (0)::double precision)),
    CONSTRAINT batch_lanes_check CHECK (((lanes >= 1) AND (lanes <= 64))),
    CONSTRAINT batch_policy_check CHECK ((policy = ANY (ARRAY['default'::text, 'strict'::text, 'quarantine'::text]))),
    CONSTRAINT batch_state_check CHECK ((state = ANY (ARRAY['batch_pending'::text, 'batch_planning'::text, 'batch_awaiting_cut_authz_set'::text, 'batch_writing'::text, 'batch_awaiting_lifecycle_authz_set'::text, 'batch_enacting'::text, 'batch_closeout'::text, 'batch_failed_partial'::text, 'batch_voided'::text])))
);

CREATE TABLE cutter_governance.batch_queue (
    batch_id text NOT NULL,
    document_id text NOT NULL,
    run_id text,
    queue text NOT NULL,
    state text NOT NULL,
    code text NOT NULL,
    reason text NOT NULL,
    kb_id text NOT NULL,
    entered_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    left_at timestamp with time zone,
    left_as text,
    CONSTRAINT batch_queue_queue_check CHECK ((queue = ANY (ARRAY['error_queue'::text, 'quarantine_queue'::text, 'human_review_queue'::text])))
);

CREATE TABLE cutter_governance.decision_backlog_entry (
    entry_id uuid NOT NULL,
    run_id text NOT NULL,
    document_id text NOT NULL,
    status text NOT NULL,
    created_by text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

CREATE TABLE cutter_governance.decision_backlog_history (
    history_id uuid NOT NULL,
    entry_id uuid NOT NULL,
    change_kind text NOT NULL,
    status_version integer NOT NULL,
    status text NOT NULL,
    changed_by text NOT NULL,
    changed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

CREATE TABLE cutter_governance.definition_cache (
    dimension text NOT NULL,
    catalog_key text NOT NULL,
    fingerprint text NOT NULL
);

CREATE TABLE cutter_governance.definition_snapshot (
    fingerprint text NOT NULL,
    detail jsonb NOT NULL
);

CREATE TABLE cutter_governance.drift_acknowledgement (
    id bigint NOT NULL,
    run_id text NOT NULL,
    statement_sha256 text NOT NULL,
    after_pins jsonb NOT NULL,
    pin_seq bigint NOT NULL,
    recorded_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

ALTER TABLE cutter_governance.drift_acknowledgement ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME cutter_governance.drift_acknowledgement_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE cutter_governance.effect_policy (
    number integer NOT NULL,
    sha256 text NOT NULL,
    installed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    installed_by text DEFAULT SESSION_USER NOT NULL
);

ALTER TABLE cutter_governance.effect_policy ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME cutter_governance.effect_policy_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE cutter_governance.gate_attempt (
    run_id text NOT NULL,
    gate text NOT NULL,
    n integer NOT NULL,
    lease_owner text NOT NULL,
    lease_expires_at timestamp with time zone NOT NULL,
    started_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    finished_at timestamp with time zone,
    outcome text,
    reason text,
    last_error text,
    next_eligible_at timestamp with time zone,
    report jsonb,
    CONSTRAINT gate_attempt_n_check CHECK ((n > 0))
);

CREATE TABLE cutter_governance.governing_policy (
    sha256 text NOT NULL,
    body text NOT NULL,
    first_used_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT governing_policy_addressed_by_content CHECK ((sha256 = encode(sha256(convert_to(body, 'UTF8'::name)), 'hex'::text)))
);

CREATE TABLE cutter_governance.lane (
    name text NOT NULL,
    CONSTRAINT lane_name_check CHECK ((name = ANY (ARRAY['write'::text, 'enact'::text, 'policy_epoch'::text])))
);

CREATE TABLE cutter_governance.manifest_envelope (
    envelope_id uuid NOT NULL,
    run_id text NOT NULL,
    operation_kind text NOT NULL,
    status text NOT NULL,
    source_doc_ref text NOT NULL,
    escalation_ref text,
    cut_change_set_ref uuid,
    created_by text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    reviewer text,
    reviewed_at timestamp with time zone,
    superseded_by_envelope_id uuid,
    CONSTRAINT manifest_envelope_operation_kind_check CHECK ((operation_kind = ANY (ARRAY['first_cut'::text, 'split'::text, 'merge'::text, 'revision'::text, 'correction'::text, 'repeal'::text]))),
    CONSTRAINT manifest_envelope_status_check CHECK ((status = ANY (ARRAY['draft'::text, 'under_review'::text, 'accepted'::text, 'rejected'::text, 'withdrawn'::text, 'enacted'::text, 'superseded'::text])))
);

CREATE TABLE cutter_governance.message_refusal (
    id bigint NOT NULL,
    run_id text NOT NULL,
    gate text,
    message text NOT NULL,
    code text NOT NULL,
    reason text NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

ALTER TABLE cutter_governance.message_refusal ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME cutter_governance.message_refusal_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE cutter_governance.notification (
    id bigint NOT NULL,
    kind text NOT NULL,
    phase text NOT NULL,
    subject text NOT NULL,
    run_id text,
    batch_id text,
    place text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT notification_kind_check CHECK ((kind = ANY (ARRAY['approval'::text, 'policy_stop'::text, 'stop'::text, 'failure'::text, 'finished'::text, 'batch'::text, 'enacted'::text, 'backup'::text]))),
    CONSTRAINT notification_of_run_or_batch CHECK ((num_nonnulls(run_id, batch_id) = 1)),
    CONSTRAINT notification_phase_check CHECK ((phase = ANY (ARRAY['asked'::text, 'answered'::text, 'told'::text])))
);

CREATE TABLE cutter_governance.notification_channel (
    name text NOT NULL,
    since timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    served_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    caught_up_at timestamp with time zone,
    kinds text[] DEFAULT '{}'::text[] NOT NULL,
    CONSTRAINT notification_channel_name CHECK ((name ~ '^[a-z][a-z0-9_]{0,30}$'::text))
);

CREATE TABLE cutter_governance.notification_delivery (
    id bigint NOT NULL,
    notification_id bigint NOT NULL,
    channel text NOT NULL,
    card text,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    next_eligible_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    in_doubt boolean DEFAULT false NOT NULL,
    last_error text,
    reference text,
    done_at timestamp with time zone,
    outcome text,
    CONSTRAINT notification_card_size CHECK ((length(card) <= 65536)),
    CONSTRAINT notification_delivery_outcome_check CHECK ((outcome = ANY (ARRAY['delivered'::text, 'overtaken'::text, 'given_up'::text]))),
    CONSTRAINT notification_done_with_outcome CHECK (((done_at IS NULL) = (outcome IS NULL))),
    CONSTRAINT notification_open_has_card CHECK (((card IS NOT NULL) OR (outcome = 'overtaken'::text)))
);

ALTER TABLE cutter_governance.notification_delivery ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME cutter_governance.notification_delivery_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE cutter_governance.notification ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME cutter_governance.notification_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE cutter_governance.order_consumption (
    statement_sha256 text NOT NULL,
    run_id text NOT NULL,
    decision text NOT NULL,
    approver text NOT NULL,
    fingerprint text NOT NULL,
    consumed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    stopped_state text,
    stopped_at timestamp with time zone,
    CONSTRAINT order_consumption_decision_check CHECK ((decision = ANY (ARRAY['resume'::text, 'void'::text, 'acknowledge_drift'::text, 'reject'::text, 'include_failed'::text])))
);

ALTER TABLE cutter_governance.outbox ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME cutter_governance.outbox_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE SEQUENCE cutter_governance.pin_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

CREATE TABLE cutter_governance.prepared_decision (
    review_decision_id uuid NOT NULL,
    batch_id text NOT NULL,
    document_id text NOT NULL,
    actor text NOT NULL,
    created_by text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

CREATE TABLE cutter_governance.revision_row (
    run_id text NOT NULL,
    address text NOT NULL COLLATE pg_catalog."C",
    document_order integer NOT NULL,
    operation text NOT NULL,
    unit_id uuid NOT NULL,
    version_id uuid,
    base_version_id uuid,
    continues_unit_id uuid,
    CONSTRAINT revision_row_document_order_check CHECK ((document_order > 0)),
    CONSTRAINT revision_row_only_created_continues CHECK (((continues_unit_id IS NULL) OR (operation = 'create'::text))),
    CONSTRAINT revision_row_operation CHECK ((operation = ANY (ARRAY['keep'::text, 'revise'::text, 'create'::text, 'repeal'::text]))),
    CONSTRAINT revision_row_versions_of_operation CHECK (
CASE operation
    WHEN 'keep'::text THEN ((version_id IS NOT NULL) AND (NOT (version_id IS DISTINCT FROM base_version_id)))
    WHEN 'revise'::text THEN ((version_id IS NOT NULL) AND (base_version_id IS NOT NULL) AND (version_id <> base_version_id))
    WHEN 'create'::text THEN ((version_id IS NOT NULL) AND (base_version_id IS NULL))
    WHEN 'repeal'::text THEN ((version_id IS NULL) AND (base_version_id IS NOT NULL))
    ELSE NULL::boolean
END)
);

CREATE TABLE cutter_governance.schema_baseline (
    id integer NOT NULL,
    pins jsonb NOT NULL,
    schema_version integer NOT NULL,
    recorded_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

ALTER TABLE cutter_governance.schema_baseline ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME cutter_governance.schema_baseline_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE cutter_governance.signed_statement (
    verdict_id bigint NOT NULL,
    body bytea NOT NULL,
    signature bytea NOT NULL,
    CONSTRAINT signed_statement_body_check CHECK (((octet_length(body) >= 1) AND (octet_length(body) <= 65536))),
    CONSTRAINT signed_statement_signature_check CHECK (((octet_length(signature) >= 1) AND (octet_length(signature) <= 16384)))
);

CREATE TABLE cutter_governance.tenant_cap (
    tenant text NOT NULL,
    workflow text NOT NULL,
    weight integer,
    max_concurrency integer,
    max_runs_per_min integer,
    max_writes_per_run integer,
    set_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT tenant_cap_max_concurrency_check CHECK (((max_concurrency >= 1) AND (max_concurrency <= 1000000))),
    CONSTRAINT tenant_cap_max_runs_per_min_check CHECK (((max_runs_per_min >= 1) AND (max_runs_per_min <= 1000000))),
    CONSTRAINT tenant_cap_max_writes_per_run_check CHECK (((max_writes_per_run >= 1) AND (max_writes_per_run <= 1000000))),
    CONSTRAINT tenant_cap_tenant_check CHECK ((tenant ~ '^[A-Za-z0-9._@-]{1,64}$'::text)),
    CONSTRAINT tenant_cap_weight_check CHECK (((weight >= 1) AND (weight <= 1000))),
    CONSTRAINT tenant_cap_workflow_check CHECK ((workflow = ANY (ARRAY['any'::text, 'document'::text, 'batch'::text])))
);

CREATE TABLE cutter_governance.unsigned_decision (
    id bigint NOT NULL,
    run_id text NOT NULL,
    gate text NOT NULL,
    stop text NOT NULL,
    tier text NOT NULL,
    decision text NOT NULL,
    approver text NOT NULL,
    account text NOT NULL,
    recorded_by text DEFAULT SESSION_USER NOT NULL,
    recorded_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT unsigned_decision_decision_check CHECK ((decision = ANY (ARRAY['approve'::text, 'reject'::text]))),
    CONSTRAINT unsigned_decision_tier_check CHECK ((tier = ANY (ARRAY['low'::text, 'medium'::text, 'high'::text])))
);

ALTER TABLE cutter_governance.unsigned_decision ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME cutter_governance.unsigned_decision_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE cutter_governance.void_record (
    run_id text NOT NULL,
    statement_sha256 text NOT NULL,
    reason text NOT NULL,
    policy jsonb,
    withdrawn integer,
    opened_xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    closed_at timestamp with time zone,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

CREATE TABLE public.iu_edit_draft (
    id uuid NOT NULL,
    unit_id uuid NOT NULL,
    body text NOT NULL,
    created_by text NOT NULL
);

ALTER TABLE public.iu_lifecycle_log ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.iu_lifecycle_log_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.search_word (
    word text NOT NULL COLLATE pg_catalog."C",
    near text[] NOT NULL
);

CREATE TABLE public.unit_search (
    version_id uuid NOT NULL,
    words tsvector NOT NULL,
    grams text[] NOT NULL
);

CREATE TABLE public.vocabulary (
    family text NOT NULL,
    code text NOT NULL
);

ALTER TABLE ONLY cutter_governance.action_receipt
    ADD CONSTRAINT action_receipt_pkey PRIMARY KEY (id);

ALTER TABLE ONLY cutter_governance.action_receipt
    ADD CONSTRAINT action_receipt_tenant_idempotency_key_key UNIQUE (tenant, idempotency_key);

ALTER TABLE ONLY cutter_governance.approval_consumption
    ADD CONSTRAINT approval_consumption_pkey PRIMARY KEY (approval_sha256);

ALTER TABLE ONLY cutter_governance.approval_consumption
    ADD CONSTRAINT approval_consumption_run_id_gate_approver_key UNIQUE (run_id, gate, approver);

ALTER TABLE ONLY cutter_governance.approval_consumption
    ADD CONSTRAINT approval_consumption_run_id_gate_fingerprint_key UNIQUE (run_id, gate, fingerprint);

ALTER TABLE ONLY cutter_governance.approval_consumption
    ADD CONSTRAINT approval_consumption_run_id_gate_slot_key UNIQUE (run_id, gate, slot);

ALTER TABLE ONLY cutter_governance.approval_request
    ADD CONSTRAINT approval_request_challenge_key UNIQUE (challenge);

ALTER TABLE ONLY cutter_governance.approval_request
    ADD CONSTRAINT approval_request_pkey PRIMARY KEY (request_id);

ALTER TABLE ONLY cutter_governance.approval_request
    ADD CONSTRAINT approval_request_run_id_gate_n_key UNIQUE (run_id, gate, n);

ALTER TABLE ONLY cutter_governance.approval_revocation
    ADD CONSTRAINT approval_revocation_pkey PRIMARY KEY (approval_sha256);

ALTER TABLE ONLY cutter_governance.approval_verdict
    ADD CONSTRAINT approval_verdict_pkey PRIMARY KEY (id);

ALTER TABLE ONLY cutter_governance.audit_event
    ADD CONSTRAINT audit_event_pkey PRIMARY KEY (chain, seq);

ALTER TABLE ONLY cutter_governance.audit_head
    ADD CONSTRAINT audit_head_pkey PRIMARY KEY (chain);

ALTER TABLE ONLY cutter_governance.backup_coverage
    ADD CONSTRAINT backup_coverage_pkey PRIMARY KEY (document_id);

ALTER TABLE ONLY cutter_governance.backup_head
    ADD CONSTRAINT backup_head_pkey PRIMARY KEY (single);

ALTER TABLE ONLY cutter_governance.batch_item
    ADD CONSTRAINT batch_item_batch_id_position_key UNIQUE (batch_id, "position");

ALTER TABLE ONLY cutter_governance.batch_item
    ADD CONSTRAINT batch_item_pkey PRIMARY KEY (batch_id, document_id);

ALTER TABLE ONLY cutter_governance.batch
    ADD CONSTRAINT batch_pkey PRIMARY KEY (batch_id);

ALTER TABLE ONLY cutter_governance.batch_queue
    ADD CONSTRAINT batch_queue_pkey PRIMARY KEY (kb_id);

ALTER TABLE ONLY cutter_governance.cut_change_set_affected_row
    ADD CONSTRAINT cut_change_set_affected_row_change_set_id_unit_id_key UNIQUE (change_set_id, unit_id);

ALTER TABLE ONLY cutter_governance.cut_change_set_affected_row
    ADD CONSTRAINT cut_change_set_affected_row_pkey PRIMARY KEY (affected_row_id);

ALTER TABLE ONLY cutter_governance.cut_change_set
    ADD CONSTRAINT cut_change_set_idempotency_key_key UNIQUE (idempotency_key);

ALTER TABLE ONLY cutter_governance.cut_change_set
    ADD CONSTRAINT cut_change_set_pkey PRIMARY KEY (change_set_id);

ALTER TABLE ONLY cutter_governance.cut_change_set
    ADD CONSTRAINT cut_change_set_rollback_key_key UNIQUE (rollback_key);

ALTER TABLE ONLY cutter_governance.cut_change_set
    ADD CONSTRAINT cut_change_set_run_id_key UNIQUE (run_id);

ALTER TABLE ONLY cutter_governance.decision_backlog_entry
    ADD CONSTRAINT decision_backlog_entry_pkey PRIMARY KEY (entry_id);

ALTER TABLE ONLY cutter_governance.decision_backlog_history
    ADD CONSTRAINT decision_backlog_history_entry_id_status_version_key UNIQUE (entry_id, status_version);

ALTER TABLE ONLY cutter_governance.decision_backlog_history
    ADD CONSTRAINT decision_backlog_history_pkey PRIMARY KEY (history_id);

ALTER TABLE ONLY cutter_governance.definition_cache
    ADD CONSTRAINT definition_cache_pkey PRIMARY KEY (dimension, catalog_key);

ALTER TABLE ONLY cutter_governance.definition_snapshot
    ADD CONSTRAINT definition_snapshot_pkey PRIMARY KEY (fingerprint);

ALTER TABLE ONLY cutter_governance.dot_pair_signature
    ADD CONSTRAINT dot_pair_signature_pkey PRIMARY KEY (signature_id);

ALTER TABLE ONLY cutter_governance.drift_acknowledgement
    ADD CONSTRAINT drift_acknowledgement_pkey PRIMARY KEY (id);

ALTER TABLE ONLY cutter_governance.drift_acknowledgement
    ADD CONSTRAINT drift_acknowledgement_statement_sha256_key UNIQUE (statement_sha256);

ALTER TABLE ONLY cutter_governance.effect_policy
    ADD CONSTRAINT effect_policy_pkey PRIMARY KEY (number);

ALTER TABLE ONLY cutter_governance.gate_attempt
    ADD CONSTRAINT gate_attempt_pkey PRIMARY KEY (run_id, gate, n);

ALTER TABLE ONLY cutter_governance.gate_catalogue
    ADD CONSTRAINT gate_catalogue_ordinal_key UNIQUE (ordinal);

ALTER TABLE ONLY cutter_governance.gate_catalogue
    ADD CONSTRAINT gate_catalogue_phase_key UNIQUE (phase);

ALTER TABLE ONLY cutter_governance.gate_catalogue
    ADD CONSTRAINT gate_catalogue_pkey PRIMARY KEY (gate);

ALTER TABLE ONLY cutter_governance.gate_receipt
    ADD CONSTRAINT gate_receipt_opened_xid_key UNIQUE (opened_xid);

ALTER TABLE ONLY cutter_governance.gate_receipt
    ADD CONSTRAINT gate_receipt_pkey PRIMARY KEY (run_id, gate);

ALTER TABLE ONLY cutter_governance.governing_policy
    ADD CONSTRAINT governing_policy_pkey PRIMARY KEY (sha256);

ALTER TABLE ONLY cutter_governance.lane
    ADD CONSTRAINT lane_pkey PRIMARY KEY (name);

ALTER TABLE ONLY cutter_governance.manifest_envelope
    ADD CONSTRAINT manifest_envelope_pkey PRIMARY KEY (envelope_id);

ALTER TABLE ONLY cutter_governance.manifest_envelope
    ADD CONSTRAINT manifest_envelope_run_id_key UNIQUE (run_id);

ALTER TABLE ONLY cutter_governance.manifest_unit_block
    ADD CONSTRAINT manifest_unit_block_envelope_id_proposed_canonical_address_key UNIQUE (envelope_id, proposed_canonical_address);

ALTER TABLE ONLY cutter_governance.manifest_unit_block
    ADD CONSTRAINT manifest_unit_block_envelope_id_render_order_key UNIQUE (envelope_id, render_order);

ALTER TABLE ONLY cutter_governance.manifest_unit_block
    ADD CONSTRAINT manifest_unit_block_pkey PRIMARY KEY (envelope_id, unit_local_id);

ALTER TABLE ONLY cutter_governance.message_refusal
    ADD CONSTRAINT message_refusal_pkey PRIMARY KEY (id);

ALTER TABLE ONLY cutter_governance.notification_channel
    ADD CONSTRAINT notification_channel_pkey PRIMARY KEY (name);

ALTER TABLE ONLY cutter_governance.notification_delivery
    ADD CONSTRAINT notification_delivery_pkey PRIMARY KEY (id);

ALTER TABLE ONLY cutter_governance.notification
    ADD CONSTRAINT notification_once UNIQUE (subject, phase);

ALTER TABLE ONLY cutter_governance.notification_delivery
    ADD CONSTRAINT notification_once_a_channel UNIQUE (notification_id, channel);

ALTER TABLE ONLY cutter_governance.notification
    ADD CONSTRAINT notification_pkey PRIMARY KEY (id);

ALTER TABLE ONLY cutter_governance.order_consumption
    ADD CONSTRAINT order_consumption_pkey PRIMARY KEY (statement_sha256);

ALTER TABLE ONLY cutter_governance.outbox
    ADD CONSTRAINT outbox_kb_id_key UNIQUE (kb_id);

ALTER TABLE ONLY cutter_governance.outbox
    ADD CONSTRAINT outbox_pkey PRIMARY KEY (id);

ALTER TABLE ONLY cutter_governance.policy_epoch
    ADD CONSTRAINT policy_epoch_pkey PRIMARY KEY (number);

ALTER TABLE ONLY cutter_governance.policy_epoch
    ADD CONSTRAINT policy_epoch_sha256_key UNIQUE (sha256);

ALTER TABLE ONLY cutter_governance.prepared_decision
    ADD CONSTRAINT prepared_decision_pkey PRIMARY KEY (review_decision_id);

ALTER TABLE ONLY cutter_governance.review_decision
    ADD CONSTRAINT review_decision_pkey PRIMARY KEY (review_decision_id);

ALTER TABLE ONLY cutter_governance.revision_row
    ADD CONSTRAINT revision_row_pkey PRIMARY KEY (run_id, address);

ALTER TABLE ONLY cutter_governance.revision_row
    ADD CONSTRAINT revision_row_run_id_document_order_key UNIQUE (run_id, document_order);

ALTER TABLE ONLY cutter_governance.revision_row
    ADD CONSTRAINT revision_row_run_id_unit_id_key UNIQUE (run_id, unit_id);

ALTER TABLE ONLY cutter_governance.run
    ADD CONSTRAINT run_first_execution_id_key UNIQUE (first_execution_id);

ALTER TABLE ONLY cutter_governance.run
    ADD CONSTRAINT run_pkey PRIMARY KEY (run_id);

ALTER TABLE ONLY cutter_governance.run
    ADD CONSTRAINT run_trigger_ref_key UNIQUE (trigger_ref);

ALTER TABLE ONLY cutter_governance.schema_baseline
    ADD CONSTRAINT schema_baseline_pkey PRIMARY KEY (id);

ALTER TABLE ONLY cutter_governance.signed_statement
    ADD CONSTRAINT signed_statement_pkey PRIMARY KEY (verdict_id);

ALTER TABLE ONLY cutter_governance.stop_latch
    ADD CONSTRAINT stop_latch_pkey PRIMARY KEY (run_id);

ALTER TABLE ONLY cutter_governance.tenant_cap
    ADD CONSTRAINT tenant_cap_pkey PRIMARY KEY (tenant, workflow);

ALTER TABLE ONLY cutter_governance.unsigned_decision
    ADD CONSTRAINT unsigned_decision_pkey PRIMARY KEY (id);

ALTER TABLE ONLY cutter_governance.unsigned_decision
    ADD CONSTRAINT unsigned_decision_stop_account_key UNIQUE (stop, account);

ALTER TABLE ONLY cutter_governance.unsigned_decision
    ADD CONSTRAINT unsigned_decision_stop_approver_key UNIQUE (stop, approver);

ALTER TABLE ONLY cutter_governance.verify_result
    ADD CONSTRAINT verify_result_change_set_id_key UNIQUE (change_set_id);

ALTER TABLE ONLY cutter_governance.verify_result
    ADD CONSTRAINT verify_result_pkey PRIMARY KEY (verify_result_id);

ALTER TABLE ONLY cutter_governance.void_record
    ADD CONSTRAINT void_record_opened_xid_key UNIQUE (opened_xid);

ALTER TABLE ONLY cutter_governance.void_record
    ADD CONSTRAINT void_record_pkey PRIMARY KEY (run_id);

ALTER TABLE ONLY cutter_governance.void_record
    ADD CONSTRAINT void_record_statement_sha256_key UNIQUE (statement_sha256);

ALTER TABLE ONLY cutter_governance.worker_heartbeat
    ADD CONSTRAINT worker_heartbeat_pkey PRIMARY KEY (worker_id);

ALTER TABLE ONLY public.enactment
    ADD CONSTRAINT enactment_change_set_id_key UNIQUE (change_set_id);

ALTER TABLE ONLY public.enactment
    ADD CONSTRAINT enactment_once_for_each_base UNIQUE NULLS NOT DISTINCT (source_document_ref, base_run_id);

ALTER TABLE ONLY public.enactment
    ADD CONSTRAINT enactment_pkey PRIMARY KEY (run_id);

ALTER TABLE ONLY public.enactment
    ADD CONSTRAINT enactment_source_document_ref_n_key UNIQUE (source_document_ref, n);

ALTER TABLE ONLY public.information_unit
    ADD CONSTRAINT information_unit_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.iu_edit_draft
    ADD CONSTRAINT iu_edit_draft_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.iu_lifecycle_log
    ADD CONSTRAINT iu_lifecycle_log_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.search_word
    ADD CONSTRAINT search_word_pkey PRIMARY KEY (word);

ALTER TABLE ONLY public.source_document
    ADD CONSTRAINT source_document_address_docprefix_key UNIQUE (address_docprefix);

ALTER TABLE ONLY public.source_document
    ADD CONSTRAINT source_document_doc_code_key UNIQUE (doc_code);

ALTER TABLE ONLY public.source_document
    ADD CONSTRAINT source_document_id_key UNIQUE (id);

ALTER TABLE ONLY public.source_document
    ADD CONSTRAINT source_document_pkey PRIMARY KEY (source_document_ref);

ALTER TABLE ONLY public.source_snapshot
    ADD CONSTRAINT source_snapshot_pkey PRIMARY KEY (sha256);

ALTER TABLE ONLY public.source_version
    ADD CONSTRAINT source_version_id_key UNIQUE (id);

ALTER TABLE ONLY public.source_version
    ADD CONSTRAINT source_version_pkey PRIMARY KEY (document_version_id);

ALTER TABLE ONLY public.source_version
    ADD CONSTRAINT source_version_source_document_ref_version_seq_key UNIQUE (source_document_ref, version_seq);

ALTER TABLE ONLY public.unit_search
    ADD CONSTRAINT unit_search_pkey PRIMARY KEY (version_id);

ALTER TABLE ONLY public.unit_version
    ADD CONSTRAINT unit_version_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.unit_version
    ADD CONSTRAINT unit_version_unit_id_version_seq_key UNIQUE (unit_id, version_seq);

ALTER TABLE ONLY public.vocabulary
    ADD CONSTRAINT vocabulary_pkey PRIMARY KEY (family, code);

CREATE INDEX action_receipt_backups ON cutter_governance.action_receipt USING btree (((response_metadata ->> 'taken_utc'::text)) DESC NULLS LAST, at DESC, target) WHERE ((connector = 'backup'::text) AND (operation = 'take'::text));

CREATE INDEX action_receipt_payload ON cutter_governance.action_receipt USING btree (connector, payload_sha256);

CREATE INDEX action_receipt_run ON cutter_governance.action_receipt USING btree (run_id, connector, operation);

CREATE INDEX action_receipt_target ON cutter_governance.action_receipt USING btree (connector, target);

CREATE UNIQUE INDEX approval_consumption_decision_once ON cutter_governance.approval_consumption USING btree (review_decision_id, slot) WHERE (review_decision_id IS NOT NULL);

CREATE INDEX approval_consumption_of_request ON cutter_governance.approval_consumption USING btree (request_id);

CREATE INDEX approval_request_document ON cutter_governance.approval_request USING btree (kb_id) WHERE (kb_id IS NOT NULL);

CREATE UNIQUE INDEX approval_request_one_open ON cutter_governance.approval_request USING btree (run_id, gate) WHERE (status = 'requested'::text);

CREATE UNIQUE INDEX approval_verdict_accepted_once ON cutter_governance.approval_verdict USING btree (run_id, gate, approval_sha256) WHERE accepted;

CREATE INDEX approval_verdict_of_document ON cutter_governance.approval_verdict USING btree (approval_sha256) WHERE (approval_sha256 IS NOT NULL);

CREATE INDEX approval_verdict_of_run ON cutter_governance.approval_verdict USING btree (run_id, id);

CREATE INDEX backup_coverage_artifact ON cutter_governance.backup_coverage USING btree (artifact) WHERE (artifact IS NOT NULL);

CREATE INDEX backup_coverage_changed ON cutter_governance.backup_coverage USING btree (document_id) WHERE (sealed_changes IS DISTINCT FROM changes);

CREATE INDEX backup_coverage_problem ON cutter_governance.backup_coverage USING btree (document_id) WHERE (problem IS NOT NULL);

CREATE INDEX backup_coverage_verified ON cutter_governance.backup_coverage USING btree (verified_at) WHERE (verified_at IS NOT NULL);

CREATE INDEX batch_newest ON cutter_governance.batch USING btree (created_at);

CREATE INDEX batch_open ON cutter_governance.batch USING btree (created_at) WHERE (ended_at IS NULL);

CREATE INDEX batch_queue_of_item ON cutter_governance.batch_queue USING btree (batch_id, document_id);

CREATE UNIQUE INDEX batch_queue_open ON cutter_governance.batch_queue USING btree (batch_id, document_id) WHERE (left_at IS NULL);

CREATE INDEX decision_backlog_entry_of_run ON cutter_governance.decision_backlog_entry USING btree (run_id);

CREATE UNIQUE INDEX dot_pair_signature_executor_once ON cutter_governance.dot_pair_signature USING btree (cross_reference_change_set_id) WHERE (cross_reference_change_set_id IS NOT NULL);

CREATE UNIQUE INDEX dot_pair_signature_verifier_once ON cutter_governance.dot_pair_signature USING btree (cross_reference_verify_result_id) WHERE (cross_reference_verify_result_id IS NOT NULL);

CREATE INDEX drift_acknowledgement_of_run ON cutter_governance.drift_acknowledgement USING btree (run_id);

CREATE INDEX gate_receipt_backup ON cutter_governance.gate_receipt USING btree ((((result -> 'pins'::text) ->> 'backup_artifact'::text))) WHERE ((gate = 'IG_backup'::text) AND (sealed_at IS NOT NULL));

CREATE INDEX message_refusal_of_run ON cutter_governance.message_refusal USING btree (run_id, id);

CREATE INDEX notification_asked_of_run ON cutter_governance.notification USING btree (run_id) WHERE (phase = 'asked'::text);

CREATE INDEX notification_due ON cutter_governance.notification_delivery USING btree (channel, next_eligible_at) WHERE (done_at IS NULL);

CREATE INDEX notification_given_up ON cutter_governance.notification_delivery USING btree (done_at) WHERE (outcome = 'given_up'::text);

CREATE INDEX notification_recent ON cutter_governance.notification USING btree (phase, created_at);

CREATE INDEX order_consumption_of_run ON cutter_governance.order_consumption USING btree (run_id, decision);

CREATE INDEX outbox_content ON cutter_governance.outbox USING btree (sha256) WHERE (sha256 IS NOT NULL);

CREATE INDEX outbox_of_batch ON cutter_governance.outbox USING btree (batch_id, kind, id) WHERE (batch_id IS NOT NULL);

CREATE INDEX outbox_of_run ON cutter_governance.outbox USING btree (run_id, kind, id) WHERE (run_id IS NOT NULL);

CREATE INDEX outbox_waiting ON cutter_governance.outbox USING btree (run_id) WHERE (done_at IS NULL);

CREATE INDEX prepared_decision_of ON cutter_governance.prepared_decision USING btree (batch_id, document_id, created_at);

CREATE UNIQUE INDEX review_decision_cut_once ON cutter_governance.review_decision USING btree (run_id) WHERE (type = 'cut'::text);

CREATE INDEX review_decision_run ON cutter_governance.review_decision USING btree (run_id);

CREATE UNIQUE INDEX run_active_docprefix ON cutter_governance.run USING btree (docprefix) WHERE ((mode = 'live'::text) AND (ended_at IS NULL) AND (docprefix IS NOT NULL));

CREATE UNIQUE INDEX run_active_document ON cutter_governance.run USING btree (document_id) WHERE ((mode = 'live'::text) AND (ended_at IS NULL));

CREATE INDEX run_document ON cutter_governance.run USING btree (document_id, created_at);

CREATE INDEX run_newest ON cutter_governance.run USING btree (created_at, run_id);

CREATE INDEX run_of_batch ON cutter_governance.run USING btree (batch_id, document_id, created_at) WHERE (batch_id IS NOT NULL);

CREATE INDEX run_open_of_tenant ON cutter_governance.run USING btree (tenant) WHERE (ended_at IS NULL);

CREATE UNIQUE INDEX run_success_once ON cutter_governance.run USING btree (document_id, source_version_id) WHERE ((mode = 'live'::text) AND (state = 'closeout_reported'::text));

CREATE INDEX unsigned_decision_run ON cutter_governance.unsigned_decision USING btree (run_id, gate);

CREATE INDEX worker_heartbeat_alive ON cutter_governance.worker_heartbeat USING btree (seen_at) WHERE (state <> 'shutdown'::text);

CREATE UNIQUE INDEX information_unit_address_key ON public.information_unit USING btree (canonical_address) WHERE (deleted_at IS NULL);

CREATE INDEX information_unit_withdrawn ON public.information_unit USING btree (canonical_address) WHERE (deleted_at IS NOT NULL);

CREATE INDEX iu_lifecycle_log_change_set ON public.iu_lifecycle_log USING btree (change_set_id);

CREATE INDEX iu_lifecycle_log_unit ON public.iu_lifecycle_log USING btree (unit_id);

CREATE INDEX search_word_near ON public.search_word USING gin (near);

CREATE INDEX unit_search_grams ON public.unit_search USING gin (grams);

CREATE INDEX unit_search_words ON public.unit_search USING gin (words);

CREATE UNIQUE INDEX unit_version_enacted_once ON public.unit_version USING btree (unit_id) WHERE (lifecycle_status = 'enacted'::text);

CREATE TRIGGER trg_aa_cut_change_set_affected_row_guard BEFORE INSERT OR UPDATE ON cutter_governance.cut_change_set_affected_row FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_governance_guard('IG_leg_b_record');

CREATE TRIGGER trg_aa_cut_change_set_guard BEFORE INSERT OR UPDATE ON cutter_governance.cut_change_set FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_governance_guard('IG_leg_b_record');

CREATE TRIGGER trg_aa_decision_backlog_entry_guard BEFORE INSERT OR UPDATE ON cutter_governance.decision_backlog_entry FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_governance_guard('IG_leg_b_record');

CREATE TRIGGER trg_aa_decision_backlog_history_guard BEFORE INSERT OR UPDATE ON cutter_governance.decision_backlog_history FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_governance_guard('IG_leg_b_record');

CREATE TRIGGER trg_aa_dot_pair_signature_guard BEFORE INSERT OR UPDATE ON cutter_governance.dot_pair_signature FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_governance_guard('IG_leg_b_record', 'IG_write_verify');

CREATE TRIGGER trg_aa_manifest_envelope_guard BEFORE INSERT OR UPDATE ON cutter_governance.manifest_envelope FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_governance_guard('IG_leg_b_record');

CREATE TRIGGER trg_aa_manifest_unit_block_guard BEFORE INSERT OR UPDATE ON cutter_governance.manifest_unit_block FOR EACH STATEMENT EXECUTE FUNCTION cutter_governance.fn_governance_guard('IG_leg_b_record');

CREATE TRIGGER trg_aa_review_decision_guard BEFORE INSERT ON cutter_governance.review_decision FOR EACH ROW WHEN ((new.type = 'cut'::text)) EXECUTE FUNCTION cutter_governance.fn_governance_guard('IG_leg_b_record');

CREATE TRIGGER trg_aa_revision_row_guard BEFORE INSERT ON cutter_governance.revision_row FOR EACH STATEMENT EXECUTE FUNCTION cutter_governance.fn_governance_guard('IG_cut_leg_a_execute');

ALTER TABLE cutter_governance.revision_row ENABLE ALWAYS TRIGGER trg_aa_revision_row_guard;

CREATE TRIGGER trg_aa_verify_result_guard BEFORE INSERT OR UPDATE ON cutter_governance.verify_result FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_governance_guard('IG_write_verify');

CREATE TRIGGER trg_ab_form BEFORE INSERT ON cutter_governance.action_receipt FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_check_form('idempotency_key', 'target', 'gate', 'line', 'connector', 'name', 'operation', 'name', 'target', 'target', 'payload_sha256', 'digest', 'request_metadata', 'request', 'response_metadata', 'response', 'how_to_reverse', 'line');

CREATE TRIGGER trg_ab_form BEFORE INSERT ON cutter_governance.approval_verdict FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_check_form('gate', 'name', 'kb_id', 'line', 'code', 'name', 'reason', 'line', 'approval_sha256', 'digest', 'decision', 'name', 'approver', 'name', 'fingerprint', 'name', 'challenge', 'line', 'writer_digest', 'digest', 'policy_sha256', 'digest', 'statement', 'statement');

CREATE TRIGGER trg_ab_form BEFORE INSERT ON cutter_governance.batch FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_check_form('queue_sha256', 'digest', 'caps', 'caps', 'created_by', 'name', 'starter', 'name');

CREATE TRIGGER trg_ab_form BEFORE INSERT OR UPDATE ON cutter_governance.batch_item FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_check_form('document_id', 'line', 'tenant', 'name', 'source_uri', 'target', 'marking_profile', 'line', 'reason', 'line');

CREATE TRIGGER trg_ab_form BEFORE INSERT OR UPDATE ON cutter_governance.batch_queue FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_check_form('state', 'name', 'code', 'name', 'reason', 'line', 'kb_id', 'line');

CREATE TRIGGER trg_ab_form BEFORE INSERT OR UPDATE ON cutter_governance.gate_attempt FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_check_form('lease_owner', 'line', 'outcome', 'name', 'reason', 'line', 'last_error', 'line', 'report', 'report');

CREATE TRIGGER trg_ab_form BEFORE INSERT OR UPDATE ON cutter_governance.gate_receipt FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_check_form('payload_sha256', 'name', 'policy', 'policy', 'result', 'report');

CREATE TRIGGER trg_ab_form BEFORE INSERT ON cutter_governance.governing_policy FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_check_form('sha256', 'digest', 'body', 'rules');

CREATE TRIGGER trg_ab_form BEFORE INSERT ON cutter_governance.message_refusal FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_check_form('gate', 'name', 'message', 'name', 'code', 'name', 'reason', 'line');

CREATE TRIGGER trg_ab_form BEFORE INSERT OR UPDATE ON cutter_governance.outbox FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_check_form('subject', 'line', 'kb_id', 'document id', 'body', 'document', 'sha256', 'digest');

CREATE TRIGGER trg_ab_form BEFORE INSERT OR UPDATE ON cutter_governance.run FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_check_form('document_id', 'line', 'starter', 'name', 'state', 'name', 'outcome', 'name', 'tenant', 'name', 'caps', 'caps', 'last_error', 'error', 'workflow_version_id', 'name', 'first_execution_id', 'line', 'batch_id', 'line', 'docprefix', 'line');

CREATE TRIGGER trg_ab_form BEFORE INSERT ON cutter_governance.verify_result FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_check_form('findings', 'findings', 'axis_1_status', 'name', 'axis_2_status', 'name', 'state', 'name', 'verify_kind', 'name', 'created_by', 'name');

CREATE TRIGGER trg_ab_form BEFORE INSERT OR UPDATE ON cutter_governance.void_record FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_check_form('reason', 'document', 'policy', 'policy');

CREATE TRIGGER trg_ab_form BEFORE INSERT OR UPDATE ON cutter_governance.worker_heartbeat FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_check_form('queues', 'queues');

CREATE TRIGGER trg_ac_backup BEFORE INSERT ON cutter_governance.action_receipt FOR EACH ROW WHEN (((new.connector = 'backup'::text) AND (new.operation = 'take'::text))) EXECUTE FUNCTION cutter_governance.fn_check_backup();

CREATE TRIGGER trg_action_receipt_append_only BEFORE DELETE OR UPDATE ON cutter_governance.action_receipt FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE cutter_governance.action_receipt ENABLE ALWAYS TRIGGER trg_action_receipt_append_only;

CREATE TRIGGER trg_action_receipt_no_truncate BEFORE TRUNCATE ON cutter_governance.action_receipt FOR EACH STATEMENT EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE cutter_governance.action_receipt ENABLE ALWAYS TRIGGER trg_action_receipt_no_truncate;

CREATE TRIGGER trg_approval_consumption_append_only BEFORE DELETE OR UPDATE ON cutter_governance.approval_consumption FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE cutter_governance.approval_consumption ENABLE ALWAYS TRIGGER trg_approval_consumption_append_only;

CREATE TRIGGER trg_approval_consumption_no_truncate BEFORE TRUNCATE ON cutter_governance.approval_consumption FOR EACH STATEMENT EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE cutter_governance.approval_consumption ENABLE ALWAYS TRIGGER trg_approval_consumption_no_truncate;

CREATE TRIGGER trg_approval_request_answered AFTER UPDATE OF status ON cutter_governance.approval_request FOR EACH ROW WHEN (((old.status = 'requested'::text) AND (new.status <> 'requested'::text))) EXECUTE FUNCTION cutter_governance.fn_notification_of_request();

CREATE TRIGGER trg_approval_request_decides AFTER UPDATE OF status ON cutter_governance.approval_request FOR EACH ROW WHEN (((old.status = 'requested'::text) AND (new.status <> 'requested'::text) AND (new.review_decision_id IS NOT NULL))) EXECUTE FUNCTION cutter_governance.fn_request_decides();

CREATE TRIGGER trg_approval_request_moved AFTER UPDATE OF status ON cutter_governance.approval_request FOR EACH ROW WHEN ((old.status IS DISTINCT FROM new.status)) EXECUTE FUNCTION cutter_governance.fn_approval_moved();

CREATE TRIGGER trg_approval_request_notification AFTER INSERT ON cutter_governance.approval_request FOR EACH ROW WHEN ((new.status = 'requested'::text)) EXECUTE FUNCTION cutter_governance.fn_notification_of_request();

CREATE TRIGGER trg_approval_revocation_append_only BEFORE DELETE OR UPDATE ON cutter_governance.approval_revocation FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE cutter_governance.approval_revocation ENABLE ALWAYS TRIGGER trg_approval_revocation_append_only;

CREATE TRIGGER trg_approval_revocation_no_truncate BEFORE TRUNCATE ON cutter_governance.approval_revocation FOR EACH STATEMENT EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE cutter_governance.approval_revocation ENABLE ALWAYS TRIGGER trg_approval_revocation_no_truncate;

CREATE TRIGGER trg_approval_verdict_append_only BEFORE DELETE OR UPDATE ON cutter_governance.approval_verdict FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE cutter_governance.approval_verdict ENABLE ALWAYS TRIGGER trg_approval_verdict_append_only;

CREATE TRIGGER trg_approval_verdict_no_truncate BEFORE TRUNCATE ON cutter_governance.approval_verdict FOR EACH STATEMENT EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE cutter_governance.approval_verdict ENABLE ALWAYS TRIGGER trg_approval_verdict_no_truncate;

CREATE TRIGGER trg_approval_verdict_notify AFTER INSERT ON cutter_governance.approval_verdict FOR EACH ROW WHEN (new.accepted) EXECUTE FUNCTION cutter_governance.fn_batch_run_notify();

CREATE TRIGGER trg_audit_event_append_only BEFORE DELETE OR UPDATE ON cutter_governance.audit_event FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE cutter_governance.audit_event ENABLE ALWAYS TRIGGER trg_audit_event_append_only;

CREATE TRIGGER trg_audit_event_no_truncate BEFORE TRUNCATE ON cutter_governance.audit_event FOR EACH STATEMENT EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE cutter_governance.audit_event ENABLE ALWAYS TRIGGER trg_audit_event_no_truncate;

CREATE TRIGGER trg_batch_item_notify AFTER UPDATE OF decided ON cutter_governance.batch_item FOR EACH ROW WHEN ((old.decided IS DISTINCT FROM new.decided)) EXECUTE FUNCTION cutter_governance.fn_batch_item_notify();

CREATE TRIGGER trg_batch_notification AFTER UPDATE OF halted, ended_at ON cutter_governance.batch FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_notification_of_batch();

CREATE TRIGGER trg_batch_notify AFTER UPDATE OF halted ON cutter_governance.batch FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_batch_notify();

CREATE TRIGGER trg_batch_queue_notify AFTER INSERT OR UPDATE ON cutter_governance.batch_queue FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_batch_item_notify();

CREATE TRIGGER trg_cut_change_set_affected_row_append_only BEFORE DELETE OR UPDATE ON cutter_governance.cut_change_set_affected_row FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE cutter_governance.cut_change_set_affected_row ENABLE ALWAYS TRIGGER trg_cut_change_set_affected_row_append_only;

CREATE TRIGGER trg_cut_change_set_affected_row_no_truncate BEFORE TRUNCATE ON cutter_governance.cut_change_set_affected_row FOR EACH STATEMENT EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE cutter_governance.cut_change_set_affected_row ENABLE ALWAYS TRIGGER trg_cut_change_set_affected_row_no_truncate;

CREATE TRIGGER trg_cut_change_set_append_only BEFORE DELETE OR UPDATE ON cutter_governance.cut_change_set FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE cutter_governance.cut_change_set ENABLE ALWAYS TRIGGER trg_cut_change_set_append_only;

CREATE TRIGGER trg_cut_change_set_no_truncate BEFORE TRUNCATE ON cutter_governance.cut_change_set FOR EACH STATEMENT EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE cutter_governance.cut_change_set ENABLE ALWAYS TRIGGER trg_cut_change_set_no_truncate;

CREATE TRIGGER trg_decision_backlog_history_append_only BEFORE DELETE OR UPDATE ON cutter_governance.decision_backlog_history FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE cutter_governance.decision_backlog_history ENABLE ALWAYS TRIGGER trg_decision_backlog_history_append_only;

CREATE TRIGGER trg_decision_backlog_history_no_truncate BEFORE TRUNCATE ON cutter_governance.decision_backlog_history FOR EACH STATEMENT EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE cutter_governance.decision_backlog_history ENABLE ALWAYS TRIGGER trg_decision_backlog_history_no_truncate;

CREATE TRIGGER trg_definition_cache_append_only BEFORE DELETE OR UPDATE ON cutter_governance.definition_cache FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE cutter_governance.definition_cache ENABLE ALWAYS TRIGGER trg_definition_cache_append_only;

CREATE TRIGGER trg_definition_cache_no_truncate BEFORE TRUNCATE ON cutter_governance.definition_cache FOR EACH STATEMENT EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE cutter_governance.definition_cache ENABLE ALWAYS TRIGGER trg_definition_cache_no_truncate;

CREATE TRIGGER trg_definition_snapshot_append_only BEFORE DELETE OR UPDATE ON cutter_governance.definition_snapshot FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE cutter_governance.definition_snapshot ENABLE ALWAYS TRIGGER trg_definition_snapshot_append_only;

CREATE TRIGGER trg_definition_snapshot_no_truncate BEFORE TRUNCATE ON cutter_governance.definition_snapshot FOR EACH STATEMENT EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE cutter_governance.definition_snapshot ENABLE ALWAYS TRIGGER trg_definition_snapshot_no_truncate;

CREATE TRIGGER trg_dot_pair_signature_append_only BEFORE DELETE OR UPDATE ON cutter_governance.dot_pair_signature FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE cutter_governance.dot_pair_signature ENABLE ALWAYS TRIGGER trg_dot_pair_signature_append_only;

CREATE TRIGGER trg_dot_pair_signature_kind BEFORE INSERT ON cutter_governance.dot_pair_signature FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_signature_kind();

CREATE TRIGGER trg_dot_pair_signature_no_truncate BEFORE TRUNCATE ON cutter_governance.dot_pair_signature FOR EACH STATEMENT EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE cutter_governance.dot_pair_signature ENABLE ALWAYS TRIGGER trg_dot_pair_signature_no_truncate;

CREATE TRIGGER trg_drift_acknowledgement_append_only BEFORE DELETE OR UPDATE ON cutter_governance.drift_acknowledgement FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE cutter_governance.drift_acknowledgement ENABLE ALWAYS TRIGGER trg_drift_acknowledgement_append_only;

CREATE TRIGGER trg_drift_acknowledgement_no_truncate BEFORE TRUNCATE ON cutter_governance.drift_acknowledgement FOR EACH STATEMENT EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE cutter_governance.drift_acknowledgement ENABLE ALWAYS TRIGGER trg_drift_acknowledgement_no_truncate;

CREATE TRIGGER trg_effect_policy_append_only BEFORE DELETE OR UPDATE ON cutter_governance.effect_policy FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE cutter_governance.effect_policy ENABLE ALWAYS TRIGGER trg_effect_policy_append_only;

CREATE TRIGGER trg_effect_policy_no_truncate BEFORE TRUNCATE ON cutter_governance.effect_policy FOR EACH STATEMENT EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE cutter_governance.effect_policy ENABLE ALWAYS TRIGGER trg_effect_policy_no_truncate;

CREATE TRIGGER trg_gate_catalogue_append_only BEFORE DELETE OR UPDATE ON cutter_governance.gate_catalogue FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE cutter_governance.gate_catalogue ENABLE ALWAYS TRIGGER trg_gate_catalogue_append_only;

CREATE TRIGGER trg_gate_catalogue_no_truncate BEFORE TRUNCATE ON cutter_governance.gate_catalogue FOR EACH STATEMENT EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE cutter_governance.gate_catalogue ENABLE ALWAYS TRIGGER trg_gate_catalogue_no_truncate;

CREATE CONSTRAINT TRIGGER trg_gate_receipt_at_commit AFTER INSERT ON cutter_governance.gate_receipt DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_check_receipt();

ALTER TABLE cutter_governance.gate_receipt ENABLE ALWAYS TRIGGER trg_gate_receipt_at_commit;

CREATE TRIGGER trg_gate_receipt_immutable BEFORE DELETE OR UPDATE ON cutter_governance.gate_receipt FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_receipt_immutable();

ALTER TABLE cutter_governance.gate_receipt ENABLE ALWAYS TRIGGER trg_gate_receipt_immutable;

CREATE TRIGGER trg_gate_receipt_no_truncate BEFORE TRUNCATE ON cutter_governance.gate_receipt FOR EACH STATEMENT EXECUTE FUNCTION cutter_governance.fn_receipt_immutable();

ALTER TABLE cutter_governance.gate_receipt ENABLE ALWAYS TRIGGER trg_gate_receipt_no_truncate;

CREATE TRIGGER trg_governing_policy_append_only BEFORE DELETE OR UPDATE ON cutter_governance.governing_policy FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE cutter_governance.governing_policy ENABLE ALWAYS TRIGGER trg_governing_policy_append_only;

CREATE TRIGGER trg_governing_policy_no_truncate BEFORE TRUNCATE ON cutter_governance.governing_policy FOR EACH STATEMENT EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE cutter_governance.governing_policy ENABLE ALWAYS TRIGGER trg_governing_policy_no_truncate;

CREATE TRIGGER trg_manifest_unit_block_append_only BEFORE DELETE OR UPDATE ON cutter_governance.manifest_unit_block FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE cutter_governance.manifest_unit_block ENABLE ALWAYS TRIGGER trg_manifest_unit_block_append_only;

CREATE TRIGGER trg_manifest_unit_block_no_truncate BEFORE TRUNCATE ON cutter_governance.manifest_unit_block FOR EACH STATEMENT EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE cutter_governance.manifest_unit_block ENABLE ALWAYS TRIGGER trg_manifest_unit_block_no_truncate;

CREATE TRIGGER trg_message_refusal_append_only BEFORE DELETE OR UPDATE ON cutter_governance.message_refusal FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE cutter_governance.message_refusal ENABLE ALWAYS TRIGGER trg_message_refusal_append_only;

CREATE TRIGGER trg_message_refusal_no_truncate BEFORE TRUNCATE ON cutter_governance.message_refusal FOR EACH STATEMENT EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE cutter_governance.message_refusal ENABLE ALWAYS TRIGGER trg_message_refusal_no_truncate;

CREATE TRIGGER trg_name BEFORE INSERT OR UPDATE OF kb_id ON cutter_governance.outbox FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_outbox_name();

CREATE TRIGGER trg_order_consumption_append_only BEFORE DELETE OR UPDATE ON cutter_governance.order_consumption FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE cutter_governance.order_consumption ENABLE ALWAYS TRIGGER trg_order_consumption_append_only;

CREATE TRIGGER trg_order_consumption_no_truncate BEFORE TRUNCATE ON cutter_governance.order_consumption FOR EACH STATEMENT EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE cutter_governance.order_consumption ENABLE ALWAYS TRIGGER trg_order_consumption_no_truncate;

CREATE TRIGGER trg_policy_epoch_append_only BEFORE DELETE OR UPDATE ON cutter_governance.policy_epoch FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE cutter_governance.policy_epoch ENABLE ALWAYS TRIGGER trg_policy_epoch_append_only;

CREATE TRIGGER trg_policy_epoch_no_truncate BEFORE TRUNCATE ON cutter_governance.policy_epoch FOR EACH STATEMENT EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE cutter_governance.policy_epoch ENABLE ALWAYS TRIGGER trg_policy_epoch_no_truncate;

CREATE TRIGGER trg_prepared_decision_append_only BEFORE DELETE OR UPDATE ON cutter_governance.prepared_decision FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE cutter_governance.prepared_decision ENABLE ALWAYS TRIGGER trg_prepared_decision_append_only;

CREATE TRIGGER trg_prepared_decision_no_truncate BEFORE TRUNCATE ON cutter_governance.prepared_decision FOR EACH STATEMENT EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE cutter_governance.prepared_decision ENABLE ALWAYS TRIGGER trg_prepared_decision_no_truncate;

CREATE TRIGGER trg_request_put_notify AFTER UPDATE OF done_at ON cutter_governance.outbox FOR EACH ROW WHEN (((new.kind = 'request'::text) AND (new.done_at IS NOT NULL))) EXECUTE FUNCTION cutter_governance.fn_batch_run_notify();

CREATE TRIGGER trg_review_decision_begins BEFORE INSERT ON cutter_governance.review_decision FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_review_decision_begins();

CREATE TRIGGER trg_review_decision_once BEFORE DELETE OR UPDATE ON cutter_governance.review_decision FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_review_decision_once();

ALTER TABLE cutter_governance.review_decision ENABLE ALWAYS TRIGGER trg_review_decision_once;

CREATE TRIGGER trg_review_decision_writer BEFORE INSERT ON cutter_governance.review_decision FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_review_decision_writer();

CREATE TRIGGER trg_revision_row_append_only BEFORE DELETE OR UPDATE ON cutter_governance.revision_row FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE cutter_governance.revision_row ENABLE ALWAYS TRIGGER trg_revision_row_append_only;

CREATE TRIGGER trg_revision_row_no_truncate BEFORE TRUNCATE ON cutter_governance.revision_row FOR EACH STATEMENT EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE cutter_governance.revision_row ENABLE ALWAYS TRIGGER trg_revision_row_no_truncate;

CREATE TRIGGER trg_run_batch_notify AFTER INSERT OR UPDATE OF state, ended_at ON cutter_governance.run FOR EACH ROW WHEN ((new.batch_id IS NOT NULL)) EXECUTE FUNCTION cutter_governance.fn_batch_item_notify();

CREATE TRIGGER trg_run_ended_by_people BEFORE UPDATE OF state ON cutter_governance.run FOR EACH ROW WHEN (((old.state IS DISTINCT FROM new.state) AND ((new.state = 'failed_rejected'::text) OR ((new.state ~~ 'voided\_%'::text) AND (new.state <> 'voided_cancelled'::text))))) EXECUTE FUNCTION cutter_governance.fn_run_ended_by_people();

CREATE TRIGGER trg_run_notification AFTER UPDATE OF ended_at, state ON cutter_governance.run FOR EACH ROW WHEN (((old.state IS DISTINCT FROM new.state) OR (old.ended_at IS DISTINCT FROM new.ended_at))) EXECUTE FUNCTION cutter_governance.fn_notification_of_run();

CREATE TRIGGER trg_run_request AFTER UPDATE OF ended_at ON cutter_governance.run FOR EACH ROW WHEN (((old.ended_at IS NULL) AND (new.ended_at IS NOT NULL) AND (new.outcome IS DISTINCT FROM 'rehearsed'::text))) EXECUTE FUNCTION cutter_governance.fn_request_cancel();

CREATE TRIGGER trg_schema_baseline_append_only BEFORE DELETE OR UPDATE ON cutter_governance.schema_baseline FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE cutter_governance.schema_baseline ENABLE ALWAYS TRIGGER trg_schema_baseline_append_only;

CREATE TRIGGER trg_schema_baseline_no_truncate BEFORE TRUNCATE ON cutter_governance.schema_baseline FOR EACH STATEMENT EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE cutter_governance.schema_baseline ENABLE ALWAYS TRIGGER trg_schema_baseline_no_truncate;

CREATE TRIGGER trg_signed_statement_append_only BEFORE DELETE OR UPDATE ON cutter_governance.signed_statement FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE cutter_governance.signed_statement ENABLE ALWAYS TRIGGER trg_signed_statement_append_only;

CREATE TRIGGER trg_signed_statement_no_truncate BEFORE TRUNCATE ON cutter_governance.signed_statement FOR EACH STATEMENT EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE cutter_governance.signed_statement ENABLE ALWAYS TRIGGER trg_signed_statement_no_truncate;

CREATE TRIGGER trg_stop_route_notify AFTER INSERT ON cutter_governance.outbox FOR EACH ROW WHEN ((new.kind = 'stop_route'::text)) EXECUTE FUNCTION cutter_governance.fn_batch_run_notify();

CREATE TRIGGER trg_unsigned_decision_append_only BEFORE DELETE OR UPDATE ON cutter_governance.unsigned_decision FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE cutter_governance.unsigned_decision ENABLE ALWAYS TRIGGER trg_unsigned_decision_append_only;

CREATE TRIGGER trg_unsigned_decision_no_truncate BEFORE TRUNCATE ON cutter_governance.unsigned_decision FOR EACH STATEMENT EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE cutter_governance.unsigned_decision ENABLE ALWAYS TRIGGER trg_unsigned_decision_no_truncate;

CREATE TRIGGER trg_verify_result_append_only BEFORE DELETE OR UPDATE ON cutter_governance.verify_result FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE cutter_governance.verify_result ENABLE ALWAYS TRIGGER trg_verify_result_append_only;

CREATE TRIGGER trg_verify_result_no_truncate BEFORE TRUNCATE ON cutter_governance.verify_result FOR EACH STATEMENT EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE cutter_governance.verify_result ENABLE ALWAYS TRIGGER trg_verify_result_no_truncate;

CREATE CONSTRAINT TRIGGER trg_void_at_commit AFTER INSERT ON cutter_governance.void_record DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_check_void();

CREATE CONSTRAINT TRIGGER trg_zz_cut_change_set_affected_row_backup AFTER INSERT OR DELETE OR UPDATE ON cutter_governance.cut_change_set_affected_row DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_backup_changed();

ALTER TABLE cutter_governance.cut_change_set_affected_row ENABLE ALWAYS TRIGGER trg_zz_cut_change_set_affected_row_backup;

CREATE CONSTRAINT TRIGGER trg_zz_cut_change_set_affected_row_gate AFTER INSERT OR UPDATE ON cutter_governance.cut_change_set_affected_row DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_check_run_of_row('IG_leg_b_record');

CREATE CONSTRAINT TRIGGER trg_zz_cut_change_set_backup AFTER INSERT OR DELETE OR UPDATE ON cutter_governance.cut_change_set DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_backup_changed();

ALTER TABLE cutter_governance.cut_change_set ENABLE ALWAYS TRIGGER trg_zz_cut_change_set_backup;

CREATE CONSTRAINT TRIGGER trg_zz_cut_change_set_gate AFTER INSERT OR UPDATE ON cutter_governance.cut_change_set DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_check_run_of_row('IG_leg_b_record');

CREATE CONSTRAINT TRIGGER trg_zz_decision_backlog_entry_gate AFTER INSERT OR UPDATE ON cutter_governance.decision_backlog_entry DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_check_run_of_row('IG_leg_b_record');

CREATE CONSTRAINT TRIGGER trg_zz_decision_backlog_history_gate AFTER INSERT OR UPDATE ON cutter_governance.decision_backlog_history DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_check_run_of_row('IG_leg_b_record');

CREATE CONSTRAINT TRIGGER trg_zz_dot_pair_signature_backup AFTER INSERT OR DELETE OR UPDATE ON cutter_governance.dot_pair_signature DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_backup_changed();

ALTER TABLE cutter_governance.dot_pair_signature ENABLE ALWAYS TRIGGER trg_zz_dot_pair_signature_backup;

CREATE CONSTRAINT TRIGGER trg_zz_dot_pair_signature_gate AFTER INSERT OR UPDATE ON cutter_governance.dot_pair_signature DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_check_run_of_row('IG_leg_b_record', 'IG_write_verify');

CREATE CONSTRAINT TRIGGER trg_zz_manifest_envelope_backup AFTER INSERT OR DELETE OR UPDATE ON cutter_governance.manifest_envelope DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_backup_changed();

ALTER TABLE cutter_governance.manifest_envelope ENABLE ALWAYS TRIGGER trg_zz_manifest_envelope_backup;

CREATE CONSTRAINT TRIGGER trg_zz_manifest_envelope_gate AFTER INSERT OR UPDATE ON cutter_governance.manifest_envelope DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_check_run_of_row('IG_leg_b_record');

CREATE CONSTRAINT TRIGGER trg_zz_manifest_unit_block_backup AFTER DELETE OR UPDATE ON cutter_governance.manifest_unit_block DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_backup_changed();

ALTER TABLE cutter_governance.manifest_unit_block ENABLE ALWAYS TRIGGER trg_zz_manifest_unit_block_backup;

CREATE TRIGGER trg_zz_manifest_unit_block_backup_insert AFTER INSERT ON cutter_governance.manifest_unit_block REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION cutter_governance.fn_backup_rows_changed();

ALTER TABLE cutter_governance.manifest_unit_block ENABLE ALWAYS TRIGGER trg_zz_manifest_unit_block_backup_insert;

CREATE CONSTRAINT TRIGGER trg_zz_manifest_unit_block_gate AFTER UPDATE ON cutter_governance.manifest_unit_block DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_check_run_of_row('IG_leg_b_record');

CREATE TRIGGER trg_zz_manifest_unit_block_gate_insert AFTER INSERT ON cutter_governance.manifest_unit_block REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION cutter_governance.fn_check_run_of_rows('IG_leg_b_record');

CREATE CONSTRAINT TRIGGER trg_zz_review_decision_backup AFTER INSERT OR DELETE OR UPDATE ON cutter_governance.review_decision DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_backup_changed();

ALTER TABLE cutter_governance.review_decision ENABLE ALWAYS TRIGGER trg_zz_review_decision_backup;

CREATE CONSTRAINT TRIGGER trg_zz_review_decision_gate AFTER INSERT ON cutter_governance.review_decision DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ((new.type = 'cut'::text)) EXECUTE FUNCTION cutter_governance.fn_check_run_of_row('IG_leg_b_record');

CREATE CONSTRAINT TRIGGER trg_zz_revision_row_backup AFTER DELETE OR UPDATE ON cutter_governance.revision_row DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_backup_changed();

ALTER TABLE cutter_governance.revision_row ENABLE ALWAYS TRIGGER trg_zz_revision_row_backup;

CREATE TRIGGER trg_zz_revision_row_backup_insert AFTER INSERT ON cutter_governance.revision_row REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION cutter_governance.fn_backup_rows_changed();

ALTER TABLE cutter_governance.revision_row ENABLE ALWAYS TRIGGER trg_zz_revision_row_backup_insert;

CREATE TRIGGER trg_zz_revision_row_gate AFTER INSERT ON cutter_governance.revision_row REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION cutter_governance.fn_check_run_of_rows('IG_cut_leg_a_execute');

ALTER TABLE cutter_governance.revision_row ENABLE ALWAYS TRIGGER trg_zz_revision_row_gate;

CREATE CONSTRAINT TRIGGER trg_zz_verify_result_gate AFTER INSERT OR UPDATE ON cutter_governance.verify_result DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_check_run_of_row('IG_write_verify');

CREATE TRIGGER trg_aa_enactment_guard BEFORE INSERT ON public.enactment FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_governance_guard('IG_lifecycle_enact_execute');

ALTER TABLE public.enactment ENABLE ALWAYS TRIGGER trg_aa_enactment_guard;

CREATE TRIGGER trg_aa_iu_gateway_write_guard BEFORE INSERT OR DELETE OR UPDATE ON public.information_unit FOR EACH ROW EXECUTE FUNCTION public.fn_iu_gateway_guard();

ALTER TABLE public.information_unit ENABLE ALWAYS TRIGGER trg_aa_iu_gateway_write_guard;

CREATE TRIGGER trg_aa_uv_gateway_write_guard BEFORE INSERT OR DELETE OR UPDATE ON public.unit_version FOR EACH ROW EXECUTE FUNCTION public.fn_iu_gateway_guard();

ALTER TABLE public.unit_version ENABLE ALWAYS TRIGGER trg_aa_uv_gateway_write_guard;

CREATE TRIGGER trg_enactment_append_only BEFORE DELETE OR UPDATE ON public.enactment FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE public.enactment ENABLE ALWAYS TRIGGER trg_enactment_append_only;

CREATE TRIGGER trg_enactment_no_truncate BEFORE TRUNCATE ON public.enactment FOR EACH STATEMENT EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE public.enactment ENABLE ALWAYS TRIGGER trg_enactment_no_truncate;

CREATE TRIGGER trg_enactment_notification AFTER INSERT ON public.enactment FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_notification_of_enactment();

CREATE TRIGGER trg_iu_birth_gate_layer1 BEFORE INSERT ON public.information_unit FOR EACH ROW EXECUTE FUNCTION public.fn_iu_birth_gate_layer1();

CREATE CONSTRAINT TRIGGER trg_iu_birth_gate_layer2 AFTER INSERT OR UPDATE ON public.information_unit DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.fn_iu_birth_gate_layer2();

CREATE TRIGGER trg_iu_enacted_immut BEFORE DELETE OR UPDATE ON public.information_unit FOR EACH ROW EXECUTE FUNCTION public.fn_enacted_immutable();

CREATE TRIGGER trg_iu_enacted_immut_always BEFORE DELETE OR UPDATE ON public.information_unit FOR EACH ROW EXECUTE FUNCTION public.fn_enacted_immutable();

ALTER TABLE public.information_unit ENABLE ALWAYS TRIGGER trg_iu_enacted_immut_always;

CREATE TRIGGER trg_iu_lifecycle_log_append_only BEFORE DELETE OR UPDATE ON public.iu_lifecycle_log FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE public.iu_lifecycle_log ENABLE ALWAYS TRIGGER trg_iu_lifecycle_log_append_only;

CREATE TRIGGER trg_iu_lifecycle_log_no_truncate BEFORE TRUNCATE ON public.iu_lifecycle_log FOR EACH STATEMENT EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE public.iu_lifecycle_log ENABLE ALWAYS TRIGGER trg_iu_lifecycle_log_no_truncate;

CREATE TRIGGER trg_iu_no_truncate BEFORE TRUNCATE ON public.information_unit FOR EACH STATEMENT EXECUTE FUNCTION public.fn_enacted_immutable();

ALTER TABLE public.information_unit ENABLE ALWAYS TRIGGER trg_iu_no_truncate;

CREATE TRIGGER trg_source_snapshot_append_only BEFORE DELETE OR UPDATE ON public.source_snapshot FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE public.source_snapshot ENABLE ALWAYS TRIGGER trg_source_snapshot_append_only;

CREATE TRIGGER trg_source_snapshot_no_truncate BEFORE TRUNCATE ON public.source_snapshot FOR EACH STATEMENT EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE public.source_snapshot ENABLE ALWAYS TRIGGER trg_source_snapshot_no_truncate;

CREATE TRIGGER trg_source_version_append_only BEFORE DELETE OR UPDATE ON public.source_version FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE public.source_version ENABLE ALWAYS TRIGGER trg_source_version_append_only;

CREATE TRIGGER trg_source_version_no_truncate BEFORE TRUNCATE ON public.source_version FOR EACH STATEMENT EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE public.source_version ENABLE ALWAYS TRIGGER trg_source_version_no_truncate;

CREATE TRIGGER trg_uv_enacted_immut BEFORE DELETE OR UPDATE ON public.unit_version FOR EACH ROW EXECUTE FUNCTION public.fn_enacted_immutable();

CREATE TRIGGER trg_uv_enacted_immut_always BEFORE DELETE OR UPDATE ON public.unit_version FOR EACH ROW EXECUTE FUNCTION public.fn_enacted_immutable();

ALTER TABLE public.unit_version ENABLE ALWAYS TRIGGER trg_uv_enacted_immut_always;

CREATE TRIGGER trg_uv_no_truncate BEFORE TRUNCATE ON public.unit_version FOR EACH STATEMENT EXECUTE FUNCTION public.fn_enacted_immutable();

ALTER TABLE public.unit_version ENABLE ALWAYS TRIGGER trg_uv_no_truncate;

CREATE TRIGGER trg_vocabulary_append_only BEFORE DELETE OR UPDATE ON public.vocabulary FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE public.vocabulary ENABLE ALWAYS TRIGGER trg_vocabulary_append_only;

CREATE TRIGGER trg_vocabulary_no_truncate BEFORE TRUNCATE ON public.vocabulary FOR EACH STATEMENT EXECUTE FUNCTION cutter_governance.fn_append_only();

ALTER TABLE public.vocabulary ENABLE ALWAYS TRIGGER trg_vocabulary_no_truncate;

CREATE CONSTRAINT TRIGGER trg_zz_enactment_backup AFTER INSERT OR DELETE OR UPDATE ON public.enactment DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_backup_changed();

ALTER TABLE public.enactment ENABLE ALWAYS TRIGGER trg_zz_enactment_backup;

CREATE CONSTRAINT TRIGGER trg_zz_enactment_gate AFTER INSERT ON public.enactment DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_check_run_of_row('IG_lifecycle_enact_execute');

ALTER TABLE public.enactment ENABLE ALWAYS TRIGGER trg_zz_enactment_gate;

CREATE CONSTRAINT TRIGGER trg_zz_enactment_search AFTER INSERT ON public.enactment DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_search_of_enactment();

CREATE CONSTRAINT TRIGGER trg_zz_information_unit_backup AFTER INSERT OR DELETE OR UPDATE ON public.information_unit DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_backup_changed();

ALTER TABLE public.information_unit ENABLE ALWAYS TRIGGER trg_zz_information_unit_backup;

CREATE CONSTRAINT TRIGGER trg_zz_iu_insert_gate AFTER INSERT ON public.information_unit DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_check_gate_of_row('IG_cut_leg_a_execute');

ALTER TABLE public.information_unit ENABLE ALWAYS TRIGGER trg_zz_iu_insert_gate;

CREATE CONSTRAINT TRIGGER trg_zz_iu_lifecycle_log_backup AFTER INSERT OR DELETE OR UPDATE ON public.iu_lifecycle_log DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_backup_changed();

ALTER TABLE public.iu_lifecycle_log ENABLE ALWAYS TRIGGER trg_zz_iu_lifecycle_log_backup;

CREATE CONSTRAINT TRIGGER trg_zz_iu_update_gate AFTER UPDATE ON public.information_unit DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_check_gate_of_row('IG_lifecycle_enact_execute', 'VOID');

ALTER TABLE public.information_unit ENABLE ALWAYS TRIGGER trg_zz_iu_update_gate;

CREATE CONSTRAINT TRIGGER trg_zz_log_gate AFTER INSERT ON public.iu_lifecycle_log DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_check_gate_of_row('IG_lifecycle_enact_execute');

CREATE CONSTRAINT TRIGGER trg_zz_unit_version_backup AFTER INSERT OR DELETE OR UPDATE ON public.unit_version DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_backup_changed();

ALTER TABLE public.unit_version ENABLE ALWAYS TRIGGER trg_zz_unit_version_backup;

CREATE CONSTRAINT TRIGGER trg_zz_uv_insert_gate AFTER INSERT ON public.unit_version DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_check_gate_of_row('IG_cut_leg_a_execute');

ALTER TABLE public.unit_version ENABLE ALWAYS TRIGGER trg_zz_uv_insert_gate;

CREATE CONSTRAINT TRIGGER trg_zz_uv_update_gate AFTER UPDATE ON public.unit_version DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION cutter_governance.fn_check_gate_of_row('IG_lifecycle_enact_execute', 'VOID');

ALTER TABLE public.unit_version ENABLE ALWAYS TRIGGER trg_zz_uv_update_gate;

ALTER TABLE ONLY cutter_governance.action_receipt
    ADD CONSTRAINT action_receipt_run_id_fkey FOREIGN KEY (run_id) REFERENCES cutter_governance.run(run_id);

ALTER TABLE ONLY cutter_governance.approval_consumption
    ADD CONSTRAINT approval_consumption_decision_fkey FOREIGN KEY (review_decision_id) REFERENCES cutter_governance.review_decision(review_decision_id);

ALTER TABLE ONLY cutter_governance.approval_consumption
    ADD CONSTRAINT approval_consumption_policy_sha256_fkey FOREIGN KEY (policy_sha256) REFERENCES cutter_governance.policy_epoch(sha256);

ALTER TABLE ONLY cutter_governance.approval_consumption
    ADD CONSTRAINT approval_consumption_request_id_fkey FOREIGN KEY (request_id) REFERENCES cutter_governance.approval_request(request_id);

ALTER TABLE ONLY cutter_governance.approval_consumption
    ADD CONSTRAINT approval_consumption_run_id_fkey FOREIGN KEY (run_id) REFERENCES cutter_governance.run(run_id);

ALTER TABLE ONLY cutter_governance.approval_consumption
    ADD CONSTRAINT approval_consumption_source_version_id_fkey FOREIGN KEY (source_version_id) REFERENCES public.source_version(id);

ALTER TABLE ONLY cutter_governance.approval_request
    ADD CONSTRAINT approval_request_decision_fkey FOREIGN KEY (review_decision_id) REFERENCES cutter_governance.review_decision(review_decision_id);

ALTER TABLE ONLY cutter_governance.approval_request
    ADD CONSTRAINT approval_request_run_id_fkey FOREIGN KEY (run_id) REFERENCES cutter_governance.run(run_id);

ALTER TABLE ONLY cutter_governance.approval_verdict
    ADD CONSTRAINT approval_verdict_run_id_fkey FOREIGN KEY (run_id) REFERENCES cutter_governance.run(run_id);

ALTER TABLE ONLY cutter_governance.batch_item
    ADD CONSTRAINT batch_item_batch_id_fkey FOREIGN KEY (batch_id) REFERENCES cutter_governance.batch(batch_id);

ALTER TABLE ONLY cutter_governance.batch_queue
    ADD CONSTRAINT batch_queue_batch_id_document_id_fkey FOREIGN KEY (batch_id, document_id) REFERENCES cutter_governance.batch_item(batch_id, document_id);

ALTER TABLE ONLY cutter_governance.batch_queue
    ADD CONSTRAINT batch_queue_batch_id_fkey FOREIGN KEY (batch_id) REFERENCES cutter_governance.batch(batch_id);

ALTER TABLE ONLY cutter_governance.batch_queue
    ADD CONSTRAINT batch_queue_run_id_fkey FOREIGN KEY (run_id) REFERENCES cutter_governance.run(run_id);

ALTER TABLE ONLY cutter_governance.cut_change_set_affected_row
    ADD CONSTRAINT cut_change_set_affected_row_change_set_id_fkey FOREIGN KEY (change_set_id) REFERENCES cutter_governance.cut_change_set(change_set_id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY cutter_governance.cut_change_set_affected_row
    ADD CONSTRAINT cut_change_set_affected_row_ended_version_id_fkey FOREIGN KEY (ended_version_id) REFERENCES public.unit_version(id);

ALTER TABLE ONLY cutter_governance.cut_change_set_affected_row
    ADD CONSTRAINT cut_change_set_affected_row_unit_id_fkey FOREIGN KEY (unit_id) REFERENCES public.information_unit(id);

ALTER TABLE ONLY cutter_governance.cut_change_set_affected_row
    ADD CONSTRAINT cut_change_set_affected_row_unit_version_id_fkey FOREIGN KEY (unit_version_id) REFERENCES public.unit_version(id);

ALTER TABLE ONLY cutter_governance.cut_change_set
    ADD CONSTRAINT cut_change_set_decision_backlog_entry_id_fkey FOREIGN KEY (decision_backlog_entry_id) REFERENCES cutter_governance.decision_backlog_entry(entry_id);

ALTER TABLE ONLY cutter_governance.cut_change_set
    ADD CONSTRAINT cut_change_set_executor_signature_fkey FOREIGN KEY (executor_signature_id) REFERENCES cutter_governance.dot_pair_signature(signature_id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY cutter_governance.cut_change_set
    ADD CONSTRAINT cut_change_set_manifest_id_fkey FOREIGN KEY (manifest_id) REFERENCES cutter_governance.manifest_envelope(envelope_id);

ALTER TABLE ONLY cutter_governance.cut_change_set
    ADD CONSTRAINT cut_change_set_review_decision_id_fkey FOREIGN KEY (review_decision_id) REFERENCES cutter_governance.review_decision(review_decision_id);

ALTER TABLE ONLY cutter_governance.cut_change_set
    ADD CONSTRAINT cut_change_set_run_id_fkey FOREIGN KEY (run_id) REFERENCES cutter_governance.run(run_id);

ALTER TABLE ONLY cutter_governance.decision_backlog_entry
    ADD CONSTRAINT decision_backlog_entry_run_id_fkey FOREIGN KEY (run_id) REFERENCES cutter_governance.run(run_id);

ALTER TABLE ONLY cutter_governance.decision_backlog_history
    ADD CONSTRAINT decision_backlog_history_entry_id_fkey FOREIGN KEY (entry_id) REFERENCES cutter_governance.decision_backlog_entry(entry_id);

ALTER TABLE ONLY cutter_governance.definition_cache
    ADD CONSTRAINT definition_cache_fingerprint_fkey FOREIGN KEY (fingerprint) REFERENCES cutter_governance.definition_snapshot(fingerprint);

ALTER TABLE ONLY cutter_governance.dot_pair_signature
    ADD CONSTRAINT dot_pair_signature_cross_reference_change_set_id_fkey FOREIGN KEY (cross_reference_change_set_id) REFERENCES cutter_governance.cut_change_set(change_set_id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY cutter_governance.dot_pair_signature
    ADD CONSTRAINT dot_pair_signature_cross_reference_verify_result_id_fkey FOREIGN KEY (cross_reference_verify_result_id) REFERENCES cutter_governance.verify_result(verify_result_id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY cutter_governance.drift_acknowledgement
    ADD CONSTRAINT drift_acknowledgement_run_id_fkey FOREIGN KEY (run_id) REFERENCES cutter_governance.run(run_id);

ALTER TABLE ONLY cutter_governance.drift_acknowledgement
    ADD CONSTRAINT drift_acknowledgement_statement_sha256_fkey FOREIGN KEY (statement_sha256) REFERENCES cutter_governance.order_consumption(statement_sha256);

ALTER TABLE ONLY cutter_governance.effect_policy
    ADD CONSTRAINT effect_policy_sha256_fkey FOREIGN KEY (sha256) REFERENCES cutter_governance.governing_policy(sha256);

ALTER TABLE ONLY cutter_governance.gate_attempt
    ADD CONSTRAINT gate_attempt_gate_fkey FOREIGN KEY (gate) REFERENCES cutter_governance.gate_catalogue(gate);

ALTER TABLE ONLY cutter_governance.gate_attempt
    ADD CONSTRAINT gate_attempt_run_id_fkey FOREIGN KEY (run_id) REFERENCES cutter_governance.run(run_id);

ALTER TABLE ONLY cutter_governance.gate_receipt
    ADD CONSTRAINT gate_receipt_gate_fkey FOREIGN KEY (gate) REFERENCES cutter_governance.gate_catalogue(gate);

ALTER TABLE ONLY cutter_governance.gate_receipt
    ADD CONSTRAINT gate_receipt_run_id_fkey FOREIGN KEY (run_id) REFERENCES cutter_governance.run(run_id);

ALTER TABLE ONLY cutter_governance.manifest_envelope
    ADD CONSTRAINT manifest_envelope_change_set_fkey FOREIGN KEY (cut_change_set_ref) REFERENCES cutter_governance.cut_change_set(change_set_id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY cutter_governance.manifest_envelope
    ADD CONSTRAINT manifest_envelope_run_id_fkey FOREIGN KEY (run_id) REFERENCES cutter_governance.run(run_id);

ALTER TABLE ONLY cutter_governance.manifest_envelope
    ADD CONSTRAINT manifest_envelope_source_doc_ref_fkey FOREIGN KEY (source_doc_ref) REFERENCES public.source_document(source_document_ref);

ALTER TABLE ONLY cutter_governance.manifest_envelope
    ADD CONSTRAINT manifest_envelope_superseded_by_envelope_id_fkey FOREIGN KEY (superseded_by_envelope_id) REFERENCES cutter_governance.manifest_envelope(envelope_id);

ALTER TABLE ONLY cutter_governance.manifest_unit_block
    ADD CONSTRAINT manifest_unit_block_decision_backlog_ref_fkey FOREIGN KEY (decision_backlog_ref) REFERENCES cutter_governance.decision_backlog_entry(entry_id);

ALTER TABLE ONLY cutter_governance.manifest_unit_block
    ADD CONSTRAINT manifest_unit_block_envelope_id_fkey FOREIGN KEY (envelope_id) REFERENCES cutter_governance.manifest_envelope(envelope_id);

ALTER TABLE ONLY cutter_governance.manifest_unit_block
    ADD CONSTRAINT manifest_unit_block_target_unit_id_fkey FOREIGN KEY (target_unit_id) REFERENCES public.information_unit(id);

ALTER TABLE ONLY cutter_governance.manifest_unit_block
    ADD CONSTRAINT manifest_unit_block_target_version_id_fkey FOREIGN KEY (target_version_id) REFERENCES public.unit_version(id);

ALTER TABLE ONLY cutter_governance.message_refusal
    ADD CONSTRAINT message_refusal_run_id_fkey FOREIGN KEY (run_id) REFERENCES cutter_governance.run(run_id);

ALTER TABLE ONLY cutter_governance.notification
    ADD CONSTRAINT notification_batch_id_fkey FOREIGN KEY (batch_id) REFERENCES cutter_governance.batch(batch_id);

ALTER TABLE ONLY cutter_governance.notification_delivery
    ADD CONSTRAINT notification_delivery_channel_fkey FOREIGN KEY (channel) REFERENCES cutter_governance.notification_channel(name);

ALTER TABLE ONLY cutter_governance.notification_delivery
    ADD CONSTRAINT notification_delivery_notification_id_fkey FOREIGN KEY (notification_id) REFERENCES cutter_governance.notification(id);

ALTER TABLE ONLY cutter_governance.notification
    ADD CONSTRAINT notification_run_id_fkey FOREIGN KEY (run_id) REFERENCES cutter_governance.run(run_id);

ALTER TABLE ONLY cutter_governance.order_consumption
    ADD CONSTRAINT order_consumption_run_id_fkey FOREIGN KEY (run_id) REFERENCES cutter_governance.run(run_id);

ALTER TABLE ONLY cutter_governance.outbox
    ADD CONSTRAINT outbox_run_id_fkey FOREIGN KEY (run_id) REFERENCES cutter_governance.run(run_id);

ALTER TABLE ONLY cutter_governance.review_decision
    ADD CONSTRAINT review_decision_change_set_fkey FOREIGN KEY (cut_change_set_ref) REFERENCES cutter_governance.cut_change_set(change_set_id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY cutter_governance.review_decision
    ADD CONSTRAINT review_decision_manifest_id_fkey FOREIGN KEY (manifest_id) REFERENCES cutter_governance.manifest_envelope(envelope_id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY cutter_governance.review_decision
    ADD CONSTRAINT review_decision_prior_review_decision_id_fkey FOREIGN KEY (prior_review_decision_id) REFERENCES cutter_governance.review_decision(review_decision_id);

ALTER TABLE ONLY cutter_governance.review_decision
    ADD CONSTRAINT review_decision_run_id_fkey FOREIGN KEY (run_id) REFERENCES cutter_governance.run(run_id);

ALTER TABLE ONLY cutter_governance.review_decision
    ADD CONSTRAINT review_decision_superseded_by_review_decision_id_fkey FOREIGN KEY (superseded_by_review_decision_id) REFERENCES cutter_governance.review_decision(review_decision_id);

ALTER TABLE ONLY cutter_governance.revision_row
    ADD CONSTRAINT revision_row_base_version_id_fkey FOREIGN KEY (base_version_id) REFERENCES public.unit_version(id);

ALTER TABLE ONLY cutter_governance.revision_row
    ADD CONSTRAINT revision_row_continues_unit_id_fkey FOREIGN KEY (continues_unit_id) REFERENCES public.information_unit(id);

ALTER TABLE ONLY cutter_governance.revision_row
    ADD CONSTRAINT revision_row_run_id_fkey FOREIGN KEY (run_id) REFERENCES cutter_governance.run(run_id);

ALTER TABLE ONLY cutter_governance.revision_row
    ADD CONSTRAINT revision_row_unit_id_fkey FOREIGN KEY (unit_id) REFERENCES public.information_unit(id);

ALTER TABLE ONLY cutter_governance.revision_row
    ADD CONSTRAINT revision_row_version_id_fkey FOREIGN KEY (version_id) REFERENCES public.unit_version(id);

ALTER TABLE ONLY cutter_governance.run
    ADD CONSTRAINT run_amends_fkey FOREIGN KEY (amends) REFERENCES cutter_governance.run(run_id);

ALTER TABLE ONLY cutter_governance.run
    ADD CONSTRAINT run_base_run_id_fkey FOREIGN KEY (base_run_id) REFERENCES cutter_governance.run(run_id);

ALTER TABLE ONLY cutter_governance.run
    ADD CONSTRAINT run_base_source_version_id_fkey FOREIGN KEY (base_source_version_id) REFERENCES public.source_version(id);

ALTER TABLE ONLY cutter_governance.run
    ADD CONSTRAINT run_source_document_id_fkey FOREIGN KEY (source_document_id) REFERENCES public.source_document(id);

ALTER TABLE ONLY cutter_governance.run
    ADD CONSTRAINT run_source_version_id_fkey FOREIGN KEY (source_version_id) REFERENCES public.source_version(id);

ALTER TABLE ONLY cutter_governance.signed_statement
    ADD CONSTRAINT signed_statement_verdict_id_fkey FOREIGN KEY (verdict_id) REFERENCES cutter_governance.approval_verdict(id);

ALTER TABLE ONLY cutter_governance.stop_latch
    ADD CONSTRAINT stop_latch_run_id_fkey FOREIGN KEY (run_id) REFERENCES cutter_governance.run(run_id);

ALTER TABLE ONLY cutter_governance.unsigned_decision
    ADD CONSTRAINT unsigned_decision_run_id_fkey FOREIGN KEY (run_id) REFERENCES cutter_governance.run(run_id);

ALTER TABLE ONLY cutter_governance.verify_result
    ADD CONSTRAINT verify_result_change_set_id_fkey FOREIGN KEY (change_set_id) REFERENCES cutter_governance.cut_change_set(change_set_id);

ALTER TABLE ONLY cutter_governance.verify_result
    ADD CONSTRAINT verify_result_executor_signature_fkey FOREIGN KEY (executor_signature_id) REFERENCES cutter_governance.dot_pair_signature(signature_id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY cutter_governance.verify_result
    ADD CONSTRAINT verify_result_manifest_id_fkey FOREIGN KEY (manifest_id) REFERENCES cutter_governance.manifest_envelope(envelope_id);

ALTER TABLE ONLY cutter_governance.verify_result
    ADD CONSTRAINT verify_result_review_decision_id_fkey FOREIGN KEY (review_decision_id) REFERENCES cutter_governance.review_decision(review_decision_id);

ALTER TABLE ONLY cutter_governance.verify_result
    ADD CONSTRAINT verify_result_verifier_signature_fkey FOREIGN KEY (verifier_signature_id) REFERENCES cutter_governance.dot_pair_signature(signature_id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY cutter_governance.void_record
    ADD CONSTRAINT void_record_run_id_fkey FOREIGN KEY (run_id) REFERENCES cutter_governance.run(run_id);

ALTER TABLE ONLY cutter_governance.void_record
    ADD CONSTRAINT void_record_statement_sha256_fkey FOREIGN KEY (statement_sha256) REFERENCES cutter_governance.order_consumption(statement_sha256);

ALTER TABLE ONLY public.enactment
    ADD CONSTRAINT enactment_base_run_id_fkey FOREIGN KEY (base_run_id) REFERENCES public.enactment(run_id);

ALTER TABLE ONLY public.enactment
    ADD CONSTRAINT enactment_change_set_id_fkey FOREIGN KEY (change_set_id) REFERENCES cutter_governance.cut_change_set(change_set_id);

ALTER TABLE ONLY public.enactment
    ADD CONSTRAINT enactment_run_id_fkey FOREIGN KEY (run_id) REFERENCES cutter_governance.run(run_id);

ALTER TABLE ONLY public.enactment
    ADD CONSTRAINT enactment_source_document_ref_fkey FOREIGN KEY (source_document_ref) REFERENCES public.source_document(source_document_ref);

ALTER TABLE ONLY public.enactment
    ADD CONSTRAINT enactment_source_version_id_fkey FOREIGN KEY (source_version_id) REFERENCES public.source_version(id);

ALTER TABLE ONLY public.information_unit
    ADD CONSTRAINT information_unit_parent_or_container_ref_fkey FOREIGN KEY (parent_or_container_ref) REFERENCES public.information_unit(id);

ALTER TABLE ONLY public.information_unit
    ADD CONSTRAINT information_unit_version_anchor_fkey FOREIGN KEY (version_anchor_ref) REFERENCES public.unit_version(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY public.iu_edit_draft
    ADD CONSTRAINT iu_edit_draft_unit_id_fkey FOREIGN KEY (unit_id) REFERENCES public.information_unit(id);

ALTER TABLE ONLY public.iu_lifecycle_log
    ADD CONSTRAINT iu_lifecycle_log_change_set_fkey FOREIGN KEY (change_set_id) REFERENCES cutter_governance.cut_change_set(change_set_id);

ALTER TABLE ONLY public.iu_lifecycle_log
    ADD CONSTRAINT iu_lifecycle_log_decision_fkey FOREIGN KEY (review_decision_id) REFERENCES cutter_governance.review_decision(review_decision_id);

ALTER TABLE ONLY public.iu_lifecycle_log
    ADD CONSTRAINT iu_lifecycle_log_unit_id_fkey FOREIGN KEY (unit_id) REFERENCES public.information_unit(id);

ALTER TABLE ONLY public.source_version
    ADD CONSTRAINT source_version_content_checksum_fkey FOREIGN KEY (content_checksum) REFERENCES public.source_snapshot(sha256);

ALTER TABLE ONLY public.source_version
    ADD CONSTRAINT source_version_source_document_ref_fkey FOREIGN KEY (source_document_ref) REFERENCES public.source_document(source_document_ref);

ALTER TABLE ONLY public.unit_search
    ADD CONSTRAINT unit_search_version_id_fkey FOREIGN KEY (version_id) REFERENCES public.unit_version(id);

ALTER TABLE ONLY public.unit_version
    ADD CONSTRAINT unit_version_continues_unit_id_fkey FOREIGN KEY (continues_unit_id) REFERENCES public.information_unit(id);

ALTER TABLE ONLY public.unit_version
    ADD CONSTRAINT unit_version_enacted_by_fkey FOREIGN KEY (enacted_by) REFERENCES cutter_governance.cut_change_set(change_set_id);

ALTER TABLE ONLY public.unit_version
    ADD CONSTRAINT unit_version_ended_by_fkey FOREIGN KEY (ended_by) REFERENCES cutter_governance.cut_change_set(change_set_id);

ALTER TABLE ONLY public.unit_version
    ADD CONSTRAINT unit_version_parent_unit_id_fkey FOREIGN KEY (parent_unit_id) REFERENCES public.information_unit(id);

ALTER TABLE ONLY public.unit_version
    ADD CONSTRAINT unit_version_source_version_id_fkey FOREIGN KEY (source_version_id) REFERENCES public.source_version(id);

ALTER TABLE ONLY public.unit_version
    ADD CONSTRAINT unit_version_unit_id_fkey FOREIGN KEY (unit_id) REFERENCES public.information_unit(id);
