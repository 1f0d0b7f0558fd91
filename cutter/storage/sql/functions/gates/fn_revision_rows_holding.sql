-- Returns how many planned rows of a run have a unit that is as it must be. Before the enactment it shows the base and
-- its draft waits. After the enactment it shows the version that begins, and the version that ended says by which change
-- set.
create or replace function cutter_governance.fn_revision_rows_holding(p_run_id text, p_enacted boolean) returns bigint
language sql stable security definer
set search_path = pg_catalog, public, pg_temp
as $$
    select count(*) filter (where case
        when u.canonical_address <> w.address or u.deleted_at is not null then false
        when w.operation = 'keep' then u.version_anchor_ref = w.version_id and u.lifecycle_status = 'enacted'
        when not p_enacted then coalesce(begins.lifecycle_status = 'draft' and begins.withdrawn_at is null, w.operation = 'repeal')
            and coalesce(u.version_anchor_ref = base.id and base.lifecycle_status = 'enacted', u.lifecycle_status <> 'enacted')
        else coalesce(u.version_anchor_ref = begins.id and begins.lifecycle_status = 'enacted'
                and begins.enacted_by = e.change_set_id and begins.effective_from = e.effective_from,
                u.lifecycle_status = 'retired')
            and coalesce(base.ended_by = e.change_set_id and base.effective_until = e.effective_from
                and base.lifecycle_status = case w.operation when 'repeal' then 'retired' else 'superseded' end,
                w.operation = 'create') end)
    from cutter_governance.revision_row w
    join public.information_unit u on u.id = w.unit_id
    left join public.unit_version begins on begins.id = w.version_id and begins.unit_id = u.id
    left join public.unit_version base on base.id = w.base_version_id and base.unit_id = u.id
    left join public.enactment e on e.run_id = w.run_id
    where w.run_id = p_run_id
$$;
