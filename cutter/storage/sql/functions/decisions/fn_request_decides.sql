-- Decides the review decision of a request that ends, in the same transaction. The expected pins follow that one
-- change; if another change came before it, they stay, and the survey finds drift.
create or replace function cutter_governance.fn_request_decides() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_expected jsonb := cutter_governance.fn_expected_pins(new.run_id);
    v_as_pinned boolean := cutter_governance.fn_review_decision_pin(new.run_id) @> (v_expected -> 'review_decision');
begin
    update cutter_governance.review_decision set verdict = verdict
    where review_decision_id = new.review_decision_id and verdict = 'PENDING';
    if v_as_pinned then
        update cutter_governance.approval_request
        set pin_seq = nextval('cutter_governance.pin_seq'), after_pins = v_expected || jsonb_build_object(
            'review_decision', cutter_governance.fn_review_decision_pin(new.run_id))
        where request_id = new.request_id;
    end if;
    return null;
end
$$;
