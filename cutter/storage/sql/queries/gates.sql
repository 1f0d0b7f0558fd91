-- name: source_of_document
-- Returns a document with its newest version and bytes, and its newest enactment, even if its run ended badly later.
select d.id::text as source_document_id, d.address_docprefix as docprefix, d.source_url as registered_uri,
    v.id::text as version_id, v.content_checksum, v.size_bytes, v.source_format, v.profile_id, v.profile_sha256,
    v.manifest_digest, coalesce(s.bytes, '') as snapshot, v.change_kind, v.change_reason, v.effective_from,
    e.run_id as base_run_id, e.source_version_id::text as base_source_version_id, g.receipt_hash as base_receipt_hash,
    e.effective_from as base_effective_from, (clock_timestamp() at time zone 'UTC')::date as today
from public.source_document d
left join lateral (
    select * from public.source_version v
    where v.source_document_ref = d.source_document_ref order by v.version_seq desc limit 1) v on true
left join public.source_snapshot s on s.sha256 = v.content_checksum
left join lateral (
    select * from public.enactment e
    where e.source_document_ref = d.source_document_ref order by e.n desc limit 1) e on true
left join cutter_governance.gate_receipt g on g.run_id = e.run_id and g.gate = 'IG_lifecycle_enact_execute'
where d.doc_code = %(document_id)s

-- name: snapshot_of_version
-- Returns the bytes, profile and options of a version.
select s.bytes as data, v.profile_body, v.marking_options as options, d.forbidden_ids
from public.source_version v
join public.source_snapshot s on s.sha256 = v.content_checksum
join public.source_document d on d.source_document_ref = v.source_document_ref
where v.id = %(source_version_id)s

-- name: law_in_force
-- Returns the units of a run's base in document order, with their versions in force. A first cut has none.
select l.address, l.title, l.body_sha256, l.unit_kind, l.section_type, l.publication_type, l.owner, l.parent_address
from cutter_governance.run r, public.fn_law_of(r.base_run_id) as l
where r.run_id = %(run_id)s
order by l.document_order

-- name: law_text_in_force
-- Returns the same units with their texts.
select l.address, l.title, l.body_sha256, l.unit_kind, l.section_type, l.publication_type, l.owner, l.parent_address,
    v.body
from cutter_governance.run r, public.fn_law_of(r.base_run_id) as l
join public.unit_version v on v.id = l.version_id
where r.run_id = %(run_id)s
order by l.document_order

-- name: law_enacted
-- Returns the units of the law that a run enacted, in document order.
select l.address, l.title, l.body_sha256, l.unit_kind, l.section_type, l.publication_type, l.owner, l.parent_address
from public.fn_law_of(%(run_id)s) as l
order by l.document_order

-- name: units_continued
-- Returns each unit that a revision moved: its address and the one that it continues.
select w.address, c.canonical_address as continues
from cutter_governance.revision_row w
join public.information_unit c on c.id = w.continues_unit_id
where w.run_id = %(run_id)s

-- name: terms_of_run
-- Returns what a run changes, from which day, and why, who registered its text when, and how it differs from the file.
select r.operation_kind, r.base_source_version_id, r.base_receipt_hash, (
        select coalesce(b.provenance ->> 'title', d.display_en, d.display_vi)
        from public.source_version b
        join public.source_document d on d.source_document_ref = b.source_document_ref
        where b.id = r.base_source_version_id) as base_title,
    v.effective_from, v.change_reason, v.registered_by, v.registered_at, v.provenance
from cutter_governance.run r
left join public.source_version v on v.id = r.source_version_id
where r.run_id = %(run_id)s

-- name: vocabulary
-- Returns every word of every vocabulary.
select family, code from public.vocabulary

-- name: max_writes
-- Returns how many units a run may write, or null if there is no cap.
select (cutter_governance.fn_tenant_caps(r.tenant, case when r.batch_id is null then 'document' else 'batch' end)
    ->> 'max_writes_per_run')::integer
from cutter_governance.run r where r.run_id = %(run_id)s

-- name: runs_with_same_digest
-- Returns the open runs under a prefix with the digest of their plan, other than this one.
select r.run_id, g.result -> 'pins' ->> 'writer_digest' as writer_digest from cutter_governance.gate_receipt g
join cutter_governance.run r on r.run_id = g.run_id
where g.gate = 'IG_cutplan' and r.docprefix = %(docprefix)s and r.run_id <> %(run_id)s and r.ended_at is null
order by r.run_id

