-- Returns the fingerprint that the rows of a run will have after its enactment.
create or replace function cutter_governance.fn_fingerprint_after(p_run cutter_governance.run) returns text
language sql stable security definer
set search_path = pg_catalog, public, pg_temp
as $$
    select case when p_run.operation_kind = 'first_cut'
        then cutter_governance.fn_rows_fingerprint(p_run.docprefix, 'enacted') ->> 'fingerprint'
        else (select cutter_governance.fn_digest(coalesce(string_agg(line, E'\n' order by address), ''))
              from (
            select u.canonical_address as address,
                concat(u.canonical_address, ' ', encode(sha256(convert_to(v.body, 'UTF8')), 'hex'), ' ', v.content_hash,
                    ' ', after.status, ' ', after.status, ' ', u.id, ' ', v.id, ' ', v.unit_id, ' ', v.id, ' ',
                    v.version_seq, ' ', v.parent_unit_id, ' ', v.unit_kind, ' ', v.owner_ref, ' ', u.conformance_status,
                    ' ', public.fn_version_profile(v), ' ', v.content_profile, ' ',
                    (select count(*) from public.unit_version o where o.unit_id = u.id), ' ',
                    concat_ws(' ', v.source_version_id, v.document_order, v.title, v.unit_kind, v.section_type,
                        v.publication_type, v.owner_ref, v.parent_unit_id)) as line
            from public.information_unit u
            left join cutter_governance.revision_row w on w.run_id = p_run.run_id and w.unit_id = u.id
            join public.unit_version v on v.id = coalesce(w.version_id, u.version_anchor_ref)
            cross join lateral (select case w.operation when 'repeal' then 'retired' when 'revise' then 'enacted'
                when 'create' then 'enacted' else u.lifecycle_status end as status) as after
            where u.canonical_address >= p_run.docprefix || '/' collate "C"
                and u.canonical_address < p_run.docprefix || '0' collate "C" and u.deleted_at is null) as rows) end
$$;
