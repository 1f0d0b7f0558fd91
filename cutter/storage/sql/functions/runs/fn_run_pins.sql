-- Returns the pins of all sealed gates of a run, merged in the order of the gates.
create or replace function cutter_governance.fn_run_pins(p_run_id text) returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    return (
        select coalesce(jsonb_object_agg(pin.key, pin.value order by c.ordinal), '{}')
        from cutter_governance.gate_receipt r
        join cutter_governance.gate_catalogue c on c.gate = r.gate
        cross join jsonb_each(r.result -> 'pins') as pin
        where r.run_id = p_run_id and r.sealed_at is not null and not r.rehearsal);
end
$$;