-- name: waiting_run_documents
-- Returns the documents of a run that the session's role has to put, in order.
select kb_id, kind, subject, body from cutter_governance.fn_outbox_waiting(%(run_id)s)

-- name: run_sidecar_now
-- Returns fn_run_sidecar, or fn_run_published if no document waits, with the database's clock.
select case when exists (select from cutter_governance.fn_outbox_waiting(%(run_id)s))
        then cutter_governance.fn_run_sidecar(%(run_id)s) else cutter_governance.fn_run_published(%(run_id)s) end as sidecar,
    clock_timestamp() as now

-- name: run_sidecar
-- Returns everything that a run's projections are made of.
select cutter_governance.fn_run_sidecar(%(run_id)s)

-- name: policy_context
-- Returns what the policy decides on for a run at a gate, and how many people approved and are needed.
select to_jsonb(r) as run, cutter_governance.fn_run_pins(r.run_id) as pins, clock_timestamp() as now,
    cutter_governance.fn_gate_approvers(r.run_id, %(gate)s) as approvers,
    cutter_governance.fn_gate_needs(%(gate)s) as needed
from cutter_governance.run r where r.run_id = %(run_id)s

-- name: run_limits
-- Returns whether a run is over, and its own limit of a backup's age.
select r.ended_at is not null as ended,
    case when jsonb_typeof(r.caps -> 'backup_max_age_seconds') = 'number'
        then (r.caps ->> 'backup_max_age_seconds')::float end as backup_max_age_seconds
from cutter_governance.run r where r.run_id = %(run_id)s

-- name: newest_backups
-- Returns the newest backups of a run with a valid time, and whether its gate sealed them.
select a.target as artifact, a.response_metadata ->> 'sha256' as sha256,
    extract(epoch from clock_timestamp() - least((a.response_metadata ->> 'taken_utc')::timestamptz, a.at))::float
        as age_seconds,
    coalesce(a.target = sealed.artifact, false) as sealed
from (
    select min(g.result -> 'pins' ->> 'backup_artifact') as artifact from cutter_governance.gate_receipt g
    where g.run_id = %(run_id)s and g.gate = 'IG_backup' and g.sealed_at is not null) sealed
join cutter_governance.action_receipt a on a.run_id = %(run_id)s
where a.connector = 'backup' and a.operation = 'take'
    and coalesce(a.response_metadata ->> 'sha256', '') ~ '^[0-9a-f]{64}$'
    -- A backup whose record has no valid time does not count.
    and case when pg_input_is_valid(coalesce(a.response_metadata ->> 'taken_utc', ''), 'timestamptz')
        then (a.response_metadata ->> 'taken_utc')::timestamptz <= clock_timestamp() + interval '1 minute' else false end
order by a.id desc limit %(limit)s

-- name: archiver
-- Returns how the server archives its write-ahead log, with the problem that keeps a restore point from being of use.
select cutter_governance.fn_archiver(%(late_seconds)s)

-- name: restore_point
-- Returns a new restore point for the backup of a run, or the archiver's problem.
select cutter_governance.fn_restore_point(%(run_id)s, %(late_seconds)s)

-- name: rows_under_prefix
-- Returns how many units are under a prefix.
select count(*) from public.information_unit u
where u.canonical_address >= %(docprefix)s || '/' collate "C" and u.canonical_address < %(docprefix)s || '0' collate "C"
    and u.deleted_at is null

-- name: create_unit
-- Creates a draft unit and returns the status.
select public.fn_iu_create(%(address)s, %(title)s, %(body)s, %(actor)s, %(unit_kind)s, %(section_type)s, %(owner)s,
    %(publication_type)s, (select u.id from public.information_unit u
                           where u.canonical_address = %(parent_address)s and u.deleted_at is null)) ->> 'status'

-- name: keep_units
-- Writes every kept row of a revision in one call, and returns the status of each.
select public.fn_iu_keep(%(run_id)s, %(places)s, %(addresses)s)

