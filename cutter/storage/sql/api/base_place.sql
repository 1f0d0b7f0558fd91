-- Returns the place of each unit version in each version of a law, for the other views of this schema alone; no role may
-- read it.
create or replace view api.base_place with (security_barrier) as
select c.change_set_id, b.render_order as document_order, a.unit_version_id
from cutter_governance.cut_change_set c
join cutter_governance.manifest_unit_block b on b.envelope_id = c.manifest_id and b.block_role = 'result'
join cutter_governance.cut_change_set_affected_row a
    on a.change_set_id = c.change_set_id and a.unit_id = b.target_unit_id;
