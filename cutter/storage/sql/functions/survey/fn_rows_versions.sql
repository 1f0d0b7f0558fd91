-- Returns a digest of which stored row versions the units under a docprefix and their versions are. PostgreSQL gives a
-- changed row another place or another transaction, so an equal digest means equal rows, without reading their texts.
create or replace function cutter_governance.fn_rows_versions(p_docprefix text) returns text
language sql stable security definer
set search_path = pg_catalog, public, pg_temp
as $$
    select cutter_governance.fn_digest(coalesce(
        string_agg(concat(u.ctid, u.xmin, ' ', v.ctid, v.xmin), E'\n' order by u.ctid, v.ctid), ''))
    from public.information_unit u
    left join public.unit_version v on v.unit_id = u.id
    where u.canonical_address >= p_docprefix || '/' collate "C" and u.canonical_address < p_docprefix || '0' collate "C"
$$;
