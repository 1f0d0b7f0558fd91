-- Lets an enacted law change. A source version says when it takes effect and why it exists. A version of a unit carries
-- everything that a later version may change, and its end. An enactment is one link in the chain of a law, and
-- revision_row is the plan of a revision. Columns are added apart from constraints, because the database that proves a
-- restore takes only the columns (cutter/backup/bare_schema.py).

-- `text` is a new text. `correction` is an erratum, or a better cut of the same text. `repeal` is the empty text.
alter table public.source_version
    add column effective_from date,
    add column change_kind text not null default 'text'
        constraint source_version_change_kind check (change_kind in ('text', 'correction', 'repeal')),
    add column change_reason text;
alter table public.source_version
    add constraint source_version_change_has_reason
        check ((change_kind = 'text') = (change_reason is null) and change_reason <> ''),
    -- a correction holds from the day from which its base holds
    add constraint source_version_correction_without_date check (change_kind <> 'correction' or effective_from is null),
    add constraint source_version_repeal_is_empty check (size_bytes >= 0 and (size_bytes = 0) = (change_kind = 'repeal'));
alter table public.source_version
    drop constraint source_version_size_bytes_check,
    -- a law may return to an earlier text, so the same text may be registered again (fn_source_register)
    drop constraint source_version_source_document_ref_content_checksum_profile_key;
create index source_version_of_text on public.source_version (source_document_ref, content_checksum);

alter table cutter_governance.run
    add column operation_kind text not null default 'first_cut'
        constraint run_operation_kind check (operation_kind in ('first_cut', 'revision', 'correction', 'repeal')),
    add column base_run_id text references cutter_governance.run,
    add column base_source_version_id uuid references public.source_version (id),
    add column base_receipt_hash text;
alter table cutter_governance.run
    add constraint run_base_is_whole check (
        (operation_kind = 'first_cut') = (base_run_id is null)
        and (base_run_id is null) = (base_source_version_id is null)
        and (base_run_id is null) = (base_receipt_hash is null));

alter table cutter_governance.manifest_envelope drop constraint manifest_envelope_operation_kind_check;
alter table cutter_governance.manifest_envelope
    add constraint manifest_envelope_operation_kind_check
        check (operation_kind in ('first_cut', 'split', 'merge', 'revision', 'correction', 'repeal'));

-- One enacted version of a whole law. Its rows are the blocks of its manifest: role `result` is in it, `origin` ended.
create table public.enactment (
    run_id text primary key references cutter_governance.run,
    source_document_ref text not null references public.source_document,
    n integer not null check (n > 0),
    operation_kind text not null check (operation_kind in ('first_cut', 'revision', 'correction', 'repeal')),
    source_version_id uuid not null references public.source_version (id),
    change_set_id uuid not null unique references cutter_governance.cut_change_set,
    base_run_id text references public.enactment,
    base_receipt_hash text,
    effective_from date not null,
    enacted_at timestamptz not null default clock_timestamp(),
    unique (source_document_ref, n),
    -- two revisions of one base are never both enacted
    constraint enactment_once_for_each_base unique nulls not distinct (source_document_ref, base_run_id),
    constraint enactment_base_is_whole check (
        (operation_kind = 'first_cut') = (base_run_id is null) and (base_run_id is null) = (base_receipt_hash is null)
        and (n = 1) = (base_run_id is null))
);

-- A version carries what a later version may change: the columns of its unit show the newest enacted version.
-- In force on day D: effective_from <= D and (effective_until is null or D < effective_until).
alter table public.unit_version
    add column source_version_id uuid references public.source_version (id),
    add column document_order integer check (document_order > 0),
    add column title text,
    add column unit_kind text,
    add column section_type text,
    add column publication_type text,
    add column owner_ref text,
    add column parent_unit_id uuid references public.information_unit,
    add column continues_unit_id uuid references public.information_unit,
    add column enacted_by uuid references cutter_governance.cut_change_set,
    add column effective_from date,
    add column effective_until date,
    add column ended_by uuid references cutter_governance.cut_change_set,
    add column ended_at timestamptz,
    add column withdrawn_at timestamptz,
    add column withdrawn_reason text;

-- the laws that were enacted before this migration
do $$
declare
    in_use constant boolean := exists (select from pg_catalog.pg_trigger where tgname = 'trg_uv_enacted_immut_always');
