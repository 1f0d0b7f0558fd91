-- The only writers of units, and the triggers that refuse everyone else (facts-domain "Functions", "Triggers").

create function public.fn_content_hash(p_body text) returns text
language sql immutable strict parallel safe
set search_path = pg_catalog, public, pg_temp
return encode(sha256(convert_to(p_body, 'UTF8')), 'hex');

-- Refuses a write that no gateway function is making right now, for a run whose gate stands open in this very
-- transaction. Anyone can set the marker; the missing grant and the open gate are the walls. A sealed receipt closes the
-- gate, so that what is checked at COMMIT (or earlier, by SET CONSTRAINTS) is the last word.
create function public.fn_iu_gateway_guard() returns trigger
language plpgsql security definer
set search_path = pg_catalog, public, pg_temp
as $$
declare
    marker text := coalesce(current_setting('app.canonical_writer', true), '');
    v_address text;
begin
    if tg_op = 'DELETE' or session_user <> 'cutter_exec'
        or marker not in ('fn_iu_create', 'fn_iu_apply_edit_draft', 'fn_iu_enact', 'fn_iu_withdraw_drafts')
    then
        raise exception 'IU Gateway blocked: % on % by % outside the gateway functions', tg_op, tg_table_name, session_user
            using errcode = 'CU001';
    end if;
    if tg_table_name = 'information_unit' then
        v_address := new.canonical_address;
    else
        select u.canonical_address into v_address from public.information_unit u where u.id = new.unit_id;
    end if;
    if marker = 'fn_iu_withdraw_drafts' then
        perform from cutter_governance.void_record v
        join cutter_governance.run r on r.run_id = v.run_id
        where v.opened_xid = pg_current_xact_id() and v.closed_at is null and starts_with(v_address, r.docprefix || '/');
    else
        perform from cutter_governance.gate_receipt g
        join cutter_governance.run r on r.run_id = g.run_id
        where g.opened_xid = pg_current_xact_id() and g.sealed_at is null and g.prev_hash <> ''
            and starts_with(v_address, r.docprefix || '/')
            and g.gate = case marker when 'fn_iu_enact' then 'IG_lifecycle_enact_execute' else 'IG_cut_leg_a_execute' end;
    end if;
    if not found then
        raise exception 'IU Gateway blocked: % for %: no gate of its run stands open in this transaction', marker, v_address
            using errcode = 'CU007';
    end if;
    return new;
end
$$;

create trigger trg_aa_iu_gateway_write_guard before insert or update or delete on public.information_unit
    for each row execute function public.fn_iu_gateway_guard();
create trigger trg_aa_uv_gateway_write_guard before insert or update or delete on public.unit_version
    for each row execute function public.fn_iu_gateway_guard();
alter table public.information_unit enable always trigger trg_aa_iu_gateway_write_guard;
alter table public.unit_version enable always trigger trg_aa_uv_gateway_write_guard;

create function public.fn_enacted_immutable() returns trigger
language plpgsql security definer
set search_path = pg_catalog, public, pg_temp
as $$
begin
    if tg_op = 'TRUNCATE' then
        raise exception '% may not be truncated: it holds enacted law', tg_table_name using errcode = 'CU002';
    end if;
    if old.lifecycle_status <> 'draft' then
        raise exception '% %: enacted law is immutable', tg_table_name, old.id using errcode = 'CU002';
    end if;
    if tg_op = 'DELETE' then
        return old;
    end if;
    return new;
end
$$;

create trigger trg_iu_enacted_immut before update or delete on public.information_unit
    for each row execute function public.fn_enacted_immutable();
create trigger trg_uv_enacted_immut before update or delete on public.unit_version
    for each row execute function public.fn_enacted_immutable();
-- twins that hold in replica mode too, where the ones above are skipped
create trigger trg_iu_enacted_immut_always before update or delete on public.information_unit
    for each row execute function public.fn_enacted_immutable();
create trigger trg_uv_enacted_immut_always before update or delete on public.unit_version
    for each row execute function public.fn_enacted_immutable();
