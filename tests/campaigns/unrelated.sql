-- Statements that do not concern the run under test; {n} is another number each time.

insert into cutter_governance.worker_heartbeat (worker_id, role, build_id, queues, beat_seconds) values ('w{n}', 'exec',
'b', '[]', 10);

insert into cutter_governance.message_refusal (run_id, message, code, reason) select run_id, 'x', 'x', 'x' from
cutter_governance.run;

select cutter_governance.fn_source_register(jsonb_build_object('document_id', 'ICX-N{n}', 'docprefix', 'ICX-N{n}'),
'text {n}', jsonb_build_object('profile_id', 'p', 'profile_sha256', encode(sha256('p'), 'hex'), 'profile_body', 'p',
'options', '{}'::jsonb), 'x');

select cutter_governance.fn_run_register('ictr-20261121T000000Z-' || gen_random_uuid(), 'ICX-N{n}', 'live', 'x');

analyze public.information_unit;

vacuum public.unit_version;

vacuum pg_catalog.pg_proc;

analyze cutter_governance.gate_receipt;

create schema if not exists elsewhere;

create table elsewhere.t{n} (a integer);

create role guest_{n};

drop role if exists guest_{n};

select cutter_governance.fn_stop_set((select max(run_id) from cutter_governance.run where docprefix is null),
'stop', 'x', 'x');

alter role directus set application_name = 'x{n}';

alter role directus set search_path = 'x{n}';

alter role cutter_verify set default_transaction_read_only = off;

alter role cutter_exec set application_name = 'x{n}';

alter role cutter_exec set work_mem = '64MB';
