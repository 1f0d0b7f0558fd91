-- Writes the next version of a unit as a draft next to the law in force, and returns its id. The unit stays as it is.
-- Internal: fn_iu_revise has checked the unit.
create or replace function public.fn_iu_draft(
    p_unit public.information_unit, p_place integer, p_title text, p_body text, p_actor text, p_unit_kind text,
    p_section_type text, p_owner_ref text, p_publication_type text, p_parent_unit_id uuid) returns uuid
language plpgsql volatile security definer
set search_path = pg_catalog, public, pg_temp
as $$
declare
    v_version uuid := gen_random_uuid();
begin
    perform set_config('app.canonical_writer', 'fn_iu_revise', true);
    insert into public.unit_version (
        id, unit_id, body, content_hash, version_seq, created_by, source_version_id, document_order, title, unit_kind,
        section_type, publication_type, owner_ref, parent_unit_id)
    values (
        v_version, p_unit.id, p_body, public.fn_content_hash(p_body),
        (select max(v.version_seq) + 1 from public.unit_version v where v.unit_id = p_unit.id), p_actor,
        cutter_governance.fn_source_of_open_gate(p_unit.canonical_address), p_place, p_title,
        coalesce(p_unit_kind, 'law_unit'), coalesce(p_section_type, 'section'), p_publication_type,
        coalesce(p_owner_ref, p_actor), p_parent_unit_id);
    perform set_config('app.canonical_writer', '', true);
    return v_version;
end
$$;
