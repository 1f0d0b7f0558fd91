-- Returns whether an affected row begins a draft of this unit with its hash, and ends the version that the unit shows.
create or replace function cutter_governance.fn_affected_as_stored(
    p_row cutter_governance.cut_change_set_affected_row, p_unit public.information_unit) returns boolean
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select (p_row.ended_version_id is null or exists (
            select from public.unit_version v
            where v.id = p_row.ended_version_id and v.id = p_unit.version_anchor_ref and v.lifecycle_status = 'enacted'))
        and exists (
            select from public.unit_version v
            where v.id = coalesce(p_row.unit_version_id, p_row.ended_version_id) and v.unit_id = p_unit.id
                and v.withdrawn_at is null and v.content_hash = p_row.content_hash
                and v.content_hash = encode(sha256(convert_to(v.body, 'UTF8')), 'hex')
                and (p_row.unit_version_id is null or v.lifecycle_status = 'draft'))
$$;
