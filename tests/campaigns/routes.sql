-- Routes to a changed row. {table} is a protected table, {column} one of its plain columns, {key} its primary key's first
-- column; {unit}, {version} an enacted unit and its version, {run} the run.

-- route: update
update {table} set {column} = {column}

-- route: update one row
update {table} set {column} = {column} where ctid = '(0,1)'

-- route: delete
delete from {table}

-- route: truncate
truncate {table}

-- route: truncate with everything that refers to it
truncate {table} cascade

-- route: merge and update
merge into {table} t using (select 1 as one) s on true when matched then update set {column} = t.{column}

-- route: merge and delete
merge into {table} t using (select 1 as one) s on true when matched then delete

-- route: update in a common table expression
with gone as (update {table} set {column} = {column} returning 1) select count(*) from gone

-- route: delete in a common table expression
with gone as (delete from {table} returning 1) select count(*) from gone

-- route: insert on conflict
insert into {table} select * from {table} on conflict ({conflict}) do update set {column} = excluded.{column}

-- route: a row beside it
insert into {table} select * from {table}

-- route: copy in
copy {table} from program 'true'

-- route: in replica mode
set session_replication_role = replica; delete from {table}

-- route: update in replica mode
set session_replication_role = replica; update {table} set {column} = {column}

-- route: with the gateway's marker set
set app.canonical_writer = 'fn_iu_enact'; update {table} set {column} = {column}

-- route: in a DO block
do $$ begin delete from {table}; end $$

-- route: through a prepared statement
prepare p as delete from {table}; execute p

-- route: through a cursor
declare c cursor for select * from {table} for update; fetch c; delete from {table} where current of c

-- route: as the owner
set role cutter_owner; delete from {table}

-- route: as the superuser
set session authorization postgres; delete from {table}

-- route: triggers off
alter table {table} disable trigger all; delete from {table}

-- route: a column dropped
alter table {table} drop column {column}

-- route: a column retyped
alter table {table} alter column {column} type text using ''

-- route: the table dropped
drop table {table} cascade

-- route: the schema dropped
drop schema public cascade; drop schema cutter_governance cascade

-- route: the table renamed
alter table {table} rename to other

-- route: the table moved
alter table {table} set schema public

-- route: the table taken
alter table {table} owner to current_user

-- route: what one owns reassigned
reassign owned by cutter_owner to current_user

-- route: a rule
create rule r as on insert to {table} do also delete from {table}; insert into {table} select * from {table}

-- route: a trigger of one's own
create trigger t before insert on {table} for each row execute function pg_catalog.suppress_redundant_updates_trigger()

-- route: a guard replaced
create or replace function cutter_governance.fn_append_only() returns trigger language plpgsql as 'begin return old; end';
delete from {table}

-- route: a guard dropped
drop function cutter_governance.fn_append_only() cascade; delete from {table}

-- route: a grant to oneself
grant all on {table} to current_user; delete from {table}

-- route: the catalogue itself
set allow_system_table_mods = on; delete from pg_catalog.pg_trigger; delete from {table}

-- route: the writing function again
select public.fn_iu_create((select canonical_address from public.information_unit where id = '{unit}'), 'other', 'other',
'x', 'law_unit', 'article', 'legislature', 'law')

-- route: the enacting function again
select public.fn_iu_enact((select canonical_address from public.information_unit where id = '{unit}'), 'x',
(select review_decision_id from cutter_governance.review_decision where type = 'lifecycle_enactment' and run_id = '{run}'),
'retired', (select change_set_id from cutter_governance.cut_change_set where run_id = '{run}'))

-- route: a revision again
select public.fn_iu_revise('{run}', 'repeal', 1, (select canonical_address from public.information_unit where id = '{unit}'),
'x')

-- route: an end without a successor
update public.unit_version set lifecycle_status = 'retired', effective_until = effective_from, ended_by = enacted_by,
ended_at = now() where lifecycle_status = 'enacted'

-- route: an end taken back
update public.unit_version set lifecycle_status = 'enacted', effective_until = null, ended_by = null, ended_at = null
where lifecycle_status in ('superseded', 'retired')

-- route: a later end
update public.unit_version set effective_until = effective_until + 1 where effective_until is not null

-- route: an enactment put off
update public.enactment set effective_from = effective_from + 1

-- route: an edit of enacted law
insert into public.iu_edit_draft values (gen_random_uuid(), '{unit}', 'other', 'x'); select
public.fn_iu_apply_edit_draft(id, 'x') from public.iu_edit_draft

-- route: an edit draft that lies there
select public.fn_iu_apply_edit_draft('00000000-0000-4000-8000-0000000000ed', 'x')

-- route: withdrawing
select public.fn_iu_withdraw_drafts('{run}')

-- route: a void
select cutter_governance.fn_void_open('{run}', (select max(approval_sha256) from cutter_governance.approval_verdict));
select public.fn_iu_withdraw_drafts('{run}'); select cutter_governance.fn_void_close('{run}', 'voided_x')

-- route: a gate opened again
select cutter_governance.fn_gate_open('{run}', 'IG_cut_leg_a_execute', 1, 'x')

-- route: a refused gate closed
select cutter_governance.fn_gate_open('{run}', 'IG_closeout', 1, 'x'); select cutter_governance.fn_gate_close('{run}',
'IG_closeout', 1, '{"pins": {}}')

-- route: a gate closed again
select cutter_governance.fn_gate_close('{run}', 'IG_lifecycle_enact_execute', 1, '{"pins": {}}')

-- route: a refusal afterwards
select cutter_governance.fn_gate_refuse('{run}', 'IG_lifecycle_enact_execute', 1, 'failed', 'x', null, 'failed_x')

-- route: an event on the chain
select cutter_governance.fn_audit('{run}', 'x', '{}')

-- route: a move of the run
select cutter_governance.fn_run_move('{run}', 'pending', 'x')

-- route: another policy
select cutter_governance.fn_policy_install(2, gen_random_uuid(), 'x', '{}', '{}', 'x')
