-- Creates one draft unit with its first version, or returns the plan's status. Holds an advisory lock on the address
-- until the transaction ends. The version belongs to the source version of the open gate's run.
create or replace function public.fn_iu_create(
    p_canonical_address text, p_title text, p_body text, p_actor text, p_unit_kind text default null,
    p_section_type text default null, p_owner_ref text default null, p_publication_type text default null,
    p_parent_ref uuid default null) returns jsonb
language plpgsql volatile security definer
set search_path = pg_catalog, public, pg_temp
as $$
declare
    plan jsonb;
    v_unit uuid := gen_random_uuid();
    v_version uuid := gen_random_uuid();
    v_profile jsonb;
    -- counted from 1 in this transaction: the verifier compares the stored places with the plan
    v_place integer := set_config('app.document_order',
        (coalesce(nullif(current_setting('app.document_order', true), ''), '0')::integer + 1)::text, true)::integer;
begin
    perform pg_advisory_xact_lock(hashtext(p_canonical_address));
    plan := public.fn_iu_create_plan(p_canonical_address, p_title, p_body, p_actor);
    if plan ->> 'status' <> 'plan_ok' then
        return plan;
    end if;
    v_profile := jsonb_strip_nulls(jsonb_build_object(
        'title', p_title, 'owner_lookup_ref', coalesce(p_owner_ref, p_actor),
        'primary_section_type_ref', coalesce(p_section_type, 'section'), 'publication_type_ref', p_publication_type));
    perform set_config('app.canonical_writer', 'fn_iu_create', true);
    insert into public.information_unit (
        id, canonical_address, unit_kind, content_anchor_ref, version_anchor_ref, owner_ref, parent_or_container_ref,
        identity_profile, created_by, updated_by)
    values (
        v_unit, p_canonical_address, coalesce(p_unit_kind, 'law_unit'), v_version::text, v_version,
        coalesce(p_owner_ref, p_actor), p_parent_ref, v_profile, p_actor, p_actor);
    insert into public.unit_version (
        id, unit_id, body, content_hash, version_seq, created_by, source_version_id, document_order, title, unit_kind,
        section_type, publication_type, owner_ref, parent_unit_id)
    values (
        v_version, v_unit, p_body, public.fn_content_hash(p_body), 1, p_actor,
        cutter_governance.fn_source_of_open_gate(p_canonical_address), v_place, p_title,
        coalesce(p_unit_kind, 'law_unit'), coalesce(p_section_type, 'section'), p_publication_type,
        coalesce(p_owner_ref, p_actor), p_parent_ref);
    perform set_config('app.canonical_writer', '', true);
    return jsonb_build_object('status', 'created', 'canonical_address', p_canonical_address, 'unit_id', v_unit,
                              'version_id', v_version, 'invariants_verified', true);
end
$$;
