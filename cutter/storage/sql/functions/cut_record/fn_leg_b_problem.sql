-- Returns why leg B of a run is incomplete, or null: a signed change set, a block and an affected row for each unit.
create or replace function cutter_governance.fn_leg_b_problem(p_run cutter_governance.run) returns text
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    approved cutter_governance.approval_consumption;
    change_set cutter_governance.cut_change_set;
    v_blocks integer;
    v_affected integer;
begin
    select c.* into approved from cutter_governance.approval_consumption c
    join cutter_governance.approval_request q on q.request_id = c.request_id
    where c.run_id = p_run.run_id and c.gate = 'SG_cut_authz' order by c.slot limit 1;
    select s.* into change_set from cutter_governance.cut_change_set s
    join cutter_governance.approval_request q on q.request_id = approved.request_id
    join cutter_governance.dot_pair_signature g on g.signature_id = s.executor_signature_id
        and g.cross_reference_change_set_id = s.change_set_id
    join cutter_governance.manifest_envelope e on e.envelope_id = s.manifest_id and e.run_id = s.run_id
    join cutter_governance.review_decision d on d.review_decision_id = s.review_decision_id and d.run_id = s.run_id
        and d.type = 'cut'
    where s.run_id = p_run.run_id and s.manifest_version = approved.writer_digest
        and s.change_set_id::text = q.tuple ->> 'change_set_id'
        and s.manifest_digest = q.tuple ->> 'manifest_digest' and s.region_sha = q.tuple ->> 'region_sha';
    if not found then
        return 'no change set as approved and signed';
    end if;
    if p_run.operation_kind <> 'first_cut' then
        return cutter_governance.fn_revision_record_problem(p_run, change_set);
    end if;
    select count(*) into v_blocks from cutter_governance.manifest_unit_block b
    join public.information_unit u on u.id = b.target_unit_id and u.canonical_address = b.proposed_canonical_address
    join public.unit_version v on v.id = u.version_anchor_ref and v.content_hash = b.span_sha256
    where b.envelope_id = change_set.manifest_id and u.deleted_at is null
        and starts_with(u.canonical_address, p_run.docprefix || '/');
    select count(*) into v_affected from cutter_governance.cut_change_set_affected_row a
    join public.information_unit u on u.id = a.unit_id and u.version_anchor_ref = a.unit_version_id
    join public.unit_version v on v.id = a.unit_version_id and v.content_hash = a.content_hash
    where a.change_set_id = change_set.change_set_id and u.deleted_at is null
        and starts_with(u.canonical_address, p_run.docprefix || '/');
    if v_blocks <> approved.candidate_count or v_affected <> approved.candidate_count then
        return format('%s blocks and %s affected rows for %s units', v_blocks, v_affected, approved.candidate_count);
    end if;
    return null;
end
$$;
