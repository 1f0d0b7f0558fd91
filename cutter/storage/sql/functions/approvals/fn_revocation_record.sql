-- Records a signed revocation and returns a status. A consumed approval, and one of another run, cannot be revoked.
create or replace function cutter_governance.fn_revocation_record(
    p_run_id text, p_approval_sha256 text, p_revocation_sha256 text, p_kb_id text) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    verdict cutter_governance.approval_verdict;
begin
    select * into verdict from cutter_governance.approval_verdict
    where run_id = p_run_id and accepted and decision = 'revoke' and approval_sha256 = p_revocation_sha256
        and statement ->> 'approval_sha256' = p_approval_sha256;
    if not found then
        raise exception 'run %: no accepted revocation %', p_run_id, p_revocation_sha256 using errcode = 'CU006';
    end if;
    -- Each gate shares this row until COMMIT: a revocation comes before a gate opens or after it, never in between.
    perform from cutter_governance.stop_latch where run_id = p_run_id for update;
    -- The gate that consumes the approval takes this lock too, of whichever run it is.
    perform pg_advisory_xact_lock(hashtextextended(p_approval_sha256, 0));
    -- A signed approval may be taken back before anybody hands it over; one that was handed to another run may not.
    if (select count(*) > 0 and not bool_or(run_id = p_run_id) from cutter_governance.approval_verdict
        where approval_sha256 = p_approval_sha256 and accepted)
    then
        return jsonb_build_object('status', 'revokes_nothing');
    end if;
    if exists (select from cutter_governance.approval_consumption where approval_sha256 = p_approval_sha256) then
        return jsonb_build_object('status', 'consumed_already');
    end if;
    insert into cutter_governance.approval_revocation (approval_sha256, revocation_sha256, approver, kb_id)
    values (p_approval_sha256, p_revocation_sha256, verdict.approver, p_kb_id) on conflict do nothing;
    return jsonb_build_object('status', 'revoked');
end
$$;
