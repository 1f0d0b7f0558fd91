-- Returns the writer digest of a revision from its stored rows, equal to cutter.marking.revision.revision_digest. It covers
-- the operation, the base, and every row: also the kept and the repealed ones. Each line is that of the writer digest. It is
-- made for all versions at once, because a call for each kept unit costs more.
create or replace function cutter_governance.fn_revision_digest(p_run_id text) returns text
language sql stable security definer
set search_path = pg_catalog, public, pg_temp
as $$
    with used as materialized (
        select v.id, concat_ws(E'\x1f', u.canonical_address, v.unit_kind, v.section_type, coalesce(v.publication_type, ''),
            v.owner_ref, v.title, encode(sha256(convert_to(v.body, 'UTF8')), 'hex'), coalesce(p.canonical_address, '')) as line
        from (
            select w.version_id as id from cutter_governance.revision_row w where w.run_id = p_run_id
            union all
            select w.base_version_id from cutter_governance.revision_row w
            where w.run_id = p_run_id and w.base_version_id is distinct from w.version_id) as named
        join public.unit_version v on v.id = named.id
        join public.information_unit u on u.id = v.unit_id
        left join public.information_unit p on p.id = v.parent_unit_id)
    select encode(sha256(convert_to(concat_ws(E'\n', 'writer/2',
        concat_ws(E'\x1f', r.operation_kind, r.base_source_version_id, r.base_receipt_hash), lines.list), 'UTF8')), 'hex')
    from cutter_governance.run r
    cross join lateral (
        select string_agg(concat_ws(E'\x1f', coalesce(begun.line, ended.line), w.operation,
            coalesce(encode(sha256(convert_to(ended.line, 'UTF8')), 'hex'), ''), coalesce(c.canonical_address, '')),
            E'\n' order by w.address) as list
        from cutter_governance.revision_row w
        left join used begun on begun.id = w.version_id
        left join used ended on ended.id = w.base_version_id
        left join public.information_unit c on c.id = w.continues_unit_id
        where w.run_id = r.run_id) as lines
    where r.run_id = p_run_id
$$;
