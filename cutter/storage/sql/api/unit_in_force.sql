-- Returns the units of all laws, or of one law, that are in force on a day, in the order of each law's source. With
-- `recorded` it answers what the database said at that moment. Without a day it takes the day of that moment or today.
create or replace function api.unit_in_force(
    "on" date default null, recorded timestamptz default 'infinity', in_document text default null,
    day date default null)
returns table (
    document text, version integer, document_order integer, address text, unit_version integer, title text,
    unit_kind text, section_type text, parent text, body text, content_sha256 text, effective_from date,
    effective_until date)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select u.document, u.version, u.document_order, u.address, u.unit_version, u.title, u.unit_kind, u.section_type,
        u.parent, u.body, u.content_sha256, u.effective_from,
        case when u.ended_at <= recorded then u.effective_until end
    from (select coalesce(unit_in_force.day, "on", (least(recorded, now()) at time zone 'UTC')::date) as day) as asked
    join api.law_version_recorded(recorded, in_document) v
        on v.effective_from <= asked.day and (asked.day < v.effective_until or v.effective_until is null)
    cross join lateral (
        select * from api.unit_of_version a where a.document = v.document and a.version = v.version offset 0) as u
    order by u.document, u.document_order
$$;
comment on function api.unit_in_force(date, timestamptz, text, date) is
    'The units of all laws that are in force on a day, also as the database said at an earlier moment';
