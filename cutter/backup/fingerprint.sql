-- name: setting
SELECT current_setting(%(name)s)

-- name: set_setting
SELECT set_config(%(name)s, %(value)s, true)

-- name: columns
SELECT attname AS name, format_type(atttypid, atttypmod) AS kind
  FROM pg_catalog.pg_attribute
 WHERE attrelid = to_regclass(%(table)s) AND attnum > 0 AND NOT attisdropped
 ORDER BY attname COLLATE "C"

-- name: rows
-- Hashes the exact text of each row and orders the hashes. So the physical order of rows, the collation and the order of
-- added columns do not matter. The hashes are bytea: as hex text they would reach the 1 GB limit at half the rows.
SELECT count(*) AS number,
       encode(sha256(coalesce(string_agg(one.digest, ''::bytea ORDER BY one.digest), ''::bytea)), 'hex') AS digest
  FROM (SELECT sha256(convert_to(ROW({columns})::text, 'UTF8')) AS digest FROM ONLY {table}) AS one
