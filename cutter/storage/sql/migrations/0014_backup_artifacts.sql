-- A scrub decrypts an artifact once and verifies every document that it holds, so it must find these documents.
create index backup_coverage_artifact on cutter_governance.backup_coverage (artifact) where artifact is not null;
