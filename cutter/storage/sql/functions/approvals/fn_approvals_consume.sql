-- Consumes a sovereign gate's approvals in the transaction that they authorise. Returns null or the code of a refusal.
create or replace function cutter_governance.fn_approvals_consume(
    p_run cutter_governance.run, p_sovereign text, p_approvals jsonb, p_policy jsonb default null) returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    request cutter_governance.approval_request;
    epoch cutter_governance.policy_epoch;
    offered jsonb;
    v_slot integer := 0;
    v_needed integer;
    v_refusal text;
    v_pins jsonb := cutter_governance.fn_run_pins(p_run.run_id);
begin
    -- shared by all gates that consume approvals; `fn_policy_install` waits for them and they for it
    perform from cutter_governance.lane where name = 'policy_epoch' for share;
    select * into epoch from cutter_governance.policy_epoch order by number desc limit 1;
    if not found then
        return 'no_policy_epoch';
    end if;
    -- locked, so that a rejection comes before or after, never in between
    select * into request from cutter_governance.approval_request
    where run_id = p_run.run_id and gate = p_sovereign and status = 'requested' for update;
    if not found then
        return 'no_open_request';
    end if;
    if request.request_sha256 is null then
        return 'request_without_document';
    end if;
    if request.expires_at <= clock_timestamp() then
        return 'request_expired';
    end if;
    -- as many as either worker's policy asks for: the one that asked people, and the one that is about to write
    select max(cutter_governance.fn_approvals_needed(p_sovereign, asked.tier)) into v_needed from (
        select request.tier union all
        select d ->> 'tier' from jsonb_array_elements(p_policy -> 'decisions') as d) as asked (tier);
    if request.tuple ->> 'writer_digest' is distinct from v_pins ->> 'writer_digest' then
        return 'request_of_other_digest';
    end if;
    if request.tuple ->> 'findings_digest' is distinct from v_pins ->> 'findings_digest' then
        return 'request_of_other_findings';
    end if;
    for offered in select value from jsonb_array_elements(p_approvals) order by value ->> 'approval_sha256'
    loop
        v_slot := v_slot + 1;
        if v_slot > v_needed then
            return 'more_approvals_than_slots';
        end if;
        v_refusal := cutter_governance.fn_approval_consume_one(p_run, request, epoch, v_slot, offered);
        if v_refusal is not null then
            return v_refusal;
        end if;
    end loop;
    if v_slot < v_needed then
        return 'threshold_not_met';
    end if;
    update cutter_governance.approval_request set status = 'approved' where request_id = request.request_id;
    perform cutter_governance.fn_audit(p_run.run_id, 'approvals_consumed', jsonb_build_object('gate', p_sovereign,
        'approvals', (select jsonb_agg(value ->> 'approval_sha256' order by value ->> 'approval_sha256')
                      from jsonb_array_elements(p_approvals))));
    return null;
end
$$;
