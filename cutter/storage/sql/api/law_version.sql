-- Returns each enacted version of each law, with its legal time and the digests that its approvers signed.
-- A law has at most one version in force on a day: its newest one that takes effect on that day or before.
create or replace view api.law_version with (security_barrier) as
select d.doc_code as document, e.n as version,
    coalesce((
        select t.provenance ->> 'title' from public.source_version t
        where t.source_document_ref = s.source_document_ref and t.version_seq <= s.version_seq and t.provenance ? 'title'
        order by t.version_seq desc limit 1), d.display_en, d.display_vi, d.doc_code) as title,
    e.operation_kind as operation, e.run_id, e.change_set_id as change_set, e.enacted_at, e.effective_from,
    lead(e.effective_from) over later as effective_until,
    case
        when e.effective_from > (now() at time zone 'UTC')::date then 'not_yet_in_force'
        when lead(e.effective_from) over later <= (now() at time zone 'UTC')::date then 'superseded'
        when e.operation_kind = 'repeal' then 'repealed'
        else 'in_force' end as status,
    s.version_seq as source_version, s.content_checksum as source_sha256, c.region_sha as region_sha256,
    c.manifest_version as writer_digest,
    (select count(*) from cutter_governance.manifest_unit_block m
     where m.envelope_id = c.manifest_id and m.block_role = 'result')::integer as units,
    b.n as base_version, e.base_receipt_hash, s.change_reason as reason
from public.enactment e
join public.source_document d on d.source_document_ref = e.source_document_ref
join public.source_version s on s.id = e.source_version_id
join cutter_governance.cut_change_set c on c.change_set_id = e.change_set_id
left join public.enactment b on b.run_id = e.base_run_id
window later as (partition by d.doc_code order by e.n);
comment on view api.law_version is 'Each enacted version of each law. A repeal is a version without units.';
comment on column api.law_version.document is 'Document id of the law';
comment on column api.law_version.version is 'Number of the enactment, from 1';
comment on column api.law_version.title is 'What the law calls itself; else its registered name; else its document id';
comment on column api.law_version.operation is 'first_cut, revision, correction or repeal';
comment on column api.law_version.run_id is 'The run that enacted this version';
comment on column api.law_version.change_set is 'The change set that the executor signed';
comment on column api.law_version.enacted_at is 'When PostgreSQL recorded the enactment';
comment on column api.law_version.effective_from is 'First day on which this version is in force';
comment on column api.law_version.effective_until is 'First day on which it is no longer in force; null if no later version is enacted';
comment on column api.law_version.status is 'On the present day (UTC): in_force, not_yet_in_force, superseded or repealed';
comment on column api.law_version.source_version is 'Number of the registered source version';
comment on column api.law_version.source_sha256 is 'SHA-256 of the registered text';
comment on column api.law_version.region_sha256 is 'SHA-256 of the part of the text that was cut';
comment on column api.law_version.writer_digest is 'Digest of all units of the version, which the approvers signed';
comment on column api.law_version.units is 'Number of units of this version';
comment on column api.law_version.base_version is 'The version that this one changes; null for the first';
comment on column api.law_version.base_receipt_hash is 'Hash of the enactment receipt of the base, which chains the versions';
comment on column api.law_version.reason is 'Reason that was given for a correction or repeal';
