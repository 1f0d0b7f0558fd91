-- Returns the count and a content fingerprint of the units under a docprefix, with the drafts that wait next to the law in
-- force. With p_as_status it returns the fingerprint that the same rows would have in that lifecycle status, which is
-- how the effect of a first enactment is predicted.
create or replace function cutter_governance.fn_rows_fingerprint(p_docprefix text, p_as_status text default null) returns jsonb
language sql stable security definer
set search_path = pg_catalog, public, pg_temp
as $$
    select jsonb_build_object('count', count(*) filter (where not beside), 'fingerprint',
        cutter_governance.fn_digest(coalesce(string_agg(line, E'\n' order by address, beside), '')))
    from (
        select u.canonical_address as address, false as beside,
            concat(u.canonical_address, ' ', encode(sha256(convert_to(v.body, 'UTF8')), 'hex'), ' ', v.content_hash, ' ',
                coalesce(p_as_status, u.lifecycle_status), ' ', coalesce(p_as_status, v.lifecycle_status), ' ',
                u.id, ' ', v.id, ' ', v.unit_id, ' ', u.content_anchor_ref, ' ', v.version_seq, ' ',
                u.parent_or_container_ref, ' ', u.unit_kind, ' ', u.owner_ref, ' ', u.conformance_status, ' ',
                u.identity_profile, ' ', v.content_profile, ' ',
                (select count(*) from public.unit_version o where o.unit_id = u.id), ' ',
                concat_ws(' ', v.source_version_id, v.document_order, v.title, v.unit_kind, v.section_type,
                    v.publication_type, v.owner_ref, v.parent_unit_id)) as line
        from public.information_unit u
        left join public.unit_version v on v.id = u.version_anchor_ref
        where u.canonical_address >= p_docprefix || '/' collate "C" and u.canonical_address < p_docprefix || '0' collate "C"
            and u.deleted_at is null
        union all
        select u.canonical_address, true, cutter_governance.fn_draft_line(v)
        from public.information_unit u
        join public.unit_version v on v.unit_id = u.id and v.lifecycle_status = 'draft' and v.withdrawn_at is null
        where u.canonical_address >= p_docprefix || '/' collate "C" and u.canonical_address < p_docprefix || '0' collate "C"
            and u.deleted_at is null and u.lifecycle_status <> 'draft') as rows
$$;
