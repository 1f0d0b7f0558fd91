-- Returns the pins that the next survey must equal: those of the newest receipt, request, acknowledgement or baseline.
create or replace function cutter_governance.fn_expected_pins(p_run_id text) returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select coalesce(
        (select after_pins from (
            select after_pins, pin_seq from cutter_governance.gate_receipt
            where run_id = p_run_id and sealed_at is not null
            union all select after_pins, pin_seq from cutter_governance.approval_request where run_id = p_run_id
            union all select after_pins, pin_seq from cutter_governance.drift_acknowledgement where run_id = p_run_id
        ) as all_pins order by pin_seq desc limit 1),
        (select pins from cutter_governance.schema_baseline order by id desc limit 1),
        jsonb_build_object('functions', 'no baseline: type `cutter migrate`'))
$$;
