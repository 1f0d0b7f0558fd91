-- Ends an open request by rejection, which consumes the signed statement and ends the run, or by expiry.
create or replace function cutter_governance.fn_request_end(p_run_id text, p_gate text, p_status text, p_approval_sha256 text default null)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    verdict cutter_governance.approval_verdict;
    request cutter_governance.approval_request;
begin
    perform from cutter_governance.run where run_id = p_run_id for update;
    select * into request from cutter_governance.approval_request
    where run_id = p_run_id and gate = p_gate and status = 'requested' for update;
    if not found or p_status not in ('rejected', 'expired')
        or (p_status = 'expired' and request.expires_at > clock_timestamp())
    then
        return;
    end if;
    if p_status = 'rejected' then
        select * into verdict from cutter_governance.approval_verdict
        where run_id = p_run_id and gate = p_gate and accepted and decision = 'reject'
            and approval_sha256 = p_approval_sha256 and challenge = request.challenge;
        if not found then
            raise exception 'run %: no accepted rejection %', p_run_id, p_approval_sha256 using errcode = 'CU006';
        end if;
        insert into cutter_governance.order_consumption (statement_sha256, run_id, decision, approver, fingerprint)
        values (verdict.approval_sha256, p_run_id, 'reject', verdict.approver, verdict.fingerprint);
    end if;
    update cutter_governance.approval_request set status = p_status where request_id = request.request_id;
    if p_status = 'rejected' then
        perform cutter_governance.fn_run_move(p_run_id, 'failed_rejected', p_gate, 'warning',
            jsonb_build_object('statement_sha256', p_approval_sha256));
    else
        perform cutter_governance.fn_run_move(p_run_id, 'stopped_expired', p_gate, 'warning');
    end if;
end
$$;
