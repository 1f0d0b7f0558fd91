-- What a queue says beside its documents (seed 001 §2), the priority of a single run, and what the way on of a batch's
-- document depends on.

-- `default_scope` and `default_actor` as the queue has them; an item's own overrides them. An actor is whom the requests
-- are addressed to: it gives no right, the policy does.
alter table cutter_governance.batch
    add column default_scope text check (default_scope in ('all', 'enacted_only')),
    add column default_actor text check (default_actor ~ '^[A-Za-z0-9._@-]{1,64}$');
alter table cutter_governance.batch_item
    add column scope text check (scope in ('all', 'enacted_only')),
    add column actor text check (actor ~ '^[A-Za-z0-9._@-]{1,64}$');

-- As in a queue: lower first. Only a run that has not begun is given one.
alter table cutter_governance.run
    add column priority integer not null default 100 check (priority between 0 and 9999);

create function cutter_governance.fn_run_prioritise(p_run_id text, p_priority integer) returns void
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
    update cutter_governance.run set priority = p_priority
    where run_id = p_run_id and state = 'pending' and ended_at is null and batch_id is null
$$;

-- The same as before, with the queue's scope and actor.
create or replace function cutter_governance.fn_batch_register(p_batch jsonb, p_items jsonb) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
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

-- The batch and its items (fn_batch_view), and of each item what its way on depends on. `wrote`: leg A is sealed, so that
-- drafts may stand. `stopped_by`: who set the latch that holds it; `batch` when its own batch did. `corrected`: a version
-- was registered after its run began. `open_run`: the run of another batch or person that holds the document up.
-- `failed_run`: the newest failed run of a document that was kept out because of it, with that run's batch.
create function cutter_governance.fn_batch_seen(p_batch_id text) returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
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
    from (select cutter_governance.fn_batch_view(p_batch_id) as view) v
    where v.view is not null
$$;

-- One document about an item that waits for a person, and its place in a queue; the same state again adds nothing. Without
-- a body the document is one that the run itself has written.
create or replace function cutter_governance.fn_queue_enter(
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
    if p_body is not null then
        insert into cutter_governance.outbox (batch_id, kind, subject, kb_id, body)
        values (p_batch_id, 'queue_entry', p_document_id, p_kb_id, p_body);
    end if;
    perform cutter_governance.fn_audit_append(p_batch_id, p_batch_id, 'queue_entered', jsonb_build_object(
        'document_id', p_document_id, 'queue', p_queue, 'state', p_state, 'code', left(p_code, 100), 'kb_id', p_kb_id));
    return true;
end
$$;

-- A batch whose document has written about its stop looks at it at once.
create function cutter_governance.fn_stop_route_notify() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform pg_notify('cutter_batch', r.batch_id) from cutter_governance.run r
    where r.run_id = new.run_id and r.batch_id is not null;
    return null;
end
$$;
create trigger trg_stop_route_notify after insert on cutter_governance.outbox
    for each row when (new.kind = 'stop_route') execute function cutter_governance.fn_stop_route_notify();
create index outbox_of_run on cutter_governance.outbox (run_id, kind, id) where run_id is not null;
create index outbox_of_batch on cutter_governance.outbox (batch_id, kind, id) where batch_id is not null;

-- The run that a document's name stands for: the open one; else the newest, when it failed; else the one that made the
-- law, for what was skipped, rehearsed or voided afterwards has nothing to show of it; else the newest.
create function cutter_governance.fn_run_of_document(p_document_id text) returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select coalesce(case when n.ended_at is not null and n.state not like 'failed\_%' then (
        select r.run_id from cutter_governance.run r
        join cutter_governance.gate_receipt g on g.run_id = r.run_id
        where r.document_id = p_document_id and g.gate = 'IG_lifecycle_enact_execute' and g.sealed_at is not null
        order by g.sealed_at desc limit 1) end, n.run_id)
    from cutter_governance.run n where n.document_id = p_document_id
    order by n.ended_at is null desc, n.created_at desc, n.run_id desc limit 1
$$;
