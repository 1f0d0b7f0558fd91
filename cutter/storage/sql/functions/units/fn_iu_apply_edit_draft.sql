-- Adds an edit draft's body as the next version of a draft unit, and refuses for an unknown draft or enacted law.
create or replace function public.fn_iu_apply_edit_draft(p_draft_id uuid, p_actor text) returns jsonb
language plpgsql volatile security definer
set search_path = pg_catalog, public, pg_temp
as $$
declare
    draft public.iu_edit_draft;
    unit public.information_unit;
    v_version uuid := gen_random_uuid();
    v_seq integer;
begin
    select * into draft from public.iu_edit_draft d where d.id = p_draft_id;
    if not found then
        return jsonb_build_object('status', 'refused_unknown_draft');
    end if;
    select * into unit from public.information_unit u where u.id = draft.unit_id and u.deleted_at is null for update;
    if not found or unit.lifecycle_status <> 'draft' then
        return jsonb_build_object('status', 'refused_base_enacted');
    end if;
    select max(version_seq) + 1 into v_seq from public.unit_version v where v.unit_id = unit.id;
    perform set_config('app.canonical_writer', 'fn_iu_apply_edit_draft', true);
    insert into public.unit_version (
        id, unit_id, body, content_hash, version_seq, lifecycle_status, created_by, source_version_id, document_order,
        title, unit_kind, section_type, publication_type, owner_ref, parent_unit_id)
    select v_version, v.unit_id, draft.body, public.fn_content_hash(draft.body), v_seq, unit.lifecycle_status, p_actor,
        v.source_version_id, v.document_order, v.title, v.unit_kind, v.section_type, v.publication_type, v.owner_ref,
        v.parent_unit_id
    from public.unit_version v where v.id = unit.version_anchor_ref;
    update public.information_unit u
    set content_anchor_ref = v_version::text, version_anchor_ref = v_version, updated_at = clock_timestamp(),
        updated_by = p_actor
    where u.id = unit.id;
    perform set_config('app.canonical_writer', '', true);
    return jsonb_build_object('status', 'applied', 'version_id', v_version);
end
$$;
