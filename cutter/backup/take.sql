-- name: export_snapshot
-- Exports the snapshot of this transaction and returns its start, rounded down to the second, so that the age of a backup is
-- never too small.
SELECT pg_export_snapshot() AS snapshot,
       to_char(transaction_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS taken_utc

-- name: owned_sequences
-- Returns the names of the tables' sequences as patterns for pg_dump. They are quoted, because pg_dump folds the case and
-- expands the wildcards of others.
SELECT DISTINCT format('"%%s"."%%s"', n.nspname, s.relname)
  FROM pg_catalog.pg_depend d
  JOIN pg_catalog.pg_class s ON s.oid = d.objid AND s.relkind = 'S'
  JOIN pg_catalog.pg_namespace n ON n.oid = s.relnamespace
 WHERE d.deptype IN ('a', 'i') AND d.refobjid = ANY (%(tables)s::text[]::regclass[]::oid[])
