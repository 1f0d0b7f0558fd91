-- Drops the indexes that no statement needs, because another index finds the same rows as quickly. Each one costs a
-- write for every row. tests/integration/storage/test_grown_database.py proves of every other index that it is needed.

-- The runs of the last minute are found by run_newest, and the open ones of a tenant by run_open_of_tenant.
drop index cutter_governance.run_of_tenant;
-- The documents of a batch are found by outbox_of_batch, and all that wait by outbox_waiting.
drop index cutter_governance.outbox_waiting_of_batch;
-- The versions of one document are few, and the unique index on document and number finds them.
drop index public.source_version_of_text;
