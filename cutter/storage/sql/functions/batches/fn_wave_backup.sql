-- Returns the pins of the newest backup that another item of the batch has taken, restored and sealed within the
-- given time. None while a segment is damaged, and none that may need a segment which people gave up.
create or replace function cutter_governance.fn_wave_backup(p_run_id text, p_batch_id text, p_seconds double precision) returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
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
