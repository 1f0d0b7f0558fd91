-- Returns the writer digest of a revision from its stored rows, equal to cutter.marking.revision.revision_digest. It covers
-- the operation, the base, and every row: also the kept and the repealed ones.
create or replace function cutter_governance.fn_revision_digest(p_run_id text) returns text
language sql stable security definer
set search_path = pg_catalog, public, pg_temp
as $$
    select encode(sha256(convert_to(concat_ws(E'\n', 'writer/2',
        concat_ws(E'\x1f', r.operation_kind, r.base_source_version_id, r.base_receipt_hash), lines.list), 'UTF8')), 'hex')
    from cutter_governance.run r
    cross join lateral (
        select string_agg(concat_ws(E'\x1f', cutter_governance.fn_version_line(coalesce(w.version_id, w.base_version_id)),
            w.operation, coalesce(encode(sha256(convert_to(
                cutter_governance.fn_version_line(w.base_version_id), 'UTF8')), 'hex'), ''),
            coalesce(c.canonical_address, '')), E'\n' order by w.address) as list
        from cutter_governance.revision_row w
        left join public.information_unit c on c.id = w.continues_unit_id
        where w.run_id = r.run_id) as lines
    where r.run_id = p_run_id
$$;
