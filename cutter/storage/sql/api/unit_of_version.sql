-- Returns the units of each version of each law, in the order of that version's source. Filter by document and version.
create or replace view api.unit_of_version with (security_barrier) as
select d.doc_code as document, e.n as version,
    (row_number() over (partition by d.doc_code, e.n order by b.render_order))::integer as document_order, u.canonical_address as address,
    v.version_seq as unit_version, v.title, v.unit_kind, v.section_type, p.canonical_address as parent, v.body,
    v.content_hash as content_sha256, v.effective_from, v.effective_until, x.enacted_at as ended_at
from public.enactment e
join public.source_document d on d.source_document_ref = e.source_document_ref
join cutter_governance.cut_change_set c on c.change_set_id = e.change_set_id
join cutter_governance.manifest_unit_block b on b.envelope_id = c.manifest_id and b.block_role = 'result'
join public.unit_version v on v.id = coalesce(b.target_version_id, (
    select a.unit_version_id from cutter_governance.cut_change_set_affected_row a
    where a.change_set_id = c.change_set_id and a.unit_id = b.target_unit_id))
join public.information_unit u on u.id = v.unit_id
left join public.information_unit p on p.id = v.parent_unit_id
left join public.enactment x on x.change_set_id = v.ended_by;
comment on view api.unit_of_version is 'The units of each version of each law, in the order of its source';
comment on column api.unit_of_version.document is 'Document id of the law';
comment on column api.unit_of_version.version is 'Version of the law';
comment on column api.unit_of_version.document_order is 'Place of the unit in that version, from 1';
comment on column api.unit_of_version.address is 'Canonical address of the unit';
comment on column api.unit_of_version.unit_version is 'Number of the unit''s version, from 1';
comment on column api.unit_of_version.title is 'Title of the unit';
comment on column api.unit_of_version.unit_kind is 'Kind of the unit, from the vocabulary';
comment on column api.unit_of_version.section_type is 'Section type of the unit, from the vocabulary';
comment on column api.unit_of_version.parent is 'Address of the unit above; null at the top';
comment on column api.unit_of_version.body is 'The exact text of the unit';
comment on column api.unit_of_version.content_sha256 is 'SHA-256 of the text in UTF-8';
comment on column api.unit_of_version.effective_from is 'First day on which this text of the unit is in force';
comment on column api.unit_of_version.effective_until is 'First day on which it is no longer in force; null if no later version is enacted';
comment on column api.unit_of_version.ended_at is 'When PostgreSQL recorded the enactment that ends this text; null if no later version is enacted';
