-- Returns the identity profile of a unit that shows this version.
create or replace function public.fn_version_profile(p_version public.unit_version) returns jsonb
language sql immutable parallel safe
set search_path = pg_catalog, public, pg_temp
return jsonb_strip_nulls(jsonb_build_object(
    'title', p_version.title, 'owner_lookup_ref', p_version.owner_ref,
    'primary_section_type_ref', p_version.section_type, 'publication_type_ref', p_version.publication_type));