create trigger trg_iu_no_truncate before truncate on public.information_unit
    for each statement execute function public.fn_enacted_immutable();
create trigger trg_uv_no_truncate before truncate on public.unit_version
    for each statement execute function public.fn_enacted_immutable();
alter table public.information_unit enable always trigger trg_iu_enacted_immut_always;
alter table public.unit_version enable always trigger trg_uv_enacted_immut_always;
alter table public.information_unit enable always trigger trg_iu_no_truncate;
alter table public.unit_version enable always trigger trg_uv_no_truncate;

create function public.fn_iu_birth_gate_layer1() returns trigger
language plpgsql security definer
set search_path = pg_catalog, public, pg_temp
as $$
declare
    missing text;
begin
    select family || ' ' || coalesce(code, '(none)') into missing
    from (values ('unit_kind', new.unit_kind),
                 ('section_type', new.identity_profile ->> 'primary_section_type_ref'),
                 ('publication_type', new.identity_profile ->> 'publication_type_ref'),
                 ('owner', new.owner_ref)) as wanted (family, code)
    where not exists (
        select from public.vocabulary v where v.family = wanted.family and v.code = wanted.code)
        and not (wanted.family = 'publication_type' and wanted.code is null)
    limit 1;
    if missing is not null then
        raise exception '%: % is not in the vocabulary', new.canonical_address, missing using errcode = 'CU003';
    end if;
    if new.lifecycle_status <> 'draft' then
        raise exception '%: units are born as drafts', new.canonical_address using errcode = 'CU003';
    end if;
    return new;
end
$$;

create trigger trg_iu_birth_gate_layer1 before insert on public.information_unit
    for each row execute function public.fn_iu_birth_gate_layer1();

create function public.fn_iu_birth_gate_layer2() returns trigger
language plpgsql security definer
set search_path = pg_catalog, public, pg_temp
as $$
begin
    if not exists (
        select from public.information_unit u
        join public.unit_version v on v.id = u.version_anchor_ref and v.unit_id = u.id
        where u.id = new.id and u.content_anchor_ref = v.id::text and u.lifecycle_status = v.lifecycle_status)
    then
        raise exception '%: anchors do not agree at commit', new.canonical_address using errcode = 'CU004';
    end if;
    return null;
end
$$;

create constraint trigger trg_iu_birth_gate_layer2 after insert or update on public.information_unit
    deferrable initially deferred for each row execute function public.fn_iu_birth_gate_layer2();

