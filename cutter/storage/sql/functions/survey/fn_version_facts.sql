-- Returns what a version says of itself, apart from its text and its times, as part of the rows' fingerprint.
create or replace function cutter_governance.fn_version_facts(p_version public.unit_version) returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
return concat_ws(' ', p_version.source_version_id, p_version.document_order, p_version.title, p_version.unit_kind,
    p_version.section_type, p_version.publication_type, p_version.owner_ref, p_version.parent_unit_id);
