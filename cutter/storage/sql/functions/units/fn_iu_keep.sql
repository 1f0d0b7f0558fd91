-- Writes the rows of a revision that keep their units, all in one statement, and returns a status for each in order.
create or replace function public.fn_iu_keep(p_run_id text, p_places integer[], p_addresses text[]) returns setof text
language sql volatile security definer
set search_path = pg_catalog, public, pg_temp
as $$
    with planned as materialized (
        select p.n, p.place, p.address, u.id, u.version_anchor_ref, u.id is not null and u.lifecycle_status <> 'retired' as known
        from unnest(p_places, p_addresses) with ordinality as p (place, address, n)
        left join public.information_unit u on u.canonical_address = p.address collate "C" and u.deleted_at is null),
    written as (
        insert into cutter_governance.revision_row (
            run_id, address, document_order, operation, unit_id, version_id, base_version_id)
        select p_run_id, address, place, 'keep', id, version_anchor_ref, version_anchor_ref from planned where known)
    select case when known then 'kept' else 'refused_not_in_base' end from planned order by n
$$;
