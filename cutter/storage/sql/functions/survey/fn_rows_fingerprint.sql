-- Returns the count and a content fingerprint of the units under a docprefix, with the drafts next to the law in force.
-- With p_as_status it is that of the same rows in that lifecycle status, which predicts a first enactment.
create or replace function cutter_governance.fn_rows_fingerprint(p_docprefix text, p_as_status text default null) returns jsonb
language sql stable security definer
set search_path = pg_catalog, public, pg_temp
as $$
    select jsonb_build_object('count', count(*), 'fingerprint',
        cutter_governance.fn_digest(coalesce(string_agg(concat_ws(E'\n', line, beside), E'\n' order by address), '')))
    from (
        select u.canonical_address as address,
            concat(u.canonical_address, ' ', encode(sha256(convert_to(v.body, 'UTF8')), 'hex'), ' ', v.content_hash, ' ',
                coalesce(p_as_status, u.lifecycle_status), ' ', coalesce(p_as_status, v.lifecycle_status), ' ',
                u.id, ' ', v.id, ' ', v.unit_id, ' ', u.content_anchor_ref, ' ', v.version_seq, ' ',
                u.parent_or_container_ref, ' ', u.unit_kind, ' ', u.owner_ref, ' ', u.conformance_status, ' ',
                u.identity_profile, ' ', v.content_profile, ' ', every.number, ' ',
                concat_ws(' ', v.source_version_id, v.document_order, v.title, v.unit_kind, v.section_type,
                    v.publication_type, v.owner_ref, v.parent_unit_id)) as line,
            case when u.lifecycle_status <> 'draft' then every.drafts end as beside
        from public.information_unit u
        left join public.unit_version v on v.id = u.version_anchor_ref
        cross join lateral (
            select count(*) as number, string_agg(concat('draft ', o.id, ' ', o.version_seq, ' ', o.content_hash, ' ',
                    -- the line of the writer digest, equal to cutter.domain.digests.writer_line
                    cutter_governance.fn_digest(concat_ws(E'\x1f', u.canonical_address, o.unit_kind, o.section_type,
                        coalesce(o.publication_type, ''), o.owner_ref, o.title,
                        encode(sha256(convert_to(o.body, 'UTF8')), 'hex'), coalesce((
                            select p.canonical_address from public.information_unit p where p.id = o.parent_unit_id), '')))),
                    E'\n' order by o.version_seq)
                filter (where o.lifecycle_status = 'draft' and o.withdrawn_at is null) as drafts
            from public.unit_version o where o.unit_id = u.id) as every
        where u.canonical_address >= p_docprefix || '/' collate "C" and u.canonical_address < p_docprefix || '0' collate "C"
            and u.deleted_at is null) as units
$$;
