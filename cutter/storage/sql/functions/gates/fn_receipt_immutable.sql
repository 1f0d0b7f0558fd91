-- Refuses to change or delete a sealed receipt, and to truncate the table.
create or replace function cutter_governance.fn_receipt_immutable() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if tg_op in ('DELETE', 'TRUNCATE') or old.sealed_at is not null then
        raise exception 'gate_receipt is immutable once sealed: % refused', tg_op using errcode = 'CU005';
    end if;
    return new;
end
$$;
