-- Returns the receipt hash of the gate before, the digest of the run's id for the first gate, null before its turn.
create or replace function cutter_governance.fn_prev_hash(p_run_id text, p_gate text) returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select case when before.gate is null then cutter_governance.fn_digest(p_run_id) else (
        select r.receipt_hash from cutter_governance.gate_receipt r
        where r.run_id = p_run_id and r.gate = before.gate and r.sealed_at is not null) end
    from cutter_governance.gate_catalogue c
    left join lateral (
        select b.gate from cutter_governance.gate_catalogue b
        where b.ordinal < c.ordinal order by b.ordinal desc limit 1) before on true
    where c.gate = p_gate
$$;
