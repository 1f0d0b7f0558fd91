-- name: laws
-- Returns each law as it is on a day: its version in force on that day, else the first one to be if no day is given.
select distinct on (v.document collate "C") v.document, v.title, v.status, v.version, v.newest_version, v.units,
    v.effective_from, v.effective_until
from (
    select a.*, max(a.version) over (partition by a.document) as newest_version,
        a.effective_from <= coalesce(%(at)s, (least(%(recorded)s, now()) at time zone 'UTC')::date) as begun
    from api.law_version_recorded(%(recorded)s) a) as v
where %(at)s::date is null or v.begun
order by v.document collate "C", v.begun desc, case when v.begun then v.version else -v.version end desc

-- name: law_versions
-- Returns every version of a law in order, as the database showed it at a moment.
select document, version, title, operation, run_id, change_set::text as change_set, enacted_at, effective_from,
    effective_until, source_sha256, region_sha256, writer_digest, units, status, reason, base_version
from api.law_version_recorded(%(recorded)s, %(document)s) order by version

-- name: law_units
-- Returns the units of one version of a law in document order, with the ends that were recorded up to a moment.
select address, title, unit_kind, section_type, parent, document_order as "order", unit_version as version, body,
    content_sha256, effective_from, case when ended_at <= %(recorded)s then effective_until end as effective_until
from api.unit_of_version where document = %(document)s and version = %(version)s order by document_order

-- name: law_outline
-- Returns the units of one version of a law in document order. The size of a text is known without reading it.
select address, title, unit_kind, section_type, parent, document_order as "order", unit_version as version,
    octet_length(body) as size, content_sha256, effective_from, effective_until
from api.unit_of_version where document = %(document)s and version = %(version)s order by document_order

-- name: law_passage
-- Returns the named units of one version of a law in document order.
select address, title, unit_kind, section_type, parent, document_order as "order", unit_version as version, body,
    content_sha256, effective_from, effective_until
from api.unit_of_version
where document = %(document)s and version = %(version)s and address = any (%(addresses)s) order by document_order

-- name: law_signers
-- Returns the keys that answer for a version of a law.
select role, name, fingerprint, signed_at, statement_sha256
from api.signature where document = %(document)s and version = %(version)s order by role, name, fingerprint

-- name: law_source
-- Returns the registered text of a version of a law, with what it is marked with.
select content as data, profile_body, marking_options as options, address_prefix as docprefix, forbidden_ids
from api.source where document = %(document)s and version = %(version)s

-- name: unit_versions
-- Returns every enacted version of the units whose address is given or ends with it, in order.
select address, unit_version as version, title, body, content_sha256, effective_from, effective_until, enacted_at,
    enacted_by_version, ended_by_version, status, continues
from api.unit_history
where document = %(document)s and (lower(address) = lower(%(address)s)
    or lower(right(address, length(%(address)s) + 1)) = '/' || lower(%(address)s))
order by address collate "C", unit_version

-- name: law_search
-- Returns the units in force on a day that have the words, the best first.
select document, version, address, title, body, content_sha256, effective_from, rank
from api.search(%(words)s, coalesce(%(at)s, (least(%(recorded)s, now()) at time zone 'UTC')::date), %(document)s,
    %(version)s, %(limit)s, %(recorded)s)
