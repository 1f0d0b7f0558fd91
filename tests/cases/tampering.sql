-- Kinds of tampering with a governed database, as the superuser: name, the dimension that a survey must name, and the
-- guarded table whose triggers are off meanwhile. {prefix} is the run's docprefix, {run} its id.

-- kind: a body and its hash rewritten
-- dimension: row_content
-- table: public.unit_version
update public.unit_version set body = 'other', content_hash = encode(sha256(convert_to('other', 'UTF8')), 'hex')
where unit_id = (select id from public.information_unit where canonical_address = (select min(canonical_address)
from public.information_unit where canonical_address like '{prefix}/%'))

-- kind: one letter of a body
-- dimension: row_content
-- table: public.unit_version
update public.unit_version set body = body || ' ', content_hash = encode(sha256(convert_to(body || ' ', 'UTF8')),
'hex') where unit_id = (select id from public.information_unit where canonical_address = (select
min(canonical_address) from public.information_unit where canonical_address like '{prefix}/%'))

-- kind: a version enacted
-- dimension: row_content
-- table: public.unit_version
update public.unit_version set lifecycle_status = 'enacted', enacted_at = now(), effective_from = current_date where
unit_id = (select id from public.information_unit where canonical_address = (select min(canonical_address) from public.information_unit where canonical_address like
'{prefix}/%'))

-- kind: a content profile
-- dimension: row_content
-- table: public.unit_version
update public.unit_version set content_profile = '{"x": 1}' where unit_id = (select id from public.information_unit
where canonical_address = (select min(canonical_address) from public.information_unit where canonical_address like
'{prefix}/%'))

-- kind: a version's number
-- dimension: row_content
-- table: public.unit_version
update public.unit_version set version_seq = 7 where unit_id = (select id from public.information_unit where
canonical_address = (select min(canonical_address) from public.information_unit where canonical_address like
'{prefix}/%'))

-- kind: a second version beside the anchored one
-- dimension: row_content
-- table: public.unit_version
insert into public.unit_version (id, unit_id, body, content_hash, version_seq, created_by, source_version_id,
document_order, title, unit_kind, section_type, owner_ref) select gen_random_uuid(), u.id, 'b', encode(sha256('b'), 'hex'),
2, 'x', v.source_version_id, 1, 't', 'law_unit', 'article', 'legislature' from public.information_unit u join
public.unit_version v on v.id = u.version_anchor_ref where canonical_address = (select min(canonical_address) from
public.information_unit where canonical_address like '{prefix}/%')

-- kind: a version's title
-- dimension: row_content
-- table: public.unit_version
update public.unit_version set title = 'x' where unit_id = (select id from public.information_unit where
canonical_address = (select min(canonical_address) from public.information_unit where canonical_address like
'{prefix}/%'))

-- kind: a title
-- dimension: row_content
-- table: public.information_unit
update public.information_unit set identity_profile = identity_profile || '{"title": "x"}' where canonical_address =
(select min(canonical_address) from public.information_unit where canonical_address like '{prefix}/%')

-- kind: a section type
-- dimension: row_content
-- table: public.information_unit
update public.information_unit set identity_profile = identity_profile || '{"primary_section_type_ref": "appendix"}'
where canonical_address = (select min(canonical_address) from public.information_unit where canonical_address like
'{prefix}/%')

-- kind: an owner
-- dimension: row_content
-- table: public.information_unit
update public.information_unit set owner_ref = 'government' where canonical_address = (select min(canonical_address)
from public.information_unit where canonical_address like '{prefix}/%')

-- kind: a kind
-- dimension: row_content
-- table: public.information_unit
update public.information_unit set unit_kind = 'other' where canonical_address = (select min(canonical_address) from
public.information_unit where canonical_address like '{prefix}/%')

-- kind: a conformance status
-- dimension: row_content
-- table: public.information_unit
update public.information_unit set conformance_status = 'closed' where canonical_address = (select
min(canonical_address) from public.information_unit where canonical_address like '{prefix}/%')

