-- Writes one row of a revision, and the draft that it begins: a version next to the law in force, or a new unit. Returns a
-- status: revised, created, revived (a repealed unit that comes back), repealed, or a refusal. fn_iu_keep writes kept rows.
create or replace function public.fn_iu_revise(
    p_run_id text, p_operation text, p_place integer, p_canonical_address text, p_actor text, p_title text default null,
    p_body text default null, p_unit_kind text default null, p_section_type text default null,
    p_owner_ref text default null, p_publication_type text default null, p_parent_address text default null,
    p_continues_address text default null) returns jsonb
language plpgsql volatile security definer
set search_path = pg_catalog, public, pg_temp
as $$
declare
    unit public.information_unit;
    v_parent uuid;
    v_version uuid;
    v_status text;
begin
    perform pg_advisory_xact_lock(hashtext(p_canonical_address));
    select * into unit from public.information_unit u
    where u.canonical_address = p_canonical_address and u.deleted_at is null;
    v_status := case
        when p_operation not in ('revise', 'create', 'repeal') then 'refused_operation'
        when (p_operation = 'create') <> (unit.id is null or unit.lifecycle_status = 'retired') then 'refused_not_in_base'
        when p_operation in ('create', 'revise') and (coalesce(p_title, '') = '' or coalesce(p_body, '') = '')
            then 'refused_empty_argument' end;
    if v_status is not null then
        return jsonb_build_object('status', v_status, 'canonical_address', p_canonical_address);
    end if;
    select u.id into v_parent from public.information_unit u
    where u.canonical_address = p_parent_address and u.deleted_at is null;
    if p_operation = 'create' and unit.id is null then
        perform set_config('app.document_order', (p_place - 1)::text, true);
        perform public.fn_iu_create(p_canonical_address, p_title, p_body, p_actor, p_unit_kind, p_section_type,
            p_owner_ref, p_publication_type, v_parent);
        select * into unit from public.information_unit u
        where u.canonical_address = p_canonical_address and u.deleted_at is null;
        v_version := unit.version_anchor_ref;
        v_status := 'created';
    elsif p_operation in ('create', 'revise') then
        v_version := gen_random_uuid();
        perform set_config('app.canonical_writer', 'fn_iu_revise', true);
        insert into public.unit_version (
            id, unit_id, body, content_hash, version_seq, created_by, source_version_id, document_order, title, unit_kind,
            section_type, publication_type, owner_ref, parent_unit_id)
        values (
            v_version, unit.id, p_body, public.fn_content_hash(p_body),
            (select max(v.version_seq) + 1 from public.unit_version v where v.unit_id = unit.id), p_actor,
            cutter_governance.fn_source_of_open_gate(unit.canonical_address), p_place, p_title,
            coalesce(p_unit_kind, 'law_unit'), coalesce(p_section_type, 'section'), p_publication_type,
            coalesce(p_owner_ref, p_actor), v_parent);
        perform set_config('app.canonical_writer', '', true);
        v_status := case p_operation when 'create' then 'revived' else 'revised' end;
    end if;
    insert into cutter_governance.revision_row (
        run_id, address, document_order, operation, unit_id, version_id, base_version_id, continues_unit_id)
    values (p_run_id, p_canonical_address, p_place, p_operation, unit.id,
        v_version, case when p_operation <> 'create' then unit.version_anchor_ref end,
        (select u.id from public.information_unit u
         where u.canonical_address = p_continues_address and u.deleted_at is null));
    return jsonb_build_object('canonical_address', p_canonical_address, 'unit_id', unit.id, 'version_id', v_version,
        'status', coalesce(v_status, 'repealed'));
end
$$;
