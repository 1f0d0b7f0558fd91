-- Returns each enactment, for the other views of this schema alone; no role may read it.
create or replace view api.base_enactment with (security_barrier) as
select r.run_id, d.source_document_ref, 1 as n, 'first_cut' as operation_kind, r.source_version_id, c.change_set_id,
    null::text as base_run_id, null::text as base_receipt_hash, null::text as reason,
    (g.sealed_at at time zone 'UTC')::date as effective_from, g.sealed_at as enacted_at
from cutter_governance.gate_receipt g
join cutter_governance.run r on r.run_id = g.run_id and r.mode = 'live'
join public.source_document d on d.doc_code = r.document_id
join cutter_governance.cut_change_set c on c.run_id = r.run_id
where g.gate = 'IG_lifecycle_enact_execute' and g.sealed_at is not null;
