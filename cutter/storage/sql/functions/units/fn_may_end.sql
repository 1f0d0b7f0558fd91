-- Returns whether the open enactment may make this change: end a version, or show what the change set names.
create or replace function public.fn_may_end(p_table text, p_old jsonb, p_new jsonb) returns boolean
language sql stable security definer
set search_path = pg_catalog, public, pg_temp
as $$
    select coalesce(bool_or(case p_table
        when 'unit_version' then p_old ->> 'lifecycle_status' = 'enacted'
            and p_new ->> 'lifecycle_status' = case a.operation when 'repeal' then 'retired' else 'superseded' end
            and p_new ->> 'ended_by' = a.change_set_id::text and p_old ->> 'id' = a.ended_version_id::text
            and p_new - ended = p_old - ended
        else p_new ->> 'version_anchor_ref' = coalesce(a.unit_version_id, a.ended_version_id)::text
            and p_new ->> 'lifecycle_status' = case a.operation when 'repeal' then 'retired' else 'enacted' end
            and p_new - shown = p_old - shown end), false)
    from cutter_governance.gate_receipt g
    join cutter_governance.cut_change_set c on c.run_id = g.run_id
    join cutter_governance.cut_change_set_affected_row a on a.change_set_id = c.change_set_id
        and a.unit_id = (p_old ->> case p_table when 'unit_version' then 'unit_id' else 'id' end)::uuid
    cross join (select array['lifecycle_status', 'effective_until', 'ended_by', 'ended_at'] as ended,
        array['lifecycle_status', 'content_anchor_ref', 'version_anchor_ref', 'unit_kind', 'owner_ref',
            'parent_or_container_ref', 'identity_profile', 'updated_at', 'updated_by'] as shown) as columns
    where g.opened_xid = pg_current_xact_id() and g.sealed_at is null and g.gate = 'IG_lifecycle_enact_execute'
$$;
