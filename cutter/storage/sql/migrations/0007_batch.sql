-- Batches: what a queue asked for. Where an item stands is what its newest run's own row says: nothing is kept twice.
-- The rehearsal of a queue is a batch of its own, named `<batch id>-dryrun`. At the end: what tenants may have of it all.

create table cutter_governance.batch (
    batch_id text primary key check (batch_id ~ '^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}(-dryrun)?$'),
    queue_sha256 text not null,
    mode text not null check (mode = case when batch_id like '%-dryrun' then 'dryrun' else 'live' end),
    policy text not null check (policy in ('default', 'strict', 'quarantine')),
    unattended boolean not null,
    lanes integer not null check (lanes between 1 and 64),
    hard_cap_seconds double precision not null check (hard_cap_seconds > 0),
    caps jsonb not null,
    -- its tenants' shares of the lanes, as they are when it is registered
    weights jsonb not null default '{}',
    created_by text not null,
    starter text not null,
    created_at timestamptz not null default clock_timestamp(),
    state text not null default 'batch_pending' check (state in (
        'batch_pending', 'batch_planning', 'batch_awaiting_cut_authz_set', 'batch_writing',
        'batch_awaiting_lifecycle_authz_set', 'batch_enacting', 'batch_closeout', 'batch_failed_partial', 'batch_voided')),
    state_at timestamptz not null default clock_timestamp(),
    -- strict, critical, a person's stop or cancel, the hard cap: nothing more is started
    halted text check (halted in ('failure', 'critical', 'stop', 'cancel', 'hard_cap')),
    halted_reason text,
    halted_at timestamptz,
    began_at timestamptz not null default clock_timestamp(),
    -- documents whose run was voided before this are cut again
    again_at timestamptz,
    ended_at timestamptz
);

create table cutter_governance.batch_item (
    batch_id text not null references cutter_governance.batch,
    document_id text not null,
    position integer not null check (position > 0),
    priority integer not null,
    depends_on text[] not null default '{}',
    critical boolean not null default false,
    tenant text not null,
    source_uri text,
    marking_profile text,
    -- an item that has no run of this batch, and why
    decided text check (decided in ('busy', 'skipped', 'blocked', 'voided')),
    reason text,
    -- it had failed before this batch and was passed over: a resume alone does not take it in
    kept_out boolean not null default false,
    primary key (batch_id, document_id),
    unique (batch_id, position)
);

-- What waits for a person in the morning. A row is left when its run goes on or is done with, and never deleted.
create table cutter_governance.batch_queue (
    batch_id text not null references cutter_governance.batch,
    document_id text not null,
    run_id text references cutter_governance.run,
    queue text not null check (queue in ('error_queue', 'quarantine_queue', 'human_review_queue')),
    state text not null,
    code text not null,
    reason text not null,
    kb_id text primary key,
    entered_at timestamptz not null default clock_timestamp(),
    left_at timestamptz,
    left_as text,
    foreign key (batch_id, document_id) references cutter_governance.batch_item
);
create unique index batch_queue_open on cutter_governance.batch_queue (batch_id, document_id) where left_at is null;
create index run_of_batch on cutter_governance.run (batch_id, document_id, created_at) where batch_id is not null;

-- An item that a resume alone leaves out: it had failed before the batch, and is still no law.
create function cutter_governance.fn_item_kept_out(p_item cutter_governance.batch_item) returns boolean
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select p_item.kept_out and not exists (
        select from cutter_governance.run r
        join cutter_governance.gate_receipt g on g.run_id = r.run_id
        where r.document_id = p_item.document_id and r.mode = 'live' and g.gate = 'IG_lifecycle_enact_execute'
            and g.sealed_at is not null)
$$;

