-- The superuser's part in database cutter, by every bootstrap.
-- A role changes its own timeouts as it likes, so its sessions are also judged from outside, by functions of the
-- superuser. The superuser alone sees and ends the sessions of every role. The functions take no argument.
-- The superuser alone also sees the archive of the write-ahead log, and marks a point in this log.
create schema if not exists cutter_guard;
revoke all on schema cutter_guard from public;
grant usage on schema cutter_guard to cutter_owner;

-- The open sessions of the roles in this database.
create or replace function cutter_guard.fn_sessions() returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select coalesce(jsonb_agg(jsonb_build_object('pid', pid, 'role', usename, 'name', application_name, 'since',
        to_char(xact_start at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))), '[]')
    from pg_stat_activity where datname = current_database()
$$;

-- Ends what no session of the product does: a transaction longer than the longest gate of its role, or one that idles
-- for three times the product's own timeout.
create or replace function cutter_guard.fn_end_overdue() returns integer
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
    select count(*) filter (where pg_terminate_backend(s.pid))::integer
    from pg_stat_activity s
    join (values ('directus', 60, 30), ('cutter_api', 60, 30), ('cutter_desk', 60, 30), ('cutter_read', 660, 30), ('cutter_backup', 660, 30),
        ('cutter_exec', 960, 30), ('cutter_verify', 360, 30), ('cutter_operator', 960, 30)) as most (role, transaction_seconds, idle_seconds)
        on most.role = s.usename
    where s.datname = current_database() and s.pid <> pg_backend_pid()
        and (s.xact_start < clock_timestamp() - make_interval(secs => most.transaction_seconds)
            or s.state like 'idle in transaction%' and s.state_change < clock_timestamp()
                - make_interval(secs => most.idle_seconds))
$$;

-- How the server archives its write-ahead log. A file waits from the moment at which it is complete.
create or replace function cutter_guard.fn_archiver() returns jsonb
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
    select jsonb_build_object(
        'archives', current_setting('archive_mode') <> 'off'
            and (current_setting('archive_command') <> '' or current_setting('archive_library') <> ''),
        'fails', coalesce(a.last_failed_time > a.last_archived_time, a.last_failed_time is not null),
        'failed_wal', a.last_failed_wal,
        'archived_wal', a.last_archived_wal,
        'archived_utc', to_char(a.last_archived_time at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
        'waiting_files', w.files, 'waiting_seconds', w.seconds,
        'archive_timeout_seconds', (select s.setting::integer from pg_settings s where s.name = 'archive_timeout'))
    from pg_stat_archiver a, (
        select count(*) as files, extract(epoch from clock_timestamp() - min(f.modification))::integer as seconds
        from pg_ls_archive_statusdir() f where f.name like '%.ready') w
$$;

-- Marks a point in the write-ahead log. The caller gives only a UUID, so no role can repeat the name of an earlier
-- point, at which a recovery would then end.
create or replace function cutter_guard.fn_restore_point(p_id uuid) returns jsonb
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_name constant text := format('cutter:%s:%s', p_id, left(gen_random_uuid()::text, 8));
    v_lsn constant pg_lsn := pg_create_restore_point(v_name);
    v_file constant text := pg_walfile_name(v_lsn);
begin
    return jsonb_build_object('name', v_name, 'lsn', v_lsn, 'wal_file', v_file,
        'timeline', ('x' || left(v_file, 8))::bit(32)::integer,
        'system_identifier', (select c.system_identifier::text from pg_control_system() c),
        'created_utc', to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'));
end
$$;
revoke all on all functions in schema cutter_guard from public;
grant execute on all functions in schema cutter_guard to cutter_owner;
