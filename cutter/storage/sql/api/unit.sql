-- Returns the units of all laws that are in force today (UTC).
create or replace view api.unit with (security_barrier) as
select u.document, u.version, u.document_order, u.address, u.unit_version, u.title, u.unit_kind, u.section_type,
    u.parent, u.body, u.content_sha256, u.effective_from, u.effective_until
from api.law_version v
join api.unit_of_version u on u.document = v.document and u.version = v.version
where v.effective_from <= (now() at time zone 'UTC')::date and ((now() at time zone 'UTC')::date < v.effective_until or v.effective_until is null);
comment on view api.unit is 'The units of all laws that are in force on the present day (UTC)';
comment on column api.unit.document is 'Document id of the law';
comment on column api.unit.version is 'Version of the law that is in force';
comment on column api.unit.document_order is 'Place of the unit in that version, from 1';
comment on column api.unit.address is 'Canonical address of the unit';
comment on column api.unit.unit_version is 'Number of the unit''s version, from 1';
comment on column api.unit.title is 'Title of the unit';
comment on column api.unit.unit_kind is 'Kind of the unit, from the vocabulary';
comment on column api.unit.section_type is 'Section type of the unit, from the vocabulary';
comment on column api.unit.parent is 'Address of the unit above; null at the top';
comment on column api.unit.body is 'The exact text of the unit';
comment on column api.unit.content_sha256 is 'SHA-256 of the text in UTF-8';
comment on column api.unit.effective_from is 'First day on which this text of the unit is in force';
comment on column api.unit.effective_until is 'First day on which it is no longer in force; null if no later version is enacted';
