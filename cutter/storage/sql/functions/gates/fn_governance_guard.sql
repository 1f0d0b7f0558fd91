-- Refuses to write a governance row unless one of the named gates is open and unsealed in this transaction.
create or replace function cutter_governance.fn_governance_guard() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform from cutter_governance.gate_receipt r
    where r.opened_xid = pg_current_xact_id() and r.sealed_at is null and r.prev_hash <> '' and r.gate = any (tg_argv);
    if not found then
        raise exception '% on %: none of % is open in this transaction', tg_op, tg_table_name,
            array_to_string(tg_argv, ', ') using errcode = 'CU007';
    end if;
    return new;
end
$$;
