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
-- Every row as its exact text, hashed, ordered by that hash: neither physical order nor collation nor the order in
-- which columns were added counts. bytea because 64 hex characters a row would reach the 1 GB limit at half the rows.
SELECT count(*) AS number,
       encode(sha256(coalesce(string_agg(one.digest, ''::bytea ORDER BY one.digest), ''::bytea)), 'hex') AS digest
  FROM (SELECT sha256(convert_to(ROW({columns})::text, 'UTF8')) AS digest FROM ONLY {table}) AS one
