-- Returns each enacted version of each unit, for the other views of this schema alone; no role may read it.
create or replace view api.base_unit_version with (security_barrier) as
select v.id, v.unit_id, v.version_seq, v.body, v.content_hash, v.lifecycle_status, v.enacted_at,
    u.identity_profile ->> 'title' as title, u.unit_kind, u.identity_profile ->> 'primary_section_type_ref' as section_type,
    u.parent_or_container_ref as parent_unit_id, null::uuid as continues_unit_id, b.render_order as document_order,
    c.change_set_id as enacted_by, (v.enacted_at at time zone 'UTC')::date as effective_from,
    null::date as effective_until, null::uuid as ended_by, null::timestamptz as ended_at
from public.unit_version v
join public.information_unit u on u.id = v.unit_id and u.version_anchor_ref = v.id
join cutter_governance.cut_change_set_affected_row a on a.unit_version_id = v.id
join cutter_governance.cut_change_set c on c.change_set_id = a.change_set_id
join cutter_governance.manifest_unit_block b on b.envelope_id = c.manifest_id and b.target_unit_id = v.unit_id
where v.lifecycle_status = 'enacted';