create function public.fn_iu_create_plan(
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

create function public.fn_iu_create(
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
    insert into public.unit_version (id, unit_id, body, content_hash, version_seq, created_by)
    values (v_version, v_unit, p_body, public.fn_content_hash(p_body), 1, p_actor);
    perform set_config('app.canonical_writer', '', true);
    return jsonb_build_object('status', 'created', 'canonical_address', p_canonical_address, 'unit_id', v_unit,
                              'version_id', v_version, 'invariants_verified', true);
end
$$;

create function public.fn_iu_apply_edit_draft(p_draft_id uuid, p_actor text) returns jsonb
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
    insert into public.unit_version (id, unit_id, body, content_hash, version_seq, lifecycle_status, created_by)
    values (v_version, unit.id, draft.body, public.fn_content_hash(draft.body), v_seq, unit.lifecycle_status, p_actor);
    update public.information_unit u
    set content_anchor_ref = v_version::text, version_anchor_ref = v_version, updated_at = clock_timestamp(),
        updated_by = p_actor
    where u.id = unit.id;
    perform set_config('app.canonical_writer', '', true);
    return jsonb_build_object('status', 'applied', 'version_id', v_version);
end
$$;

create function public.fn_iu_enact(
    p_canonical_address text, p_actor text, p_review_decision_id uuid, p_target_lifecycle text default 'enacted',
    p_change_set_id uuid default null, p_reason text default null, p_tool_revision text default null,
    p_dry_run boolean default false) returns jsonb
language plpgsql volatile security definer
set search_path = pg_catalog, public, pg_temp
as $$
declare
    unit public.information_unit;
begin
    if p_target_lifecycle <> 'enacted' then
        return jsonb_build_object('status', 'refused_target', 'canonical_address', p_canonical_address);
    end if;
    if not exists (
        select from cutter_governance.review_decision d
        join cutter_governance.cut_change_set c on c.run_id = d.run_id
        where d.review_decision_id = p_review_decision_id and d.type = 'lifecycle_enactment' and d.verdict = 'PASS'
            and c.change_set_id = p_change_set_id)
    then
        return jsonb_build_object('status', 'refused_review_decision', 'canonical_address', p_canonical_address);
    end if;
    if not p_dry_run and not exists (
        select from cutter_governance.approval_consumption c
        where c.consumed_xid = pg_current_xact_id() and c.review_decision_id = p_review_decision_id)
    then
        return jsonb_build_object('status', 'refused_not_approved_here', 'canonical_address', p_canonical_address);
    end if;
    select * into unit from public.information_unit u
    where u.canonical_address = p_canonical_address and u.deleted_at is null for update;
    if not found then
        return jsonb_build_object('status', 'refused_unknown_unit', 'canonical_address', p_canonical_address);
    end if;
    if unit.lifecycle_status = 'enacted' then
        return jsonb_build_object('status', 'already_enacted', 'canonical_address', p_canonical_address);
    end if;
    if not exists (
        select from cutter_governance.cut_change_set_affected_row r
        join public.unit_version v on v.id = r.unit_version_id and v.id = unit.version_anchor_ref
        where r.change_set_id = p_change_set_id and r.unit_id = unit.id
            and r.content_hash = v.content_hash and v.content_hash = public.fn_content_hash(v.body))
    then
        return jsonb_build_object('status', 'refused_not_in_change_set', 'canonical_address', p_canonical_address);
    end if;
    if p_dry_run then
        return jsonb_build_object('status', 'dry_run_ok', 'canonical_address', p_canonical_address);
    end if;
    perform set_config('app.canonical_writer', 'fn_iu_enact', true);
    update public.unit_version v set lifecycle_status = 'enacted', enacted_at = clock_timestamp()
    where v.id = unit.version_anchor_ref;
    update public.information_unit u
    set lifecycle_status = 'enacted', updated_at = clock_timestamp(), updated_by = p_actor
    where u.id = unit.id;
    perform set_config('app.canonical_writer', '', true);
    insert into public.iu_lifecycle_log (
        unit_id, from_status, to_status, actor, review_decision_id, change_set_id, reason, tool_revision)
    values (unit.id, 'draft', 'enacted', p_actor, p_review_decision_id, p_change_set_id, p_reason, p_tool_revision);
    return jsonb_build_object('status', 'enacted', 'canonical_address', p_canonical_address, 'unit_id', unit.id);
end
$$;

-- The stored rows under a docprefix, digested exactly as cutter.domain.digests.writer_digest does it.
create function cutter_governance.fn_writer_digest(p_docprefix text) returns text
language sql stable security definer
set search_path = pg_catalog, public, pg_temp
as $$
    select encode(sha256(convert_to('writer/1' || coalesce(string_agg(E'\n' || line, '' order by address), ''), 'UTF8')), 'hex')
    from (
        select u.canonical_address as address,
            concat_ws(E'\x1f', u.canonical_address, u.unit_kind, u.identity_profile ->> 'primary_section_type_ref',
                coalesce(u.identity_profile ->> 'publication_type_ref', ''), u.owner_ref,
                u.identity_profile ->> 'title', encode(sha256(convert_to(v.body, 'UTF8')), 'hex'),
                case when p.deleted_at is null then coalesce(p.canonical_address, '') else '' end) as line
        from public.information_unit u
        join public.unit_version v on v.id = u.version_anchor_ref
        left join public.information_unit p on p.id = u.parent_or_container_ref
        where u.canonical_address >= p_docprefix || '/' collate "C" and u.canonical_address < p_docprefix || '0' collate "C"
            and u.deleted_at is null) as rows
$$;
