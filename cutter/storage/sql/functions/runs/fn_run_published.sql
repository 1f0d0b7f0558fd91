-- Returns the run's sidecar, or, while it moves, the run with its waiting documents, and the batch that has not seen.
create or replace function cutter_governance.fn_run_published(p_run_id text, p_kb_id text default null) returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
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
