-- Returns the pins of the newest backup that another item of the batch has taken, restored and sealed within the
-- given time.
create or replace function cutter_governance.fn_wave_backup(p_run_id text, p_batch_id text, p_seconds double precision) returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    -- From the runs of the batch: if the planner walked all receipts from the newest, it would read everything ever done
    -- for a batch without a backup. A run that took one so recently has also changed its state since.
    with taken as materialized (
        select a.id, g.result -> 'pins' as pins from cutter_governance.run r
        join cutter_governance.action_receipt a on a.run_id = r.run_id and a.connector = 'backup' and a.operation = 'take'
        join cutter_governance.gate_receipt g on g.run_id = r.run_id and g.gate = 'IG_backup' and g.sealed_at is not null
            and g.result -> 'pins' ->> 'backup_artifact' = a.target
            and g.result -> 'pins' ->> 'backup_sha256' = a.response_metadata ->> 'sha256'
        where r.batch_id = p_batch_id and r.state_at > clock_timestamp() - make_interval(secs => p_seconds)
            and a.at > clock_timestamp() - make_interval(secs => p_seconds)
            and exists (select from cutter_governance.run mine where mine.run_id = p_run_id and mine.batch_id = p_batch_id))
    select pins from taken order by id desc limit 1
$$;