-- kind: a unit enacted
-- dimension: row_content
-- table: public.information_unit
update public.information_unit set lifecycle_status = 'enacted' where canonical_address = (select
min(canonical_address) from public.information_unit where canonical_address like '{prefix}/%')

-- kind: an address
-- dimension: row_content
-- table: public.information_unit
update public.information_unit set canonical_address = '{prefix}/MOVED' where canonical_address = (select
min(canonical_address) from public.information_unit where canonical_address like '{prefix}/%')

-- kind: an anchor as text
-- dimension: row_content
-- table: public.information_unit
update public.information_unit set content_anchor_ref = 'x' where canonical_address = (select min(canonical_address)
from public.information_unit where canonical_address like '{prefix}/%')

-- kind: an anchor
-- dimension: row_content
-- table: public.information_unit
update public.information_unit set version_anchor_ref = null where canonical_address = (select
min(canonical_address) from public.information_unit where canonical_address like '{prefix}/%')

-- kind: parents cut off
-- dimension: row_content
-- table: public.information_unit
update public.information_unit set parent_or_container_ref = id where canonical_address like '{prefix}/%'

-- kind: two bodies exchanged
-- dimension: row_content
-- table: public.unit_version
update public.unit_version v set unit_id = (select min(o.unit_id::text)::uuid from public.unit_version o where
o.unit_id <> v.unit_id), version_seq = 3 where unit_id = (select id from public.information_unit where
canonical_address = (select min(canonical_address) from public.information_unit where canonical_address like
'{prefix}/%'))

-- kind: a unit withdrawn
-- dimension: row_count
-- table: public.information_unit
update public.information_unit set deleted_at = now(), withdrawn_reason = 'x' where canonical_address = (select
min(canonical_address) from public.information_unit where canonical_address like '{prefix}/%')

-- kind: a unit added
-- dimension: row_count
-- table: public.information_unit
insert into public.information_unit (id, canonical_address, unit_kind, owner_ref, identity_profile, created_by,
updated_by) values (gen_random_uuid(), '{prefix}/ADDED', 'law_unit', 'legislature', '{"title": "t"}', 'x', 'x')

-- kind: a unit moved out of the document
-- dimension: row_count
-- table: public.information_unit
update public.information_unit set canonical_address = 'ICX-ELSE/X' where canonical_address = (select
min(canonical_address) from public.information_unit where canonical_address like '{prefix}/%')

-- kind: a decision added
-- dimension: review_decision
-- table: cutter_governance.review_decision
insert into cutter_governance.review_decision (review_decision_id, run_id, type, actor, created_by) values
(gen_random_uuid(), '{run}', 'lifecycle_enactment', 'x', 'x')

-- kind: a decision's actor
-- dimension: review_decision
-- table: cutter_governance.review_decision
update cutter_governance.review_decision set actor = 'x'

-- kind: a decision's verdict
-- dimension: review_decision
-- table: cutter_governance.review_decision
update cutter_governance.review_decision set verdict = 'REJECT' where verdict = 'PASS'

-- kind: a pinned digest
-- dimension: receipts
-- table: cutter_governance.gate_receipt
update cutter_governance.gate_receipt set result = jsonb_set(result, '{pins,writer_digest}', '"0"') where gate =
'IG_cutplan'

-- kind: a receipt's after-pins
-- dimension: receipts
-- table: cutter_governance.gate_receipt
update cutter_governance.gate_receipt set after_pins = after_pins || '{"row_count": 0}' where gate =
'IG_cut_leg_a_execute'

-- kind: a receipt sealed anew
-- dimension: receipts
-- table: cutter_governance.gate_receipt
update cutter_governance.gate_receipt set sealed_body = 'x', receipt_hash = encode(sha256(convert_to(prev_hash ||
'x', 'UTF8')), 'hex') where gate = 'IG_mark'

-- kind: a receipt gone
-- dimension: receipts
-- table: cutter_governance.gate_receipt
delete from cutter_governance.gate_receipt where gate = 'IG_mark'

-- kind: a receipt's payload
-- dimension: receipts
-- table: cutter_governance.gate_receipt
update cutter_governance.gate_receipt set payload_sha256 = 'x' where gate = 'IG_backup'

