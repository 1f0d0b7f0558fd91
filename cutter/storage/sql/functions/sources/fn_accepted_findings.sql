-- Returns the names of the red findings that a person accepted with a source version, in the order of their bytes.
create or replace function cutter_governance.fn_accepted_findings(p_source_version_id uuid) returns text[]
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select coalesce(array_agg(name order by name collate "C"), '{}')
    from public.source_version v, jsonb_object_keys(
        case jsonb_typeof(v.marking_options -> 'accept') when 'object' then v.marking_options -> 'accept' end) as name
    where v.id = p_source_version_id
$$;
