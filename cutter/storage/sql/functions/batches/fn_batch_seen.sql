-- Returns fn_batch_view with what decides how each item continues, with the facts of `fn_step_facts` about its run.
-- `stopped_by`: who set the latch; `batch` for its own batch. `open_run`: the run of another batch or person that keeps
-- the document busy. `failed_run`: the failed run that kept a document out, with its batch. With documents, only theirs.
create or replace function cutter_governance.fn_batch_seen(p_batch_id text, p_documents text[] default null) returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    -- materialized, because PostgreSQL would otherwise make the view again for each item
    with v as materialized (select cutter_governance.fn_batch_view(p_batch_id, p_documents) as view)
    select v.view || jsonb_build_object('items', (
        select coalesce(jsonb_agg(one || jsonb_build_object(
            'scope', i.scope, 'actor', coalesce(i.actor, v.view -> 'batch' ->> 'default_actor'),
            'wrote', exists (
                select from cutter_governance.gate_receipt g
                where g.run_id = one ->> 'run_id' and g.gate = 'IG_cut_leg_a_execute' and g.sealed_at is not null),
            'law_by', case when one ->> 'outcome' = 'skipped' or one ->> 'state' = 'failed_source_pin' then (
                select e.run_id from cutter_governance.run e
                join cutter_governance.gate_receipt g on g.run_id = e.run_id
                where e.document_id = i.document_id and g.gate = 'IG_lifecycle_enact_execute' and g.sealed_at is not null
                order by g.sealed_at desc limit 1) end,
            'exec_worker', (select exists (select from cutter_governance.worker_heartbeat w where w.role = 'exec'
                and w.state <> 'shutdown' and w.seen_at >= clock_timestamp() - 3 * w.beat_seconds * interval '1 second')),
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
