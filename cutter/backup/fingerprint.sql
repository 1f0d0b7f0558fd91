-- name: pin
-- Sets settings for the rest of the transaction, and returns what each of them was.
WITH wanted AS MATERIALIZED (
    SELECT name, value, current_setting(name) AS before
      FROM unnest(%(names)s::text[], %(values)s::text[]) AS one (name, value))
SELECT name, before, set_config(name, value, true) AS after FROM wanted

-- name: columns
-- Returns the columns of these tables with their types, in an order that does not depend on the server.
SELECT one.name AS "table", a.attname AS name, format_type(a.atttypid, a.atttypmod) AS kind
  FROM unnest(%(tables)s::text[]) AS one (name)
  JOIN pg_catalog.pg_attribute a ON a.attrelid = to_regclass(one.name) AND a.attnum > 0 AND NOT a.attisdropped
 ORDER BY one.name COLLATE "C", a.attname COLLATE "C"

-- name: rows
-- Hashes the exact text of each row and orders the hashes. So the physical order of rows, the collation and the order of
-- added columns do not matter. The hashes are bytea: as hex text they would reach the 1 GB limit at half the rows.
SELECT count(*) AS number,
       encode(sha256(coalesce(string_agg(one.digest, ''::bytea ORDER BY one.digest), ''::bytea)), 'hex') AS digest
  FROM (SELECT sha256(convert_to(ROW({columns})::text, 'UTF8')) AS digest FROM ONLY {table}) AS one
