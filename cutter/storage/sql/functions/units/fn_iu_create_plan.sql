-- Returns what fn_iu_create would do for an address: plan_ok, a refusal, or the state of the unit that exists there.
create or replace function public.fn_iu_create_plan(
    p_canonical_address text, p_title text, p_body text, p_actor text, p_unit_kind text default null,
    p_section_type text default null, p_owner_ref text default null, p_publication_type text default null,
    p_parent_ref uuid default null) returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, public, pg_temp
as $$
declare
    existing public.information_unit;
    version public.unit_version;
begin
    if coalesce(p_canonical_address, '') = '' or coalesce(p_title, '') = '' or coalesce(p_body, '') = ''
        or coalesce(p_actor, '') = ''
    then
        return jsonb_build_object('status', 'refused_empty_argument', 'canonical_address', p_canonical_address);
    end if;
    select * into existing from public.information_unit u
    where u.canonical_address = p_canonical_address and u.deleted_at is null;
    if not found then
        return jsonb_build_object('status', 'plan_ok', 'canonical_address', p_canonical_address);
    end if;
    if existing.version_anchor_ref is null then
        return jsonb_build_object('status', 'exists_missing_version', 'unit_id', existing.id);
    end if;
    select * into version from public.unit_version v where v.id = existing.version_anchor_ref;
    if not found or version.unit_id <> existing.id or existing.content_anchor_ref <> version.id::text then
        return jsonb_build_object('status', 'exists_anchor_invalid', 'unit_id', existing.id);
    end if;
    if version.content_hash = public.fn_content_hash(p_body) then
        return jsonb_build_object('status', 'exists_complete', 'unit_id', existing.id);
    end if;
    return jsonb_build_object('status', 'exists_unknown_state', 'unit_id', existing.id);
end
$$;
