-- name: by_index
-- Makes the planner of this transaction find rows by indexes, without compiling the queries.
select set_config(name, 'off', true)
from unnest(array['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin', 'jit']) as name

-- name: information_unit
-- Returns the units of documents. It and the next ten queries return the rows of documents from one table, by its indexes.
select d.doc_code as backup_document, {columns}
from public.source_document d
cross join lateral (
    select u.* from public.information_unit u
    where u.deleted_at is null and u.canonical_address >= d.address_docprefix || '/' collate "C"
        and u.canonical_address < d.address_docprefix || '0' collate "C"
    union all
    select w.* from public.information_unit w
    where w.deleted_at is not null and w.canonical_address >= d.address_docprefix || '/' collate "C"
        and w.canonical_address < d.address_docprefix || '0' collate "C") t
where d.doc_code = any (%(documents)s)

-- name: unit_version
-- Returns the versions of the units.
select s.backup_document, {columns} from ({units}) s join public.unit_version t on t.unit_id = s.id

-- name: iu_lifecycle_log
-- Returns the log entries of the units.
select s.backup_document, {columns} from ({units}) s join public.iu_lifecycle_log t on t.unit_id = s.id

-- name: enactment
-- Returns the enactments of the documents.
select r.document_id as backup_document, {columns} from cutter_governance.run r
join public.enactment t on t.run_id = r.run_id where r.document_id = any (%(documents)s)

-- name: revision_row
-- Returns the rows of the documents' revisions.
select r.document_id as backup_document, {columns} from cutter_governance.run r
join cutter_governance.revision_row t on t.run_id = r.run_id where r.document_id = any (%(documents)s)

-- name: manifest_envelope
-- Returns the manifests of the documents.
select r.document_id as backup_document, {columns} from cutter_governance.run r
join cutter_governance.manifest_envelope t on t.run_id = r.run_id where r.document_id = any (%(documents)s)

-- name: manifest_unit_block
-- Returns the unit blocks of the documents' manifests.
select r.document_id as backup_document, {columns} from cutter_governance.run r
join cutter_governance.manifest_envelope e on e.run_id = r.run_id
join cutter_governance.manifest_unit_block t on t.envelope_id = e.envelope_id
where r.document_id = any (%(documents)s)

-- name: review_decision
-- Returns the review decisions of the documents.
select r.document_id as backup_document, {columns} from cutter_governance.run r
join cutter_governance.review_decision t on t.run_id = r.run_id where r.document_id = any (%(documents)s)

-- name: cut_change_set
-- Returns the change sets of the documents.
select r.document_id as backup_document, {columns} from cutter_governance.run r
join cutter_governance.cut_change_set t on t.run_id = r.run_id where r.document_id = any (%(documents)s)

-- name: cut_change_set_affected_row
-- Returns the affected rows of the documents' change sets.
select r.document_id as backup_document, {columns} from cutter_governance.run r
join cutter_governance.cut_change_set c on c.run_id = r.run_id
join cutter_governance.cut_change_set_affected_row t on t.change_set_id = c.change_set_id
where r.document_id = any (%(documents)s)

-- name: dot_pair_signature
-- Returns the signatures of the documents' change sets and of their verifications.
select r.document_id as backup_document, {columns} from cutter_governance.run r
join cutter_governance.cut_change_set c on c.run_id = r.run_id
left join cutter_governance.verify_result v on v.change_set_id = c.change_set_id
join lateral (
    select x.* from cutter_governance.dot_pair_signature x where x.cross_reference_change_set_id = c.change_set_id
    union all
    select y.* from cutter_governance.dot_pair_signature y
    where y.cross_reference_verify_result_id = v.verify_result_id) t on true
where r.document_id = any (%(documents)s)

-- name: sizes
-- Returns for each document about how many bytes a segment of it has. The length of a text is known without reading it.
select s.backup_document as document, sum(octet_length(t.body) + %(unit_bytes)s)::bigint as number
from ({units}) s join public.unit_version t on t.unit_id = s.id group by s.backup_document

-- name: restored
-- Returns the rows of one table in a database into which segments were loaded.
select t.backup_document, {columns} from only {table} t

-- name: digests
-- Returns for each document the number of its rows in one table, and the digest of all of them, as in fingerprint.sql.
select {table} as "table", one.backup_document as document, count(*) as number,
    encode(sha256(string_agg(one.digest, ''::bytea order by one.digest)), 'hex') as digest
from (select s.backup_document, sha256(convert_to(row({columns})::text, 'UTF8')) as digest from ({rows}) s) as one
group by one.backup_document

-- name: head
-- Returns the newest tree, a document whose segment is damaged with its problem, and the age of the oldest verification in
-- seconds.
select h.tree, h.columns_sha256, h.documents,
    (select c.document_id || ': ' || c.problem from cutter_governance.backup_coverage c where c.document_id = (
        select min(p.document_id) from cutter_governance.backup_coverage p where p.problem is not null)) as damaged,
    extract(epoch from clock_timestamp() - (
        select min(c.verified_at) from cutter_governance.backup_coverage c where c.verified_at is not null))::float
        as oldest_seconds
from cutter_governance.backup_head h

-- name: changed_documents
-- Returns the first documents whose rows changed since they were sealed.
select c.document_id as document, c.changes from cutter_governance.backup_coverage c
where c.sealed_changes is distinct from c.changes order by c.document_id limit %(limit)s

-- name: every_document
-- Returns the first documents with the number of their changes.
select c.document_id as document, c.changes from cutter_governance.backup_coverage c order by c.document_id
limit %(limit)s

-- name: sealed_changes
-- Returns how often the rows of these documents had changed when they were sealed. A document that never was has no row.
select c.document_id as document, c.sealed_changes as changes from cutter_governance.backup_coverage c
where c.document_id = any (%(documents)s) and c.sealed_changes is not null

-- name: due_artifacts
-- Returns the segments of the documents whose verification is the oldest, the oldest one first, without their sizes.
select d.artifact as artifact_id, d.sha256, null::bigint as size_bytes
from (select c.artifact, c.sha256, c.verified_at from cutter_governance.backup_coverage c
    where c.verified_at is not null order by c.verified_at limit %(limit)s) d
group by d.artifact, d.sha256 order by min(d.verified_at), d.artifact

-- name: documents_of_artifact
-- Returns the documents whose newest segment is in this artifact.
select c.document_id as document, c.sealed_changes = c.changes as covered, c.artifact, c.sha256, c.fingerprint
from cutter_governance.backup_coverage c
where c.artifact is not null and c.artifact = %(artifact_id)s and c.sha256 = %(sha256)s order by c.document_id

-- name: verified
-- Records that these documents were verified in their segments, or which problem each one has.
select cutter_governance.fn_backup_verified(%(documents)s)

-- name: again
-- Lets the next backup dump one document again, or all, and returns whether there is such a document.
select cutter_governance.fn_backup_again(%(document)s)

-- name: seal
-- Records these segments and the new tree, and returns false if another backup has changed the tree meanwhile.
select cutter_governance.fn_backup_seal(%(before)s, %(after)s, %(columns_sha256)s, %(artifact)s, %(sha256)s, %(documents)s)

-- name: taken_utc
-- Returns the start of the transaction, rounded down to the second, so that the age of a backup is never too small.
select to_char(transaction_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