begin
    if in_use then
        alter table public.unit_version disable trigger user;
    end if;
    update public.unit_version v
    set source_version_id = coalesce(placed.source_version_id, (
            select s.id from public.source_version s join public.source_document d using (source_document_ref)
            where starts_with(u.canonical_address, d.address_docprefix || '/') order by s.version_seq desc limit 1)),
        document_order = coalesce(placed.render_order, 1), title = u.identity_profile ->> 'title',
        unit_kind = u.unit_kind, section_type = u.identity_profile ->> 'primary_section_type_ref',
        publication_type = u.identity_profile ->> 'publication_type_ref', owner_ref = u.owner_ref,
        parent_unit_id = u.parent_or_container_ref, effective_from = (v.enacted_at at time zone 'UTC')::date,
        enacted_by = case when v.enacted_at is not null then placed.change_set_id end,
        withdrawn_at = u.deleted_at, withdrawn_reason = u.withdrawn_reason
    from public.information_unit u
    left join lateral (
        select r.source_version_id, b.render_order, c.change_set_id
        from cutter_governance.manifest_unit_block b
        join cutter_governance.cut_change_set c on c.manifest_id = b.envelope_id
        join cutter_governance.run r on r.run_id = c.run_id
        where b.target_unit_id = u.id limit 1) placed on true
    where u.id = v.unit_id;
    insert into public.enactment (
        run_id, source_document_ref, n, operation_kind, source_version_id, change_set_id, effective_from, enacted_at)
    select r.run_id, d.source_document_ref, 1, 'first_cut', r.source_version_id, c.change_set_id,
        (g.sealed_at at time zone 'UTC')::date, g.sealed_at
    from cutter_governance.gate_receipt g
    join cutter_governance.run r on r.run_id = g.run_id and r.mode = 'live'
    join public.source_document d on d.doc_code = r.document_id
    join cutter_governance.cut_change_set c on c.run_id = r.run_id
    where g.gate = 'IG_lifecycle_enact_execute' and g.sealed_at is not null;
    if in_use then
        alter table public.unit_version enable trigger user;
        alter table public.unit_version enable always trigger trg_aa_uv_gateway_write_guard;
        alter table public.unit_version enable always trigger trg_uv_enacted_immut_always;
        alter table public.unit_version enable always trigger trg_uv_no_truncate;
        alter table public.unit_version enable always trigger trg_zz_uv_insert_gate;
        alter table public.unit_version enable always trigger trg_zz_uv_update_gate;
    end if;
end
$$;

alter table public.unit_version
    alter column source_version_id set not null,
    alter column document_order set not null,
    alter column title set not null,
    alter column unit_kind set not null,
    alter column section_type set not null,
    alter column owner_ref set not null;
alter table public.unit_version
    add constraint unit_version_lifecycle
        check (lifecycle_status in ('draft', 'enacted', 'superseded', 'retired')),
    -- a draft takes effect with its enactment, and only a version that ended has an end
    add constraint unit_version_enacted_is_whole check (
        (lifecycle_status = 'draft') = (effective_from is null) and (lifecycle_status = 'draft') = (enacted_at is null)
        and (lifecycle_status <> 'draft' or enacted_by is null)),
    add constraint unit_version_end_is_whole check (
        (lifecycle_status in ('superseded', 'retired')) = (effective_until is not null)
        and (effective_until is null) = (ended_by is null) and (effective_until is null) = (ended_at is null)),
    add constraint unit_version_ends_after_it_begins check (effective_until >= effective_from),
    add constraint unit_version_withdrawn_draft check (
        (withdrawn_at is null) = (withdrawn_reason is null) and (withdrawn_at is null or lifecycle_status = 'draft'));
create unique index unit_version_enacted_once on public.unit_version (unit_id) where lifecycle_status = 'enacted';

-- Each row of the plan of a revision, also the kept and the repealed ones. Leg A writes it, and the database rebuilds the
-- writer digest from it. `version_id` holds afterwards and `base_version_id` is in the base; a kept row has one for both.
create table cutter_governance.revision_row (
    run_id text not null references cutter_governance.run,
    address text collate "C" not null,
    document_order integer not null check (document_order > 0),
    operation text not null constraint revision_row_operation check (operation in ('keep', 'revise', 'create', 'repeal')),
    unit_id uuid not null references public.information_unit,
    version_id uuid references public.unit_version,
    base_version_id uuid references public.unit_version,
    continues_unit_id uuid references public.information_unit,
    primary key (run_id, address),
    unique (run_id, document_order),
    unique (run_id, unit_id),
    constraint revision_row_versions_of_operation check (case operation
        when 'keep' then version_id is not null and version_id is not distinct from base_version_id
        when 'revise' then version_id is not null and base_version_id is not null and version_id <> base_version_id
        when 'create' then version_id is not null and base_version_id is null
        when 'repeal' then version_id is null and base_version_id is not null end),
    constraint revision_row_only_created_continues check (continues_unit_id is null or operation = 'create')
);

-- The blocks of a first cut are all of the operation `create`. A block of the role `origin` is a repealed unit.
alter table cutter_governance.manifest_unit_block
    add column operation text not null default 'create'
        constraint manifest_unit_block_operation check (operation in ('keep', 'revise', 'create', 'repeal')),
    add column target_version_id uuid references public.unit_version;
alter table cutter_governance.manifest_unit_block
    add constraint manifest_unit_block_role_of_operation check ((block_role = 'origin') = (operation = 'repeal'));

alter table cutter_governance.cut_change_set_affected_row
    alter column unit_version_id drop not null,
    add column ended_version_id uuid references public.unit_version;
alter table cutter_governance.cut_change_set_affected_row
    add constraint cut_change_set_affected_row_operation check (operation in ('create', 'revise', 'repeal')),
    add constraint cut_change_set_affected_row_versions check (
        (operation = 'repeal') = (unit_version_id is null) and (operation = 'create') = (ended_version_id is null));
