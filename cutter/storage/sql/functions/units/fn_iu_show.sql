-- Makes a unit show one of its versions: its anchors, its status and every column that a version carries.
create or replace function public.fn_iu_show(p_unit_id uuid, p_version_id uuid, p_actor text) returns void
language sql volatile security definer
set search_path = pg_catalog, public, pg_temp
as $$
    update public.information_unit u
    set lifecycle_status = v.lifecycle_status, content_anchor_ref = v.id::text, version_anchor_ref = v.id,
        unit_kind = v.unit_kind, owner_ref = v.owner_ref, parent_or_container_ref = v.parent_unit_id,
        identity_profile = public.fn_version_profile(v), updated_at = clock_timestamp(), updated_by = p_actor
    from public.unit_version v
    where u.id = p_unit_id and v.id = p_version_id and v.unit_id = u.id
$$;
