-- name: ledger_migrations
-- Returns every migration that was applied: number, name, sha256.
select number, name, sha256 from cutter_ledger.migration order by number

-- name: ledger_migration_record
-- Records that a migration was applied.
insert into cutter_ledger.migration (number, name, sha256) values (%(number)s, %(name)s, %(sha256)s)

-- name: ledger_definitions
-- Returns every function and trigger set that was applied: kind, name, sha256 of its file.
select kind, name, sha256 from cutter_ledger.definition where kind <> 'grants'

-- name: ledger_grants
-- Returns whether the declared grants were applied in this form.
select exists (select from cutter_ledger.definition where kind = 'grants' and sha256 = %(sha256)s)

-- name: ledger_record
-- Records that a definition's file was applied in this form.
insert into cutter_ledger.definition (kind, name, sha256) values (%(kind)s, %(name)s, %(sha256)s)
on conflict (kind, name) do update set sha256 = excluded.sha256, applied_at = clock_timestamp()

-- name: ledger_forget
-- Forgets a definition whose file is gone.
delete from cutter_ledger.definition where kind = %(kind)s and name = %(name)s

-- name: ledger_set_replaced_at
-- Returns when this set of definitions was replaced by another one; no row if it is the present one or was never here.
select min(n.applied_at) from cutter_ledger.definition_set s
join cutter_ledger.definition_set n on n.seq > s.seq
where s.sha256 = %(sha256)s
having count(*) > 0

-- name: ledger_set_record
-- Records the set of definitions that the database has now.
insert into cutter_ledger.definition_set (sha256) values (%(sha256)s) on conflict do nothing

-- name: functions_present
-- Returns the qualified name of every function and view in the product's schemas.
select n.nspname || '.' || p.proname as name
from pg_proc p join pg_namespace n on n.oid = p.pronamespace
where n.nspname in ('public', 'cutter_governance', 'api')
union all
select n.nspname || '.' || c.relname
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where c.relkind = 'v' and n.nspname = 'api'

-- name: function_signatures
-- Returns each signature under which a function exists, by its qualified name.
select format('%%I.%%I(%%s)', n.nspname, p.proname, pg_get_function_identity_arguments(p.oid))
from pg_proc p join pg_namespace n on n.oid = p.pronamespace
where n.nspname || '.' || p.proname = %(name)s order by p.oid

-- name: function_callers
-- Returns the qualified names of the functions whose parsed body calls this one; quoted bodies are not tracked.
select distinct n.nspname || '.' || p.proname
from pg_proc called
join pg_namespace c on c.oid = called.pronamespace
join pg_depend d on d.refclassid = 'pg_proc'::regclass and d.refobjid = called.oid and d.classid = 'pg_proc'::regclass
join pg_proc p on p.oid = d.objid and p.oid <> called.oid
join pg_namespace n on n.oid = p.pronamespace
where c.nspname || '.' || called.proname = %(name)s order by 1

-- name: view_readers
-- Returns the qualified names of the views that read a view, directly or by another one.
with recursive reader (oid) as (
    select r.ev_class from pg_depend d
    join pg_rewrite r on r.oid = d.objid and d.classid = 'pg_rewrite'::regclass
    where d.refobjid = to_regclass(%(name)s) and r.ev_class <> d.refobjid
    union
    select r.ev_class from reader
    join pg_depend d on d.refobjid = reader.oid
    join pg_rewrite r on r.oid = d.objid and d.classid = 'pg_rewrite'::regclass
    where r.ev_class <> reader.oid)
select n.nspname || '.' || c.relname
from reader join pg_class c on c.oid = reader.oid join pg_namespace n on n.oid = c.relnamespace order by 1

-- name: triggers_of_table
-- Returns the name of every trigger that somebody made on a table; none if there is no such table.
select tgname from pg_trigger where tgrelid = to_regclass(%(table)s) and not tgisinternal order by tgname

-- name: baseline_is_recorded
-- Returns whether a drift baseline of this schema version is recorded.
select exists (select from cutter_governance.schema_baseline where schema_version = %(version)s)

-- name: baseline_record
-- Records the definitions of this moment as the drift baseline of a schema version.
select cutter_governance.fn_baseline_record(%(version)s)

-- name: roles_missing
-- Returns those of these roles that the server lacks.
select name from unnest(%(roles)s::text[]) as name
where not exists (select from pg_roles where rolname = name) order by name

-- name: search_is_here
-- Returns whether the database has the index of the search.
select to_regprocedure('cutter_governance.fn_search_fill()') is not null

-- name: schema_version
-- Returns the number of migrations of the newest baseline.
select schema_version from cutter_governance.schema_baseline order by id desc limit 1
