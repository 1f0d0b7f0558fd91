-- Returns a key of the stored row versions of the units under a docprefix and of all their versions, as in
-- fn_catalog_keys. Two equal keys of one transaction mean equal rows, without reading their texts.
create or replace function cutter_governance.fn_rows_versions(p_docprefix text) returns text
language sql stable security definer
set search_path = pg_catalog, public, pg_temp
as $$
    select concat_ws(' ',
        (select concat(count(*), '.', bit_xor(hashtidextended(u.ctid, hashxidextended(u.xmin, 0))))
         from public.information_unit u
         where u.canonical_address >= p_docprefix || '/' collate "C" and u.canonical_address < p_docprefix || '0' collate "C"
            and u.deleted_at is null),
        (select concat(count(*), '.', bit_xor(hashtidextended(v.ctid, hashxidextended(v.xmin, 0))))
         from public.information_unit u
         join public.unit_version v on v.unit_id = u.id
         where u.canonical_address >= p_docprefix || '/' collate "C" and u.canonical_address < p_docprefix || '0' collate "C"
            and u.deleted_at is null))
$$;
