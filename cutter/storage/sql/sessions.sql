-- The superuser's part in database cutter, by every bootstrap.
-- A role changes its own timeouts as it likes, so its sessions are also judged from outside: by functions of the
-- superuser, which alone sees and ends the sessions of every role. They take no argument.
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
-- for three times the product's own timeout. A backup idles in its transaction while pg_dump reads its snapshot.
create or replace function cutter_guard.fn_end_overdue() returns integer
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
    select count(*) filter (where pg_terminate_backend(s.pid))::integer
    from pg_stat_activity s
    join (values ('directus', 60, 30), ('cutter_api', 60, 30), ('cutter_desk', 60, 30), ('cutter_read', 660, 30), ('cutter_backup', 660, 660),
        ('cutter_exec', 960, 30), ('cutter_verify', 360, 30), ('cutter_operator', 960, 30)) as most (role, transaction_seconds, idle_seconds)
        on most.role = s.usename
    where s.datname = current_database() and s.pid <> pg_backend_pid()
        and (s.xact_start < clock_timestamp() - make_interval(secs => most.transaction_seconds)
            or s.state like 'idle in transaction%' and s.state_change < clock_timestamp()
                - make_interval(secs => most.idle_seconds))
$$;
revoke all on all functions in schema cutter_guard from public;
grant execute on all functions in schema cutter_guard to cutter_owner;
