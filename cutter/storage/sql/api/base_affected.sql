-- Returns each unit that an enactment changed, for the other views of this schema alone; no role may read it.
create or replace view api.base_affected with (security_barrier) as
select a.change_set_id, a.unit_id, a.operation, a.unit_version_id, null::uuid as ended_version_id
from cutter_governance.cut_change_set_affected_row a;
