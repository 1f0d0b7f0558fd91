-- Returns each change of a unit in the order in which it was committed. A reader keeps the highest cursor that it has
-- read and asks for the rows above it. Enactments hold one lane until they commit, so no row appears below another.
create or replace view api.change with (security_barrier) as
select l.id as "cursor", l.at as recorded_at, d.doc_code as document, e.n as version, e.operation_kind as operation,
    a.operation as change, u.canonical_address as address, v.version_seq as unit_version, v.title,
    v.content_hash as content_sha256, o.version_seq as ended_unit_version, o.content_hash as ended_content_sha256,
    e.effective_from, e.run_id
from public.iu_lifecycle_log l
join public.enactment e on e.change_set_id = l.change_set_id
join public.source_document d on d.source_document_ref = e.source_document_ref
join cutter_governance.cut_change_set_affected_row a on a.change_set_id = l.change_set_id and a.unit_id = l.unit_id
join public.information_unit u on u.id = l.unit_id
left join public.unit_version v on v.id = a.unit_version_id
left join public.unit_version o on o.id = a.ended_version_id
where l.to_status in ('enacted', 'retired');
comment on view api.change is 'A feed of all changes of units. Ask for cursor > the highest one that you have read, ordered by cursor.';
comment on column api.change."cursor" is 'Grows in the order of the commits';
comment on column api.change.recorded_at is 'When PostgreSQL recorded the change';
comment on column api.change.document is 'Document id of the law';
comment on column api.change.version is 'Version of the law that makes the change';
comment on column api.change.operation is 'Kind of that version: first_cut, revision, correction or repeal';
comment on column api.change.change is 'What happens to the unit: create, revise or repeal';
comment on column api.change.address is 'Canonical address of the unit';
comment on column api.change.unit_version is 'The unit''s version that begins; null for a repeal';
comment on column api.change.title is 'Title of the unit from this version; null for a repeal';
comment on column api.change.content_sha256 is 'SHA-256 of the text that begins; null for a repeal';
comment on column api.change.ended_unit_version is 'The unit''s version that ends; null if the unit is created';
comment on column api.change.ended_content_sha256 is 'SHA-256 of the text that ends';
comment on column api.change.effective_from is 'First day on which the change is in force';
comment on column api.change.run_id is 'The run that enacted the change';
