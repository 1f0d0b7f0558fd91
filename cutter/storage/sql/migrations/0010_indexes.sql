-- Indexes for what grows with every run, so that each statement reads only rows of its own run, document or batch.
-- tests/integration/storage/test_grown_database.py removes each of them and sees its statement scan the table.

create index approval_verdict_of_run on cutter_governance.approval_verdict (run_id, id);
create index approval_verdict_of_document on cutter_governance.approval_verdict (approval_sha256)
    where approval_sha256 is not null;
create index approval_consumption_of_request on cutter_governance.approval_consumption (request_id);
create index approval_request_document on cutter_governance.approval_request (kb_id) where kb_id is not null;
create index order_consumption_of_run on cutter_governance.order_consumption (run_id, decision);
create index drift_acknowledgement_of_run on cutter_governance.drift_acknowledgement (run_id);
create index message_refusal_of_run on cutter_governance.message_refusal (run_id, id);
create index decision_backlog_entry_of_run on cutter_governance.decision_backlog_entry (run_id);

create index action_receipt_target on cutter_governance.action_receipt (connector, target);
create index action_receipt_payload on cutter_governance.action_receipt (connector, payload_sha256);
create index action_receipt_backups on cutter_governance.action_receipt ((response_metadata ->> 'taken_utc') desc nulls last, target)
    where connector = 'backup' and operation = 'take';
create index gate_receipt_backup on cutter_governance.gate_receipt ((result -> 'pins' ->> 'backup_artifact'))
    where gate = 'IG_backup' and sealed_at is not null;
create index outbox_content on cutter_governance.outbox (sha256) where sha256 is not null;

-- Up to when a channel has put in line everything of these kinds, so that a pass reads only what came after it.
alter table cutter_governance.notification_channel
    add column caught_up_at timestamptz,
    add column kinds text[] not null default '{}';

create index batch_newest on cutter_governance.batch (created_at);
create index batch_open on cutter_governance.batch (created_at) where ended_at is null;
create index batch_queue_of_item on cutter_governance.batch_queue (batch_id, document_id);
create index run_newest on cutter_governance.run (created_at, run_id);