-- kind: the creating function's body
-- dimension: source
create or replace function public.fn_iu_create(p_canonical_address text, p_title text, p_body text, p_actor text,
p_unit_kind text default null, p_section_type text default null, p_owner_ref text default null, p_publication_type
text default null, p_parent_ref uuid default null) returns jsonb language plpgsql volatile security definer set
search_path = pg_catalog, public, pg_temp as 'begin return null; end'

-- kind: a function as invoker
-- dimension: functions
alter function public.fn_iu_create(text, text, text, text, text, text, text, text, uuid) security invoker

-- kind: a function's search_path cleared
-- dimension: functions
alter function public.fn_iu_enact(text, text, uuid, text, uuid, text, text, boolean) reset search_path

-- kind: a function's search_path widened
-- dimension: functions
alter function public.fn_iu_enact(text, text, uuid, text, uuid, text, text, boolean) set search_path = mine,
pg_catalog

-- kind: a function's owner
-- dimension: functions
alter function public.fn_iu_create(text, text, text, text, text, text, text, text, uuid) owner to postgres

-- kind: a function's volatility
-- dimension: functions
alter function public.fn_iu_create(text, text, text, text, text, text, text, text, uuid) stable

-- kind: a function strict
-- dimension: functions
alter function public.fn_iu_create(text, text, text, text, text, text, text, text, uuid) strict

-- kind: a function granted
-- dimension: functions
grant execute on function public.fn_iu_create(text, text, text, text, text, text, text, text, uuid) to public

-- kind: a function's setting
-- dimension: functions
alter function public.fn_iu_create(text, text, text, text, text, text, text, text, uuid) set work_mem = '1GB'

-- kind: an overload
-- dimension: functions
create function public.fn_iu_create(text) returns text language sql as 'select $1'

-- kind: a check that checks nothing
-- dimension: functions
create or replace function cutter_governance.fn_check_receipt() returns trigger language plpgsql security definer
set search_path = pg_catalog, pg_temp as 'begin return null; end'

-- kind: a default argument
-- dimension: functions
create or replace function cutter_governance.fn_iu_never(p boolean default true) returns boolean language sql as
'select $1'

-- kind: a function of the survey
-- dimension: functions
alter function cutter_governance.fn_digest(text) cost 7; alter function cutter_governance.fn_digest(text) volatile

-- kind: the gateway guard off
-- dimension: triggers
alter table public.information_unit disable trigger trg_aa_iu_gateway_write_guard

-- kind: the gateway guard not always
-- dimension: triggers
alter table public.information_unit enable trigger trg_aa_iu_gateway_write_guard

-- kind: immutability off
-- dimension: triggers
alter table public.unit_version disable trigger trg_uv_enacted_immut

-- kind: immutability's twin off
-- dimension: triggers
alter table public.unit_version disable trigger trg_uv_enacted_immut_always

-- kind: the check at commit gone
-- dimension: triggers
drop trigger trg_gate_receipt_at_commit on cutter_governance.gate_receipt

-- kind: the truncate guard gone
-- dimension: triggers
drop trigger trg_iu_no_truncate on public.information_unit

-- kind: a trigger more
-- dimension: triggers
create trigger x before insert on public.information_unit for each row execute function
cutter_governance.fn_append_only()

-- kind: a trigger with a condition
-- dimension: triggers
create trigger x before update on public.information_unit for each row when (old.id is distinct from new.id) execute
function cutter_governance.fn_append_only()

-- kind: a column
-- dimension: tables
alter table public.information_unit add column extra integer

-- kind: a column's default
-- dimension: tables
alter table public.unit_version alter column review_state set default 'approved'

-- kind: a column nullable
-- dimension: tables
alter table public.information_unit alter column owner_ref drop not null

-- kind: a check dropped
-- dimension: tables
alter table public.unit_version drop constraint unit_version_hash_of_body

-- kind: a unique index dropped
-- dimension: tables
drop index public.information_unit_address_key

-- kind: a foreign key dropped
-- dimension: tables
alter table public.unit_version drop constraint unit_version_unit_id_fkey

