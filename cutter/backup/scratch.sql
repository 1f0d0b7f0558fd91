-- name: announce
-- Shows the deadline of this transaction to the checks that wait for it.
SELECT set_config('application_name',
                  'cutter backup until ' || ceil(extract(epoch FROM clock_timestamp()) + %(seconds)s::numeric), true)

-- name: try_lock
-- Returns whether this check got the lock. The lock ends with the transaction, so a killed check holds no lock.
SELECT pg_try_advisory_xact_lock(%(key)s)

-- name: end_overdue
-- Ends each holder of the lock that is past its own deadline. No timeout of the server ends a COPY that waits for a stopped
-- client (measured: PostgreSQL checks transaction_timeout and statement_timeout only at the next byte).
SELECT pg_terminate_backend(l.pid)
  FROM pg_catalog.pg_locks l JOIN pg_catalog.pg_stat_activity a ON a.pid = l.pid
 WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 AND a.datname = current_database()
   AND (l.classid::bigint << 32 | l.objid::bigint) = %(key)s
   AND substring(a.application_name FROM '^cutter backup until (\d+)$')::bigint
       < extract(epoch FROM clock_timestamp())

-- name: owned
-- Returns whether the current role owns this database.
SELECT pg_get_userbyid(datdba) = current_user FROM pg_catalog.pg_database WHERE datname = current_database()

-- name: schemas
-- Returns the names of the schemas that are not PostgreSQL's own.
SELECT nspname
  FROM pg_catalog.pg_namespace
 WHERE nspname <> 'information_schema' AND nspname NOT LIKE 'pg\_%'

-- name: tables
-- Returns the names of all tables and views that are not PostgreSQL's own.
SELECT n.nspname || '.' || c.relname
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relkind IN ('r', 'p', 'f', 'm', 'v') AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\_%'
 ORDER BY 1

-- name: constraints
-- Returns the constraints of these kinds with their tables, those of foreign keys last.
SELECT n.nspname || '.' || c.relname AS table, k.conname AS name
  FROM pg_catalog.pg_constraint k
  JOIN pg_catalog.pg_class c ON c.oid = k.conrelid
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE k.contype::text = ANY (%(kinds)s) AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\_%%'
 ORDER BY k.contype <> 'f', k.conname

-- name: kept
-- Returns true if an earlier check left all these tables, made from the same statements, and nothing is attached to any of
-- them.
SELECT count(*) = %(count)s AND coalesce(obj_description(to_regnamespace(%(schema)s), 'pg_namespace') = %(mark)s, false)
  FROM unnest(%(tables)s::text[]) AS named (name)
  JOIN pg_catalog.pg_class c ON c.oid = to_regclass(named.name)
 WHERE c.relkind = 'r' AND NOT (c.relhasrules OR c.relhastriggers OR c.relrowsecurity)
   AND NOT EXISTS (SELECT FROM pg_catalog.pg_index i WHERE i.indrelid = c.oid)

-- name: load
-- Loads rows into one table from the client.
COPY {table} ({columns}) FROM STDIN

-- name: continue_identity
-- Sets the sequence of an identity column to continue after the largest value of its column.
SELECT pg_catalog.setval(pg_get_serial_sequence({name}, {column})::regclass, coalesce(max({identifier}), 0) + 1, false)
  FROM {table}

-- name: identity_columns
-- Returns the identity columns of one table.
SELECT a.attname
  FROM pg_catalog.pg_attribute a
 WHERE a.attrelid = to_regclass(%(table)s) AND a.attidentity <> ''
