-- Says, for each document, which segment of the backups holds its rows and whether a row has changed since. So a backup
-- before a write dumps only the documents that changed (concepts/backup.md). A trigger of each backed-up table counts.

create table cutter_governance.backup_coverage (
    document_id text primary key,
    -- counts the transactions that changed a row of the document
    changes bigint not null constraint backup_coverage_counts check (changes > 0),
    -- the transaction that counted last, so that each one counts once; null after the document was sealed
    changed_by xid8,
    -- the count that the newest segment holds: the segment covers the document while both counts are equal
    sealed_changes bigint,
    artifact text constraint backup_coverage_artifact_form check (length(artifact) <= 2048),
    sha256 text constraint backup_coverage_sha256_form check (sha256 ~ '^[0-9a-f]{64}$'),
    fingerprint text constraint backup_coverage_fingerprint_form check (fingerprint ~ '^[0-9a-f]{64}$'),
    sealed_at timestamptz,
    verified_at timestamptz,
    -- what a later verification found wrong with the segment; while a document has it, no backup is taken
    problem text constraint backup_coverage_problem_is_said check (length(problem) between 1 and 512),
    constraint backup_coverage_seals_what_was check (sealed_changes <= changes),
    constraint backup_coverage_is_whole check (
        num_nulls(sealed_changes, artifact, sha256, fingerprint, sealed_at, verified_at) in (0, 6))
);
create index backup_coverage_changed on cutter_governance.backup_coverage (document_id)
    where sealed_changes is distinct from changes;
create index backup_coverage_verified on cutter_governance.backup_coverage (verified_at)
    where verified_at is not null;
create index backup_coverage_problem on cutter_governance.backup_coverage (document_id) where problem is not null;

-- The newest tree of segments: the digest of its root page, and how many documents the database has sealed into it. Its
-- segments list the tables' columns with this digest; with other columns, every document is sealed again.
create table cutter_governance.backup_head (
    single boolean primary key default true constraint backup_head_is_one check (single),
    tree text constraint backup_head_tree_form check (tree ~ '^[0-9a-f]{64}$'),
    columns_sha256 text constraint backup_head_columns_form check (columns_sha256 ~ '^[0-9a-f]{64}$'),
    documents bigint not null default 0,
    constraint backup_head_is_whole check (num_nulls(tree, columns_sha256) in (0, 2))
);
insert into cutter_governance.backup_head default values;

insert into cutter_governance.backup_coverage (document_id, changes) select doc_code, 1 from public.source_document;

-- the rows of one document without a scan: withdrawn units, and the log of a unit
create index information_unit_withdrawn on public.information_unit (canonical_address) where deleted_at is not null;
create index iu_lifecycle_log_unit on public.iu_lifecycle_log (unit_id);
