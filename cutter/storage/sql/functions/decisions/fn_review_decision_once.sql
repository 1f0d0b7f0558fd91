-- Refuses every change of a decision but one: from PENDING to what its request, never the statement, says.
create or replace function cutter_governance.fn_review_decision_once() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    decided cutter_governance.review_decision;
    v_outcome constant text[] := array['verdict', 'decided_by', 'decided_at', 'approval_sha256'];
begin
    if tg_op = 'UPDATE' then
        decided := cutter_governance.fn_review_decision_decided(old);
        if old.verdict = 'PENDING' and decided.verdict <> 'PENDING'
            and to_jsonb(new) - v_outcome = to_jsonb(old) - v_outcome
        then
            return decided;
        end if;
    end if;
    raise exception 'review_decision is append-only except its one decision: % refused', tg_op using errcode = 'CU005';
end
$$;
