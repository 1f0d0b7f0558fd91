-- name: tables
-- Returns the tables of cutter's schemas.
select n.nspname || '.' || c.relname from pg_catalog.pg_class c
join pg_catalog.pg_namespace n on n.oid = c.relnamespace
where c.relkind = 'r' and n.nspname in ('public', 'cutter_governance') order by 1

-- name: columns
-- Returns the columns that hold a value of their own. PostgreSQL computes the others.
select %(table)s as "table", attname as name, format_type(atttypid, atttypmod) as kind from pg_catalog.pg_attribute
where attrelid = to_regclass(%(table)s) and attnum > 0 and not attisdropped and attgenerated = '' order by attname collate "C"

-- name: sequences
-- Returns the last value of each sequence that was used.
select schemaname || '.' || sequencename as name, last_value as value from pg_catalog.pg_sequences
where schemaname in ('public', 'cutter_governance') and last_value is not null order by 1

-- name: continue_sequence
-- Sets the last value of a sequence.
select pg_catalog.setval(%(name)s::regclass, %(value)s)

-- name: snapshot
-- Exports the snapshot of this transaction.
select pg_catalog.pg_export_snapshot()

-- name: digest
-- Returns the number of rows of one table, and the digest of all of them, as in fingerprint.sql.
select count(*) as rows, encode(sha256(coalesce(string_agg(one.digest, ''::bytea order by one.digest), ''::bytea)), 'hex')
    as digest
from (select sha256(convert_to(row({columns})::text, 'UTF8')) as digest from only {table}) as one

-- name: count
-- Counts the rows of one table.
select count(*) from {table}

-- name: always_firing
-- Returns the triggers that also fire in replica mode.
select n.nspname || '.' || c.relname as table, t.tgname as name from pg_catalog.pg_trigger t
join pg_catalog.pg_class c on c.oid = t.tgrelid join pg_catalog.pg_namespace n on n.oid = c.relnamespace
where not t.tgisinternal and t.tgenabled = 'A' and n.nspname in ('public', 'cutter_governance') order by 1, 2

-- name: replica_mode
-- Sets this session to replica mode, in which ordinary triggers do not fire.
set session_replication_role = replica

-- name: superuser
-- Returns whether the current role is a superuser.
select rolsuper from pg_catalog.pg_roles where rolname = current_user

-- name: owner
-- Returns the owner of this database.
select pg_get_userbyid(datdba) from pg_catalog.pg_database where datname = current_database()
