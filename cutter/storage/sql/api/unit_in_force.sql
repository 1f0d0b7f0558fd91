-- Returns the units of all laws that are in force on a day, in the order of each law's source.
create or replace function api.unit_in_force("on" date default (now() at time zone 'UTC')::date)
returns table (
    document text, version integer, document_order integer, address text, unit_version integer, title text,
    unit_kind text, section_type text, parent text, body text, content_sha256 text, effective_from date,
    effective_until date)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select u.document, u.version, u.document_order, u.address, u.unit_version, u.title, u.unit_kind, u.section_type,
        u.parent, u.body, u.content_sha256, u.effective_from, u.effective_until
    from api.law_version v
    join api.unit_of_version u on u.document = v.document and u.version = v.version
    where v.effective_from <= "on" and ("on" < v.effective_until or v.effective_until is null)
    order by u.document, u.document_order
$$;
comment on function api.unit_in_force(date) is 'The units of all laws that are in force on a day';
