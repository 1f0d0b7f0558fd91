-- Returns in one row what decides the next step of a run. `wrote`: leg A is sealed. `enacted`: the enactment is sealed.
-- `law_by`: the run that enacted the law which a skipped or refused run met. `corrected`: a version was registered after a
-- failed run began. `approved`: the open request has a rejection or every signature that it needs, and its gate has not
-- refused them since. `exec_worker`: a worker of the role exec is alive.
create or replace function cutter_governance.fn_step_facts(p_run_id text) returns table (
    run_id text, document_id text, state text, outcome text, latched boolean, wrote boolean, enacted boolean,
    law_by text, corrected boolean, approved boolean, exec_worker boolean)
language sql stable security definer rows 1
set search_path = pg_catalog, pg_temp
as $$
    select r.run_id, r.document_id, r.state, r.outcome, coalesce(
        (select l.stopped from cutter_governance.stop_latch l where l.run_id = r.run_id), false), exists (
        select from cutter_governance.gate_receipt g
        where g.run_id = r.run_id and g.gate = 'IG_cut_leg_a_execute' and g.sealed_at is not null), exists (
        select from cutter_governance.gate_receipt g
        where g.run_id = r.run_id and g.gate = 'IG_lifecycle_enact_execute' and g.sealed_at is not null),
        case when r.outcome = 'skipped' or r.state = 'failed_source_pin' then (
            select e.run_id from cutter_governance.run e
            join cutter_governance.gate_receipt g on g.run_id = e.run_id
            where e.document_id = r.document_id and g.gate = 'IG_lifecycle_enact_execute' and g.sealed_at is not null
            order by g.sealed_at desc limit 1) end,
        r.state like 'failed\_%' and exists (
            select from public.source_document d
            join public.source_version s on s.source_document_ref = d.source_document_ref
            where d.doc_code = r.document_id and s.registered_at > r.created_at),
        r.ended_at is null and exists (
            select from cutter_governance.approval_request q
            where q.run_id = r.run_id and q.status = 'requested' and q.kb_id is not null and (exists (
                select from cutter_governance.approval_verdict v
                where v.run_id = q.run_id and v.gate = q.gate and v.accepted and v.decision = 'reject'
                    and v.recorded_at >= q.requested_at)
                or cutter_governance.fn_people_signed(q) >= cutter_governance.fn_approvals_needed(q.gate, q.tier))),
        exists (
            select from cutter_governance.worker_heartbeat w
            where w.role = 'exec' and w.state <> 'shutdown'
                and w.seen_at >= clock_timestamp() - 3 * w.beat_seconds * interval '1 second')
    from cutter_governance.run r where r.run_id = p_run_id
$$;
