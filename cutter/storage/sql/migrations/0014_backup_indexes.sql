-- Indexes of backups.

-- A scrub decrypts an artifact once and verifies every document that it holds, so it must find these documents.
create index backup_coverage_artifact on cutter_governance.backup_coverage (artifact) where artifact is not null;

-- Backups of one second are listed in the order in which they were recorded.
drop index cutter_governance.action_receipt_backups;
create index action_receipt_backups
    on cutter_governance.action_receipt ((response_metadata ->> 'taken_utc') desc nulls last, at desc, target)
    where connector = 'backup' and operation = 'take';
