-- Writes into a run that people ended who ended it, why, and by which statement (seed 000 §3 SG_3, §5).
create or replace function cutter_governance.fn_run_ended_by_people() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_decision text := case when new.state = 'failed_rejected' then 'reject' else 'void' end;
begin
    select jsonb_build_object('gate', v.gate, 'outcome', new.state, 'reason', left(coalesce(v.statement ->> 'reason',
            'rejected by ' || o.approver), 500), 'report', null, 'at', cutter_governance.fn_utc(o.consumed_at), 'decision', o.decision,
            'approver', o.approver, 'fingerprint', o.fingerprint, 'kb_id', v.kb_id, 'approval_sha256', o.statement_sha256,
            'before', old.last_error)
    into new.last_error
    from cutter_governance.order_consumption o
    join cutter_governance.approval_verdict v on v.run_id = o.run_id and v.accepted
        and v.approval_sha256 = o.statement_sha256
    where o.run_id = new.run_id and o.decision = v_decision
    order by o.consumed_at desc, v.id limit 1;
    if not found then
        new.last_error := old.last_error;
    end if;
    return new;
end
$$;
