-- Returns the receipt hash that a gate must follow: that of the sealed gate before it, a digest of the run's id for
-- the first gate, null before its turn.
create or replace function cutter_governance.fn_prev_hash(p_run_id text, p_gate text) returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select case when c.ordinal = 1 then cutter_governance.fn_digest(p_run_id) else (
        select r.receipt_hash from cutter_governance.gate_receipt r
        join cutter_governance.gate_catalogue b on b.gate = r.gate
        where r.run_id = p_run_id and b.ordinal = c.ordinal - 1 and r.sealed_at is not null) end
    from cutter_governance.gate_catalogue c where c.gate = p_gate
$$;
