-- Refuses, at COMMIT, a unit that does not show its own version: by its anchors, its lifecycle status, its columns.
create or replace function public.fn_iu_birth_gate_layer2() returns trigger
language plpgsql security definer
set search_path = pg_catalog, public, pg_temp
as $$
begin
    if not exists (
        select from public.information_unit u
        join public.unit_version v on v.id = u.version_anchor_ref and v.unit_id = u.id
        where u.id = new.id and u.unit_kind = v.unit_kind and u.owner_ref = v.owner_ref
            and u.parent_or_container_ref is not distinct from v.parent_unit_id
            and u.identity_profile = public.fn_version_profile(v)
            and u.content_anchor_ref = v.id::text and u.lifecycle_status = v.lifecycle_status)
    then
        raise exception '%: anchors do not agree at commit', new.canonical_address using errcode = 'CU004';
    end if;
    return null;
end
$$;