-- name: revise_unit
-- Writes one row of a revision that changes something, with the draft that it begins, and returns the status.
select public.fn_iu_revise(%(run_id)s, %(operation)s, %(place)s, %(address)s, %(actor)s, %(title)s, %(body)s,
    %(unit_kind)s, %(section_type)s, %(owner)s, %(publication_type)s, %(parent_address)s, %(continues)s) ->> 'status'

-- name: drafts_beside
-- Returns how many drafts wait under a prefix: draft units, and drafts next to the law in force.
select count(*) from public.information_unit u
join public.unit_version v on v.unit_id = u.id and v.lifecycle_status = 'draft' and v.withdrawn_at is null
where u.canonical_address >= %(docprefix)s || '/' collate "C" and u.canonical_address < %(docprefix)s || '0' collate "C"
    and u.deleted_at is null

-- name: revision_written
-- Returns what leg A of a revision wrote: versions that begin and are no drafts, digest, and this transaction's id.
select (select count(*) from cutter_governance.revision_row w
        join public.unit_version v on v.id = w.version_id
        where w.run_id = %(run_id)s and w.operation <> 'keep' and v.lifecycle_status <> 'draft') as not_draft,
    cutter_governance.fn_stored_digest(%(run_id)s) as writer_digest, pg_current_xact_id()::text as transaction

-- name: units_written
-- Returns what leg A wrote under a prefix: enacted units, digest, and this transaction's id.
select count(*) filter (where u.lifecycle_status <> 'draft') as not_draft,
    cutter_governance.fn_writer_digest(%(docprefix)s) as writer_digest, pg_current_xact_id()::text as transaction
from public.information_unit u
where u.canonical_address >= %(docprefix)s || '/' collate "C" and u.canonical_address < %(docprefix)s || '0' collate "C"
    and u.deleted_at is null

-- name: units_read_back
-- Returns whether leg A of a run is sealed, and what is stored under its prefix now.
select exists (select from cutter_governance.gate_receipt g where g.run_id = r.run_id and g.gate = 'IG_cut_leg_a_execute'
               and g.sealed_at is not null) as receipt_sealed,
    case when r.operation_kind = 'first_cut' then (select count(*) from public.information_unit u
     where u.canonical_address >= r.docprefix || '/' collate "C" and u.canonical_address < r.docprefix || '0' collate "C"
         and u.deleted_at is null)
    else (select count(*) from cutter_governance.revision_row w
          join public.unit_version v on v.id = w.version_id and v.version_seq = 1
          where w.run_id = r.run_id and w.operation = 'create') end as units,
    cutter_governance.fn_stored_digest(r.run_id) as writer_digest, cutter_governance.fn_run_pins(r.run_id) as pins,
    r.state
from cutter_governance.run r where r.run_id = %(run_id)s

-- name: stored_units
-- Returns every unit under a prefix with its version and parent, in order of the addresses.
select u.canonical_address as address, u.identity_profile ->> 'primary_section_type_ref' as section_type,
    u.lifecycle_status as lifecycle, v.lifecycle_status as version_lifecycle, v.version_seq, v.body, v.content_hash,
    u.content_anchor_ref = v.id::text and v.unit_id = u.id as anchors_agree, p.canonical_address as parent_address,
    u.id as unit_id, v.id as version_id
from public.information_unit u
join public.unit_version v on v.id = u.version_anchor_ref
left join public.information_unit p on p.id = u.parent_or_container_ref
where u.canonical_address >= %(docprefix)s || '/' collate "C" and u.canonical_address < %(docprefix)s || '0' collate "C"
    and u.deleted_at is null
order by u.canonical_address

-- name: drafted_units
-- Returns every unit of the new text of a revision with the version that is to hold, in order of the addresses. A
-- `version_seq` is counted from the newest earlier version. Anchors agree if the unit still shows the law in force.
select u.canonical_address as address, v.section_type, u.lifecycle_status as lifecycle,
    v.lifecycle_status as version_lifecycle, case when w.operation = 'keep' then 1
        else v.version_seq - (select coalesce(max(o.version_seq), 0) from public.unit_version o
                              where o.unit_id = u.id and o.id <> v.id) end as version_seq,
    case when w.operation <> 'keep' or v.content_hash <> encode(sha256(convert_to(v.body, 'UTF8')), 'hex') then v.body end
        as body, v.content_hash, u.content_anchor_ref = u.version_anchor_ref::text and v.unit_id = u.id
        and (u.version_anchor_ref = coalesce(w.base_version_id, v.id)
             or w.operation = 'create' and u.lifecycle_status = 'retired') as anchors_agree,
    p.canonical_address as parent_address, u.id as unit_id, v.id as version_id
