-- Returns the source version of the run whose gate is open in this transaction and whose prefix holds an address.
create or replace function cutter_governance.fn_source_of_open_gate(p_address text) returns uuid
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select r.source_version_id from cutter_governance.gate_receipt g
    join cutter_governance.run r on r.run_id = g.run_id
    where g.opened_xid = pg_current_xact_id() and g.sealed_at is null and starts_with(p_address, r.docprefix || '/')
    limit 1
$$;
