-- Returns the drift of receipts that are not what was sealed or do not follow each other; null when all are intact.
create or replace function cutter_governance.fn_receipts_drift(p_run_id text) returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select case when count(*) > 0 then jsonb_build_object('dimension', 'receipts', 'expected', 'as sealed',
        'observed', 'altered', 'fingerprint', cutter_governance.fn_digest(string_agg(gate || problem, ',' order by ordinal)),
        'diff', jsonb_agg(gate || ': ' || problem order by ordinal)) end
    from (
        select r.gate, c.ordinal, case
            when c.ordinal <> row_number() over chain then 'the receipt before it is missing'
            when r.prev_hash is distinct from coalesce(lag(r.receipt_hash) over chain, cutter_governance.fn_digest(p_run_id))
                then 'it does not follow the receipt before it'
            when r.sealed_body is distinct from cutter_governance.fn_receipt_body(r) then 'the row is not what was sealed'
            when r.receipt_hash is distinct from cutter_governance.fn_digest(r.prev_hash || r.sealed_body)
                then 'the hash is not that of the body' end as problem
        from cutter_governance.gate_receipt r
        join cutter_governance.gate_catalogue c on c.gate = r.gate
        where r.run_id = p_run_id and r.sealed_at is not null
        window chain as (order by c.ordinal)) as judged
    where problem is not null
$$;