from cutter_governance.revision_row w
join public.information_unit u on u.id = w.unit_id
join public.unit_version v on v.id = w.version_id
left join public.information_unit p on p.id = v.parent_unit_id
where w.run_id = %(run_id)s
order by u.canonical_address

-- name: revision_rows
-- Returns every row of a revision in document order.
select w.address, w.operation, c.canonical_address as continues
from cutter_governance.revision_row w
left join public.information_unit c on c.id = w.continues_unit_id
where w.run_id = %(run_id)s
order by w.document_order

-- name: version_count
-- Returns how many versions the units under a prefix have.
select count(*) from public.unit_version v
join public.information_unit u on u.id = v.unit_id
where u.canonical_address >= %(docprefix)s || '/' collate "C" and u.canonical_address < %(docprefix)s || '0' collate "C"
    and u.deleted_at is null

-- name: enact_unit
-- Enacts a unit and returns the status.
select public.fn_iu_enact(%(address)s, %(actor)s, %(review_decision_id)s, %(target)s, %(change_set_id)s, %(reason)s,
    %(tool_revision)s) ->> 'status'

-- name: units_to_enact
-- Returns the address of every unit that the enactment of a run changes, with the status that it gets, in order.
with law as (
    select r.docprefix as prefix from cutter_governance.run r
    where r.run_id = %(run_id)s and r.operation_kind = 'first_cut')
select u.canonical_address as address, 'enacted' as target from public.information_unit u
where u.canonical_address >= (select prefix || '/' from law) collate "C"
    and u.canonical_address < (select prefix || '0' from law) collate "C" and u.deleted_at is null
union all
select w.address, case w.operation when 'repeal' then 'retired' else 'enacted' end
from cutter_governance.revision_row w where w.run_id = %(run_id)s and w.operation <> 'keep'
order by address

-- name: enactment_counts
-- Returns what an enactment has written and whether the named triggers are enabled.
select (select count(*) from public.iu_lifecycle_log l
        where l.change_set_id = %(change_set_id)s and l.to_status in ('enacted', 'retired')) as log_rows,
    (select v.verdict from cutter_governance.verify_result v where v.change_set_id = %(change_set_id)s) as verdict,
    (select jsonb_object_agg(c.relname || '.' || t.tgname, t.tgenabled) from pg_catalog.pg_trigger t
     join pg_catalog.pg_class c on c.oid = t.tgrelid where t.tgname = any (%(triggers)s)) as triggers,
    (select count(*) from public.information_unit u
     left join public.unit_version v on v.id = u.version_anchor_ref
     left join cutter_governance.revision_row w on w.run_id = %(run_id)s and w.unit_id = u.id
     where u.canonical_address >= %(docprefix)s || '/' collate "C" and u.canonical_address < %(docprefix)s || '0' collate "C"
         and u.deleted_at is null and (
            v.lifecycle_status is distinct from u.lifecycle_status
            or u.lifecycle_status <> case when w.operation = 'repeal' or w.run_id is null and u.lifecycle_status = 'retired'
                then 'retired' else 'enacted' end
            or w.version_id <> u.version_anchor_ref)) as not_enacted,
    pg_current_xact_id()::text as transaction

-- name: database_clock
-- Returns the database's time.
select clock_timestamp()

-- name: approved_decision
-- Returns the review decision of the approved request and of its first consumed approval.
select q.review_decision_id::text as decided, c.review_decision_id::text as consumed
from cutter_governance.approval_request q
join cutter_governance.approval_consumption c on c.request_id = q.request_id
where q.run_id = %(run_id)s and q.gate = %(gate)s and q.status = 'approved'
order by q.n desc, c.slot limit 1

-- name: run_evidence
-- Returns everything on record about a run.
select cutter_governance.fn_run_evidence(%(run_id)s)

-- name: run_evidence_and_sidecar
-- Returns evidence and sidecar of a run from one moment, because an open run moves on between two statements.
select cutter_governance.fn_run_evidence(%(run_id)s) as evidence, cutter_governance.fn_run_sidecar(%(run_id)s) as sidecar
