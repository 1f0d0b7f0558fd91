-- The law itself: sources, units, versions, their log and vocabularies (facts-domain "Tables, schema public").
-- Only the fn_iu_* functions write rows of information_unit and unit_version (functions/units, triggers).

create schema cutter_governance;
revoke all on schema public from public;
revoke all on schema cutter_governance from public;
alter default privileges revoke execute on functions from public;

create table public.vocabulary (
    family text not null,
    code text not null,
    primary key (family, code)
);

insert into public.vocabulary (family, code)
select 'section_type', unnest(array[
    'appendix', 'article', 'changelog', 'checklist', 'definition', 'governance_process', 'heading',
    'instruction_block', 'paragraph', 'principle', 'process', 'section', 'technical_spec'])
union all select 'unit_kind', 'law_unit'
union all select 'publication_type', 'law'
union all select 'owner', unnest(array['incomex_council', 'legislature', 'government'])
union all select 'lifecycle', unnest(array['draft', 'enacted', 'superseded', 'retired'])
union all select 'source_status', unnest(array['enacted', 'controlled_draft', 'draft', 'obsolete'])
union all select 'review_decision_type', unnest(array['cut', 'lifecycle_enactment']);

create table public.source_document (
    source_document_ref text primary key,
    id uuid not null unique default gen_random_uuid(),
    doc_code text not null unique
        constraint source_document_code_form check (doc_code ~ '^[A-Z0-9-]{3,64}$'),
    tenant text not null default 'default',
    address_docprefix text collate "C" not null unique
        constraint source_document_docprefix_form
        check (address_docprefix ~ '^[A-Z0-9][A-Z0-9-]{1,30}[A-Z0-9]$')
        constraint source_document_docprefix_not_reserved
        check (address_docprefix !~ '^DIEU' and address_docprefix <> 'ICX-CONST'),
    source_url text,
    source_family text not null,
    authority_class text not null,
    display_vi text,
    display_en text,
    lifecycle text not null default 'active' check (lifecycle in ('active', 'retired')),
    forbidden_ids text[] not null default '{}',
    registered_by text not null,
    registered_at timestamptz not null default clock_timestamp()
);

create table public.source_snapshot (
    sha256 text primary key,
    bytes bytea not null,
    constraint source_snapshot_addressed_by_content check (sha256 = encode(sha256(bytes), 'hex'))
);

create table public.source_version (
    document_version_id text primary key,
    id uuid not null unique default gen_random_uuid(),
    source_document_ref text not null references public.source_document,
    version_seq integer not null check (version_seq > 0),
    content_checksum text not null references public.source_snapshot,
    size_bytes bigint not null check (size_bytes > 0),
    retrieval_timestamp timestamptz not null default clock_timestamp(),
    source_format text not null default 'markdown',
    authoritative_version boolean not null default true,
    version_status text not null default 'registered',
    provenance jsonb not null default '{}',
    profile_id text not null,
    profile_sha256 text not null,
    profile_body text not null,
    marking_options jsonb not null default '{}',
    manifest_digest text,
    registered_by text not null,
    registered_at timestamptz not null default clock_timestamp(),
    unique (source_document_ref, version_seq),
    unique (source_document_ref, content_checksum, profile_sha256, marking_options),
    constraint source_version_profile_addressed_by_content
        check (profile_sha256 = encode(sha256(convert_to(profile_body, 'UTF8')), 'hex'))
);

create table public.information_unit (
    id uuid primary key,
    canonical_address text collate "C" not null
        constraint information_unit_address_form check (canonical_address ~ '^[A-Z0-9-]+(/[A-Za-z0-9~._-]+)+$'),
    unit_kind text not null,
    lifecycle_status text not null default 'draft',
    content_anchor_ref text,
    version_anchor_ref uuid,
    owner_ref text not null,
    parent_or_container_ref uuid references public.information_unit,
    conformance_status text not null default 'open',
    identity_profile jsonb not null,
    created_at timestamptz not null default clock_timestamp(),
    created_by text not null,
    updated_at timestamptz not null default clock_timestamp(),
    updated_by text not null,
    deleted_at timestamptz,
    withdrawn_reason text,
    constraint information_unit_title_form
        check (identity_profile ->> 'title' is not null and identity_profile ->> 'title' !~ '[\n\x1f]'),
    constraint information_unit_withdrawn_with_reason check ((deleted_at is null) = (withdrawn_reason is null))
);
create unique index information_unit_address_key on public.information_unit (canonical_address)
    where deleted_at is null;

create table public.unit_version (
    id uuid primary key,
    unit_id uuid not null references public.information_unit,
    body text not null,
    content_hash text not null,
    version_seq integer not null check (version_seq > 0),
    lifecycle_status text not null default 'draft',
    content_profile jsonb not null default '{}',
    created_at timestamptz not null default clock_timestamp(),
    created_by text not null,
    enacted_at timestamptz,
    review_state text not null default 'none',
    unique (unit_id, version_seq),
    constraint unit_version_hash_of_body check (content_hash = encode(sha256(convert_to(body, 'UTF8')), 'hex'))
);

alter table public.information_unit
    add constraint information_unit_version_anchor_fkey foreign key (version_anchor_ref)
    references public.unit_version deferrable initially deferred;

create table public.iu_edit_draft (
    id uuid primary key,
    unit_id uuid not null references public.information_unit,
    body text not null,
    created_by text not null
);

create table public.iu_lifecycle_log (
    id bigint generated always as identity primary key,
    unit_id uuid not null references public.information_unit,
    from_status text not null,
    to_status text not null,
    actor text not null,
    review_decision_id uuid,
    change_set_id uuid,
    reason text,
    tool_revision text,
    at timestamptz not null default clock_timestamp()
);
create index iu_lifecycle_log_change_set on public.iu_lifecycle_log (change_set_id);
