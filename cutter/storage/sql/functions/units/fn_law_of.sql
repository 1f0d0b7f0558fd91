-- Returns the units of the law that a run enacted, in document order, with the versions that its manifest names. The blocks
-- of a manifest from before migration 0009 name no version, so its change set does.
create or replace function public.fn_law_of(p_run_id text) returns table (
    document_order integer, address text, unit_id uuid, version_id uuid, title text, body_sha256 text, unit_kind text,
    section_type text, publication_type text, owner text, parent_address text)
language sql stable security definer
set search_path = pg_catalog, public, pg_temp
as $$
    select b.render_order, u.canonical_address, u.id, v.id, v.title, v.content_hash, v.unit_kind, v.section_type,
        v.publication_type, v.owner_ref, p.canonical_address
    from public.enactment e
    join cutter_governance.cut_change_set c on c.change_set_id = e.change_set_id
    join cutter_governance.manifest_unit_block b on b.envelope_id = c.manifest_id and b.block_role = 'result'
    join public.unit_version v on v.id = coalesce(b.target_version_id, (
        select a.unit_version_id from cutter_governance.cut_change_set_affected_row a
        where a.change_set_id = c.change_set_id and a.unit_id = b.target_unit_id))
    join public.information_unit u on u.id = v.unit_id
    left join public.information_unit p on p.id = v.parent_unit_id
    where e.run_id = p_run_id
    order by b.render_order
$$;
