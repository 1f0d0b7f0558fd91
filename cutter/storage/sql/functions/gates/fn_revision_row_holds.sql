-- Returns whether the unit of a planned row is as it must be: before the enactment it shows the base and its draft waits;
-- after the enactment it shows the version that begins, and the version that ended says by which change set.
create or replace function cutter_governance.fn_revision_row_holds(
    p_row cutter_governance.revision_row, p_enacted boolean) returns boolean
language sql stable security definer
set search_path = pg_catalog, public, pg_temp
as $$
    select case
        when u.canonical_address <> p_row.address or u.deleted_at is not null then false
        when p_row.operation = 'keep' then u.version_anchor_ref = p_row.version_id and u.lifecycle_status = 'enacted'
        when not p_enacted then coalesce(begins.lifecycle_status = 'draft' and begins.withdrawn_at is null, p_row.operation = 'repeal')
            and coalesce(u.version_anchor_ref = base.id and base.lifecycle_status = 'enacted', u.lifecycle_status <> 'enacted')
        else coalesce(u.version_anchor_ref = begins.id and begins.lifecycle_status = 'enacted'
                and begins.enacted_by = e.change_set_id and begins.effective_from = e.effective_from,
                u.lifecycle_status = 'retired')
            and coalesce(base.ended_by = e.change_set_id and base.effective_until = e.effective_from
                and base.lifecycle_status = case p_row.operation when 'repeal' then 'retired' else 'superseded' end,
                p_row.operation = 'create') end
    from public.information_unit u
    left join public.unit_version begins on begins.id = p_row.version_id and begins.unit_id = u.id
    left join public.unit_version base on base.id = p_row.base_version_id and base.unit_id = u.id
    left join public.enactment e on e.run_id = p_row.run_id
    where u.id = p_row.unit_id
$$;
