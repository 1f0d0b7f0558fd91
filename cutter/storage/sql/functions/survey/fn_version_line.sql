-- Returns the line of the writer digest for a version of a unit, equal to cutter.domain.digests.writer_line.
create or replace function cutter_governance.fn_version_line(p_version_id uuid) returns text
language sql stable security definer
set search_path = pg_catalog, public, pg_temp
as $$
    select concat_ws(E'\x1f', u.canonical_address, v.unit_kind, v.section_type, coalesce(v.publication_type, ''),
        v.owner_ref, v.title, encode(sha256(convert_to(v.body, 'UTF8')), 'hex'), coalesce(p.canonical_address, ''))
    from public.unit_version v
    join public.information_unit u on u.id = v.unit_id
    left join public.information_unit p on p.id = v.parent_unit_id
    where v.id = p_version_id
$$;
