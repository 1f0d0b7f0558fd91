-- Returns the registered text of each version of each law. It also holds what was not cut, so only operators may read it.
create or replace view api.source with (security_barrier) as
select d.doc_code as document, e.n as version, x.sha256, x.bytes as content, s.profile_body, s.marking_options,
    d.address_docprefix as address_prefix, d.forbidden_ids
from public.enactment e
join public.source_document d on d.source_document_ref = e.source_document_ref
join public.source_version s on s.id = e.source_version_id
join public.source_snapshot x on x.sha256 = s.content_checksum;
comment on view api.source is 'The registered text of each version of each law';
comment on column api.source.document is 'Document id of the law';
comment on column api.source.version is 'Version of the law';
comment on column api.source.sha256 is 'SHA-256 of the text';
comment on column api.source.content is 'The registered bytes';
comment on column api.source.profile_body is 'The marking profile';
comment on column api.source.marking_options is 'The marking options';
comment on column api.source.address_prefix is 'First segment of the addresses';
comment on column api.source.forbidden_ids is 'Document ids that may not appear in the text';
