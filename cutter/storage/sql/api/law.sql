-- Returns each law that has an enacted version, as it is today (UTC).
create or replace view api.law with (security_barrier) as
select v.document, v.title, d.address_docprefix as address_prefix, d.tenant, d.authority_class as authority,
    d.source_url, v.status, v.version, v.effective_from, v.effective_until, v.units,
    (select max(a.version) from api.law_version a where a.document = v.document) as newest_version,
    (select min(a.enacted_at) from api.law_version a where a.document = v.document) as first_enacted_at,
    (select max(a.enacted_at) from api.law_version a where a.document = v.document) as last_enacted_at
from (
    select distinct on (a.document) a.* from api.law_version a
    order by a.document, (a.effective_from <= (now() at time zone 'UTC')::date) desc,
        case when a.effective_from <= (now() at time zone 'UTC')::date then a.version else -a.version end desc) v
join public.source_document d on d.doc_code = v.document;
comment on view api.law is 'Each law that has an enacted version, as it is on the present day (UTC)';
comment on column api.law.document is 'Document id of the law';
comment on column api.law.title is 'Title of the version that the row shows';
comment on column api.law.address_prefix is 'First segment of the addresses of its units';
comment on column api.law.tenant is 'Tenant that registered the law';
comment on column api.law.authority is 'Class of the authority that the registration names';
comment on column api.law.source_url is 'Where the registered text comes from; null if nobody gave it';
comment on column api.law.status is 'in_force, not_yet_in_force or repealed';
comment on column api.law.version is 'The version in force; of a law that is not yet in force, the first one that will be';
comment on column api.law.effective_from is 'First day on which that version is in force';
comment on column api.law.effective_until is 'First day on which it is no longer in force; null if no later version is enacted';
comment on column api.law.units is 'Number of units of that version';
comment on column api.law.newest_version is 'Number of the newest enacted version';
comment on column api.law.first_enacted_at is 'When the first version was enacted';
comment on column api.law.last_enacted_at is 'When the newest version was enacted';
