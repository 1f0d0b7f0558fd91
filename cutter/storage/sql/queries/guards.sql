-- name: guarded_functions
-- Returns the functions that every role may call in a fresh database and that could keep other roles from their work,
-- and whether every role still may.
select p.oid::regprocedure::text as function, exists (
    select from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a where a.grantee = 0) as open_to_all
from pg_catalog.pg_proc p
where p.pronamespace = 'pg_catalog'::regnamespace
    and (p.proname ~ '^(pg_(try_)?advisory_|(be_)?lo_)' or p.proname in ('loread', 'lowrite', 'pg_notify',
        'pg_logical_emit_message', 'pg_export_snapshot', 'pg_cancel_backend', 'pg_terminate_backend'))
order by 1

-- name: connections_there
-- Returns how many connections the server has for roles that are not superusers.
select current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer
    - current_setting('reserved_connections')::integer

-- name: roles_without_limit
-- Returns those of the named roles that have no connection limit.
select rolname from pg_catalog.pg_roles where rolname = any (%(roles)s) and rolconnlimit < 0 order by 1

-- name: sessions_are_bounded
-- Returns whether this database ends sessions that exceed their limits.
select exists (select from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace
               where n.nspname = 'cutter_guard' and p.proname = 'fn_end_overdue')

-- name: notification_queue
-- Returns how full the server's queue of notifications is, from 0 to 1.
select pg_notification_queue_usage()

-- name: lanes
-- Returns who holds each lane and which runs wait for it.
select cutter_governance.fn_lanes()