-- Where each item of a batch stands: its own row, its newest run of this batch, its open place in a queue.
create function cutter_governance.fn_batch_view(p_batch_id text) returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select jsonb_build_object(
        'batch', to_jsonb(b),
        'age_seconds', extract(epoch from clock_timestamp() - b.began_at),
        'halted_seconds', extract(epoch from clock_timestamp() - b.halted_at),
        'items', (
            select coalesce(jsonb_agg(jsonb_build_object(
                'document_id', i.document_id, 'position', i.position, 'priority', i.priority, 'depends_on', i.depends_on,
                'critical', i.critical, 'tenant', i.tenant, 'source_uri', i.source_uri, 'decided', i.decided,
                'reason', coalesce(i.reason, r.last_error ->> 'reason'), 'run_id', r.run_id, 'state', r.state,
                'outcome', r.outcome, 'ended', r.ended_at is not null, 'state_at', r.state_at, 'created_at', r.created_at,
                'ended_at', r.ended_at,
                'included', exists (
                    select from cutter_governance.approval_verdict v
                    where v.run_id = r.run_id and v.accepted and v.decision = 'include_failed'
                        and r.state like 'failed\_%' and v.not_after > clock_timestamp()
                        and not exists (select from cutter_governance.order_consumption
                                        where statement_sha256 = v.approval_sha256)
                        and not exists (select from cutter_governance.approval_revocation
                                        where approval_sha256 = v.approval_sha256)),
                'enacted', exists (
                    select from cutter_governance.gate_receipt g
                    where g.run_id = r.run_id and g.gate = 'IG_lifecycle_enact_execute' and g.sealed_at is not null),
                'kept_out', cutter_governance.fn_item_kept_out(i),
                'latched', coalesce(l.stopped, false), 'latch_kind', case when l.stopped then l.kind end, 'gate', a.gate, 'request_kb_id', a.kb_id, 'expires_at', a.expires_at,
                -- as many people as the policy asks for have signed, and the gate has not refused them since
                'approved', a.run_id is not null and (
                    select least(count(distinct v.fingerprint), count(distinct v.approver))
                    from cutter_governance.approval_verdict v
                    where v.run_id = a.run_id and v.gate = a.gate and v.accepted and v.decision = 'approve'
                        and v.recorded_at >= a.requested_at and v.not_after > clock_timestamp()
                        and v.policy_sha256 = (select e.sha256 from cutter_governance.policy_epoch e
                                               order by e.number desc limit 1)
                        and not exists (select from cutter_governance.approval_revocation
                                        where approval_sha256 = v.approval_sha256)
                        and not exists (select from cutter_governance.gate_attempt t
                                        join cutter_governance.gate_catalogue c on c.gate = t.gate
                                        where t.run_id = a.run_id and c.sovereign = a.gate
                                            and t.outcome = 'approval_refused' and t.started_at >= v.recorded_at
                                            -- too few people is nobody's fault
                                            and t.reason not like 'threshold\_missing:%'))
                    >= cutter_governance.fn_approvals_needed(a.gate, a.tier),
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
            left join cutter_governance.batch_queue q
                on q.batch_id = i.batch_id and q.document_id = i.document_id and q.left_at is null
            where i.batch_id = b.batch_id))
    from cutter_governance.batch b where b.batch_id = p_batch_id
$$;

-- Makes a batch's rows from a checked queue; the same queue again finds them, another one under its id is a conflict.
create function cutter_governance.fn_batch_register(p_batch jsonb, p_items jsonb) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    existing cutter_governance.batch;
    v_id text := p_batch ->> 'batch_id';
begin
    insert into cutter_governance.batch (
        batch_id, queue_sha256, mode, policy, unattended, lanes, hard_cap_seconds, caps, created_by, starter)
    values (v_id, p_batch ->> 'queue_sha256', p_batch ->> 'mode', p_batch ->> 'policy',
        (p_batch ->> 'unattended')::boolean, (p_batch ->> 'lanes')::integer, (p_batch ->> 'hard_cap_seconds')::double precision,
        p_batch -> 'caps', left(p_batch ->> 'created_by', 100), left(p_batch ->> 'starter', 100))
    on conflict do nothing;
    if not found then
        select * into existing from cutter_governance.batch where batch_id = v_id;
        return jsonb_build_object('status', case
            when existing.queue_sha256 = p_batch ->> 'queue_sha256' then 'found' else 'conflict' end,
            'queue_sha256', existing.queue_sha256);
    end if;
    insert into cutter_governance.batch_item (
        batch_id, document_id, position, priority, depends_on, critical, tenant, source_uri, marking_profile, decided, reason,
        kept_out)
    select v_id, document_id, position, priority, coalesce(depends_on, '{}'), coalesce(critical, false),
        coalesce(tenant, 'default'), source_uri, marking_profile, decided, reason, coalesce(decided = 'blocked', false)
    from jsonb_to_recordset(p_items) as item (
        document_id text, position integer, priority integer, depends_on text[], critical boolean, tenant text,
        source_uri text, marking_profile text, decided text, reason text);
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

-- Registers the run of an item that has none of its own that could still end well. `waits`: its tenant is at a cap.
-- `busy`: another run of the document is open, of whatever mode.
create function cutter_governance.fn_batch_item_start(
    p_batch_id text, p_document_id text, p_run_id text, p_starter text) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
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
        -- a failed one is taken in again by a signed authorisation of its own, once
        select * into verdict from cutter_governance.approval_verdict v
        where v.run_id = newest.run_id and v.accepted and v.decision = 'include_failed' and v.not_after > clock_timestamp()
            and not exists (select from cutter_governance.order_consumption where statement_sha256 = v.approval_sha256)
            and not exists (select from cutter_governance.approval_revocation where approval_sha256 = v.approval_sha256)
        order by v.id desc limit 1;
        if not found or newest.state not like 'failed\_%' then
            return jsonb_build_object('status', 'refused', 'code', 'run_of_this_batch_ended', 'run_id', newest.run_id);
        end if;
    end if;
    -- a document has one workflow, so an open rehearsal holds up a live run too, and the other way round; the global chain
    -- is locked first, so that of two batches that ask at once the later one sees what the other has made
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

-- Says of an item without a run why it has none; one that has a run is what its run is.
create function cutter_governance.fn_batch_item_decide(p_batch_id text, p_document_id text, p_decided text, p_reason text)
returns void
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
    update cutter_governance.batch_item set decided = p_decided, reason = left(p_reason, 500)
    where batch_id = p_batch_id and document_id = p_document_id
$$;

-- Moves a batch and records the transition; the state is a summary of its items, so any of the nine may follow any.
create function cutter_governance.fn_batch_move(p_batch_id text, p_to text, p_trigger text, p_metadata jsonb default '{}')
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_from text;
    v_ended boolean := p_to in ('batch_closeout', 'batch_failed_partial', 'batch_voided');
begin
    select state into v_from from cutter_governance.batch where batch_id = p_batch_id for update;
    if v_from is null or v_from = p_to then
        return false;
    end if;
    update cutter_governance.batch
    set state = p_to, state_at = clock_timestamp(), ended_at = case when v_ended then clock_timestamp() end
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

-- Nothing more is started; null goes on, also with what could not be started before. Who halted first stays on record,
-- but a person's stop outweighs the cap, which lets people go on signing, and a cancel outweighs all. No worker lifts a
-- halt: what reaches one through Temporal may delay and stop, not let go on what people stopped.
create function cutter_governance.fn_batch_halt(p_batch_id text, p_halted text, p_reason text) returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
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
        -- whoever lets it go on gives it its whole time again: a night's batch is signed the next day
        began_at = case when p_halted is null then clock_timestamp() else began_at end
    where batch_id = p_batch_id;
    perform cutter_governance.fn_audit_append(p_batch_id, p_batch_id, 'halt', jsonb_build_object(
        'halted', p_halted, 'before', v_before, 'reason', left(p_reason, 500)));
    return p_halted;
end
$$;

-- The queue is to be cut again after a void: what was voided until now gets another run, whose write is signed anew.
create function cutter_governance.fn_batch_again(p_batch_id text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    update cutter_governance.batch set again_at = clock_timestamp() where batch_id = p_batch_id;
    perform cutter_governance.fn_audit_append(p_batch_id, p_batch_id, 'again', jsonb_build_object('by', session_user));
end
$$;

-- One document about an item that waits for a person, and its place in a queue; the same state again adds nothing.
create function cutter_governance.fn_queue_enter(
    p_batch_id text, p_document_id text, p_queue text, p_state text, p_code text, p_reason text, p_kb_id text, p_body text)
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
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
    insert into cutter_governance.outbox (batch_id, kind, subject, kb_id, body)
    values (p_batch_id, 'queue_entry', p_document_id, p_kb_id, p_body);
    perform cutter_governance.fn_audit_append(p_batch_id, p_batch_id, 'queue_entered', jsonb_build_object(
        'document_id', p_document_id, 'queue', p_queue, 'state', p_state, 'code', left(p_code, 100), 'kb_id', p_kb_id));
    return true;
end
$$;

create function cutter_governance.fn_queue_leave(p_batch_id text, p_document_id text, p_as text) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    update cutter_governance.batch_queue set left_at = clock_timestamp(), left_as = left(p_as, 100)
    where batch_id = p_batch_id and document_id = p_document_id and left_at is null;
    return found;
end
$$;

-- A document about a whole batch (overview, summary, report), put into the knowledge base after COMMIT.
create function cutter_governance.fn_batch_document(p_batch_id text, p_kind text, p_subject text, p_kb_id text, p_body text)
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if p_kind not in ('batch_overview', 'queue_summary', 'batch_report') then
        raise exception '% is no document of a batch', p_kind using errcode = 'CU006';
    end if;
    insert into cutter_governance.outbox (batch_id, kind, subject, kb_id, body)
    values (p_batch_id, p_kind, p_subject, p_kb_id, p_body) on conflict (kb_id) do nothing;
    return found;
end
$$;

create function cutter_governance.fn_batch_outbox(p_batch_id text) returns setof cutter_governance.outbox
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select * from cutter_governance.outbox where batch_id = p_batch_id and done_at is null order by id
$$;

-- Decisions for documents that were rehearsed, in one transaction; answers {document: decision}. Whoever sits after
-- another one gets the same: all approvers of an enactment sign one decision, while it is fresh for what they sign.
create function cutter_governance.fn_decisions_prepare(p_batch_id text, p_document_ids text[]) returns jsonb
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
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

-- Whether an approval that was signed before the night is for this very run: batch, document, version, digest, count,
-- and a rehearsal of the same queue. For enactment what stands must be what was rehearsed, and verified.
create function cutter_governance.fn_tuple_covers(
    p_statement jsonb, p_run cutter_governance.run, p_request cutter_governance.approval_request) returns boolean
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select coalesce(p_run.mode = 'live' and p_run.batch_id = p_statement ->> 'batch_id'
        and p_run.document_id = p_statement ->> 'document_id'
        and p_run.source_version_id::text = p_statement ->> 'source_version_id'
        and p_request.tuple ->> 'writer_digest' = p_statement ->> 'writer_digest'
        and p_request.tuple ->> 'candidate_count' = p_statement ->> 'candidate_count'
        and p_request.gate = p_statement ->> 'gate'
        and exists (
            select from cutter_governance.run r join cutter_governance.approval_request q on q.run_id = r.run_id
            where r.batch_id = p_run.batch_id || '-dryrun' and r.document_id = p_run.document_id
                and r.mode = 'dryrun' and q.request_sha256 = p_statement ->> 'request_sha256')
        and (p_request.gate <> 'SG_lifecycle_authz' or (
            exists (select from cutter_governance.prepared_decision d
                    where d.review_decision_id = p_request.review_decision_id and d.batch_id = p_run.batch_id
                        and d.document_id = p_run.document_id)
            and cutter_governance.fn_writer_digest(p_run.docprefix) = p_statement ->> 'writer_digest'
            and exists (select from cutter_governance.cut_change_set c
                        join cutter_governance.verify_result v on v.change_set_id = c.change_set_id
                        where c.run_id = p_run.run_id and v.verdict = 'pass'))), false)
$$;

-- Pins of the newest backup that another item of a batch has taken, restored and sealed, and that is this young.
create function cutter_governance.fn_wave_backup(p_run_id text, p_batch_id text, p_seconds double precision) returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select g.result -> 'pins' from cutter_governance.action_receipt a
    join cutter_governance.gate_receipt g on g.run_id = a.run_id and g.gate = 'IG_backup' and g.sealed_at is not null
        and g.result -> 'pins' ->> 'backup_artifact' = a.target
        and g.result -> 'pins' ->> 'backup_sha256' = a.response_metadata ->> 'sha256'
    join cutter_governance.run r on r.run_id = a.run_id
    where r.batch_id = p_batch_id and a.connector = 'backup' and a.operation = 'take'
        and a.at > clock_timestamp() - make_interval(secs => p_seconds)
        and exists (select from cutter_governance.run mine where mine.run_id = p_run_id and mine.batch_id = p_batch_id)
    order by a.id desc limit 1
$$;

-- Wakes whoever waits for a batch's changes, at the COMMIT that makes them.
create function cutter_governance.fn_batch_notify() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform pg_notify('cutter_batch', new.batch_id);
    return null;
end
$$;
create trigger trg_run_batch_notify after insert or update of state, ended_at on cutter_governance.run
    for each row when (new.batch_id is not null) execute function cutter_governance.fn_batch_notify();
create trigger trg_batch_notify after update of halted on cutter_governance.batch
    for each row execute function cutter_governance.fn_batch_notify();

-- Tenants: what each may have at work, begin in a minute and write in a run, and its weight beside others (seed 003 §3.4).
-- One that has no row has weight 1 and no cap. A row of a workflow overrides the tenant's own numbers for its runs outside
-- batches (`document`) or in them (`batch`); what is counted is all of the tenant's runs, rehearsals included.

create table cutter_governance.tenant_cap (
    tenant text not null check (tenant ~ '^[A-Za-z0-9._@-]{1,64}$'),
    workflow text not null check (workflow in ('any', 'document', 'batch')),
    weight integer check (weight between 1 and 1000),
    max_concurrency integer check (max_concurrency between 1 and 1000000),
    max_runs_per_min integer check (max_runs_per_min between 1 and 1000000),
    max_writes_per_run integer check (max_writes_per_run between 1 and 1000000),
    set_at timestamptz not null default clock_timestamp(),
    primary key (tenant, workflow)
);
create index run_of_tenant on cutter_governance.run (tenant, created_at);
create index run_open_of_tenant on cutter_governance.run (tenant) where ended_at is null;

-- What holds for a tenant's runs of a workflow: the override, else the tenant's own; null is no cap.
create function cutter_governance.fn_tenant_caps(p_tenant text, p_workflow text) returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select jsonb_build_object('tenant', p_tenant, 'workflow', p_workflow, 'weight', coalesce(o.weight, a.weight, 1),
        'max_concurrency', coalesce(o.max_concurrency, a.max_concurrency),
        'max_runs_per_min', coalesce(o.max_runs_per_min, a.max_runs_per_min),
        'max_writes_per_run', coalesce(o.max_writes_per_run, a.max_writes_per_run))
    from (select) as one
    left join cutter_governance.tenant_cap a on a.tenant = p_tenant and a.workflow = 'any'
    left join cutter_governance.tenant_cap o on o.tenant = p_tenant and o.workflow = p_workflow
$$;

-- The caps beside what is used. A run is at work unless it is over, stopped, or waits for people. `room`: runs that may
-- begin now (null: no cap), `code`: the cap that leaves none, `again_utc`: the second in which the minute has room for one.
create function cutter_governance.fn_tenant_room(p_tenant text, p_workflow text) returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    with cap as (
        select caps, (caps ->> 'max_concurrency')::integer as at_once, (caps ->> 'max_runs_per_min')::integer as a_minute
        from cutter_governance.fn_tenant_caps(p_tenant, p_workflow) as caps
    ), used as (
        select (select count(*) from cutter_governance.run
                where tenant = p_tenant and ended_at is null and state not like 'stopped\_%'
                    and state not in ('awaiting_cut_authorization', 'awaiting_lifecycle_authorization')) as at_work,
            (select count(*) from cutter_governance.run
             where tenant = p_tenant and created_at > clock_timestamp() - interval '1 minute') as last_minute
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

-- Whether a run may begin, in the transaction that makes it: the same answer as above. Where there is a cap, whoever
-- asks waits for who asked before: on the global chain, which every registration locks in the end, so that the two
-- locks are always taken in one order.
create function cutter_governance.fn_tenant_turn(p_tenant text, p_workflow text) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
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

-- Sets what is named in `p_caps` (null takes a number away), and says on the chain `tenants` who changed what.
create function cutter_governance.fn_tenant_set(p_tenant text, p_workflow text, p_caps jsonb, p_by text) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
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
