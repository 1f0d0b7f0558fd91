-- Returns the digest of the units under a docprefix, equal to cutter.domain.digests.writer_digest.
create or replace function cutter_governance.fn_writer_digest(p_docprefix text) returns text
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
