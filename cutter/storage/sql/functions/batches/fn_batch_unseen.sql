-- Returns the batch of a run if it may have ended or paused before the run's newest state. A halted batch that has
-- ended needs to see only how its documents wait or end.
create or replace function cutter_governance.fn_batch_unseen(p_run_id text) returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
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