-- kind: a consumption's key dropped
-- dimension: tables
alter table cutter_governance.approval_consumption drop constraint approval_consumption_run_id_gate_slot_key

-- kind: a rule
-- dimension: tables
create rule r as on delete to public.information_unit do instead nothing

-- kind: row security
-- dimension: tables
alter table public.information_unit enable row level security

-- kind: an unlogged table
-- dimension: tables
alter table cutter_governance.worker_heartbeat set unlogged

-- kind: a child table
-- dimension: tables
create schema else_where; create table else_where.child () inherits (public.information_unit)

-- kind: a table more
-- dimension: tables
create table public.information_units ()

-- kind: a view
-- dimension: tables
create view cutter_governance.v as select * from public.information_unit

-- kind: a table's owner
-- dimension: tables
alter table public.information_unit owner to postgres

-- kind: an index
-- dimension: tables
create index on public.information_unit (owner_ref)

-- kind: an insert
-- dimension: grants
grant insert on public.information_unit to cutter_exec

-- kind: a column
-- dimension: grants
grant update (body) on public.unit_version to cutter_exec

-- kind: a select for everyone
-- dimension: grants
grant select on public.unit_version to public

-- kind: a schema
-- dimension: grants
grant create on schema public to cutter_read

-- kind: a revocation
-- dimension: grants
revoke select on public.information_unit from cutter_verify; grant select on public.information_unit to
cutter_verify with grant option

-- kind: temporary objects
-- dimension: grants
do $$ begin execute format('grant temporary on database %I to cutter_exec', current_database()); end $$

-- kind: a default for what comes
-- dimension: grants
alter default privileges for role cutter_owner in schema public grant select on tables to cutter_read

-- kind: a role's attribute
-- dimension: grants
-- undo: alter role cutter_exec nocreatedb
alter role cutter_exec createdb

-- kind: a role's setting
-- dimension: grants
-- undo: alter role cutter_exec reset search_path
alter role cutter_exec set search_path = mine

-- kind: a role's setting here
-- dimension: grants
do $$ begin execute format('alter role cutter_exec in database %I set synchronous_commit = off', current_database());
end $$

-- kind: a role's setting that switches triggers off
-- dimension: grants
-- undo: alter role cutter_exec reset session_replication_role
alter role cutter_exec set session_replication_role = replica

-- kind: the mark of a canonical writer as a setting
-- dimension: grants
do $$ begin execute format('alter role cutter_exec in database %I set app.canonical_writer = fn_iu_create',
current_database()); end $$

-- kind: a setting for everyone here
-- dimension: grants
do $$ begin execute format('alter database %I set row_security = off', current_database()); end $$

-- kind: the owner's setting
-- dimension: grants
-- undo: alter role cutter_owner reset search_path
alter role cutter_owner set search_path = mine

-- kind: the owner's powers
-- dimension: grants
-- undo: revoke cutter_owner from cutter_exec
grant cutter_owner to cutter_exec

-- kind: the owner's powers for a stranger
-- dimension: grants
-- undo: revoke cutter_owner from stranger; drop role stranger
create role stranger; grant cutter_owner to stranger

-- kind: the base of a revision taken away
-- dimension: base
-- table: public.enactment
-- at: revision
delete from public.enactment

-- kind: the text in force under a revision
-- dimension: row_content
-- table: public.unit_version
-- at: revision
update public.unit_version set body = body || ' ', content_hash = encode(sha256(convert_to(body || ' ', 'UTF8')),
'hex') where lifecycle_status = 'enacted'

-- kind: a version in force ended under a revision
-- dimension: row_content
-- table: public.unit_version
-- at: revision
update public.unit_version set lifecycle_status = 'retired', effective_until = effective_from, ended_by = enacted_by,
ended_at = now() where lifecycle_status = 'enacted' and unit_id = (select unit_id from cutter_governance.revision_row
where run_id = '{run}' and operation = 'keep' order by address limit 1)

-- kind: a draft beside the law in force
-- dimension: row_content
-- table: public.unit_version
-- at: revision
update public.unit_version set title = 'other' where lifecycle_status = 'draft' and version_seq > 1
