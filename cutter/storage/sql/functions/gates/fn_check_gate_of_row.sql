-- Refuses, at COMMIT, a written row unless one of the named gates, or a void, was opened in this transaction.
create or replace function cutter_governance.fn_check_gate_of_row() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if not exists (select from cutter_governance.gate_receipt r
                   where r.opened_xid = pg_current_xact_id() and r.gate = any (tg_argv))
        and not ('VOID' = any (tg_argv) and exists (select from cutter_governance.void_record v
                                                    where v.opened_xid = pg_current_xact_id()))
    then
        raise exception '% on %: none of % was opened in this transaction', tg_op, tg_table_name, array_to_string(tg_argv, ', ')
            using errcode = 'CU007';
    end if;
    return null;
end
$$;
