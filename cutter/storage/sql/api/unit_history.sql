-- Returns every enacted version of every unit, with the time for which it is in force.
create or replace view api.unit_history with (security_barrier) as
select d.doc_code as document, u.canonical_address as address, v.version_seq as unit_version, v.id as unit_version_id,
    u.id as unit_id, v.title, v.unit_kind, v.section_type, p.canonical_address as parent, v.document_order, v.body,
    v.content_hash as content_sha256, v.effective_from, v.effective_until, v.enacted_at, e.n as enacted_by_version,
    x.n as ended_by_version, v.ended_at,
    case
        when v.effective_from > (now() at time zone 'UTC')::date then 'not_yet_in_force'
        when v.effective_until is null or v.effective_until > (now() at time zone 'UTC')::date then 'in_force'
        when v.lifecycle_status = 'retired' then 'repealed'
        else 'superseded' end as status,
    c.canonical_address as continues
from public.enactment e
join public.source_document d on d.source_document_ref = e.source_document_ref
-- The versions of one law are found by what its change sets began, because no index of all versions begins with the law.
join cutter_governance.cut_change_set_affected_row a on a.change_set_id = e.change_set_id
join public.unit_version v on v.id = a.unit_version_id and v.enacted_by = a.change_set_id
join public.information_unit u on u.id = v.unit_id
left join public.enactment x on x.change_set_id = v.ended_by
left join public.information_unit p on p.id = v.parent_unit_id
left join public.information_unit c on c.id = v.continues_unit_id
where v.lifecycle_status in ('enacted', 'superseded', 'retired');
comment on view api.unit_history is 'Every enacted version of every unit. Drafts and withdrawn units are not in it.';
comment on column api.unit_history.document is 'Document id of the law';
comment on column api.unit_history.address is 'Canonical address of the unit';
comment on column api.unit_history.unit_version is 'Number of the unit''s version, from 1';
comment on column api.unit_history.unit_version_id is 'Id of this version of the unit';
comment on column api.unit_history.unit_id is 'Id of the unit, the same in all its versions';
comment on column api.unit_history.title is 'Title of the unit';
comment on column api.unit_history.unit_kind is 'Kind of the unit, from the vocabulary';
comment on column api.unit_history.section_type is 'Section type of the unit, from the vocabulary';
comment on column api.unit_history.parent is 'Address of the unit above; null at the top';
comment on column api.unit_history.document_order is 'Place in the source in which this version of the unit began';
comment on column api.unit_history.body is 'The exact text of the unit';
comment on column api.unit_history.content_sha256 is 'SHA-256 of the text in UTF-8';
comment on column api.unit_history.effective_from is 'First day on which this version is in force';
comment on column api.unit_history.effective_until is 'First day on which it is no longer in force; null if no later version is enacted';
comment on column api.unit_history.enacted_at is 'When PostgreSQL recorded its enactment';
comment on column api.unit_history.enacted_by_version is 'Version of the law in which it begins';
comment on column api.unit_history.ended_by_version is 'Version of the law that ends it; null if none does';
comment on column api.unit_history.ended_at is 'When PostgreSQL recorded its end';
comment on column api.unit_history.status is 'On the present day (UTC): in_force, not_yet_in_force, superseded or repealed';
comment on column api.unit_history.continues is 'Address of the unit that this one continues, if its text was moved';
