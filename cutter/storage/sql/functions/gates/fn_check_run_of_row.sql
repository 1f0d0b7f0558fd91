-- Refuses, at COMMIT, a row of another run than the open gate's. A signature is inserted before what it signs.
create or replace function cutter_governance.fn_check_run_of_row() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run text;
begin
    case tg_table_name
        when 'decision_backlog_history' then
            select e.run_id into v_run from cutter_governance.decision_backlog_entry e where e.entry_id = new.entry_id;
        when 'manifest_unit_block' then
            select e.run_id into v_run from cutter_governance.manifest_envelope e where e.envelope_id = new.envelope_id;
        when 'cut_change_set_affected_row', 'verify_result' then
            select c.run_id into v_run from cutter_governance.cut_change_set c where c.change_set_id = new.change_set_id;
        when 'dot_pair_signature' then
            select c.run_id into v_run from cutter_governance.cut_change_set c
            where c.change_set_id = coalesce(new.cross_reference_change_set_id, (
                select v.change_set_id from cutter_governance.verify_result v
                where v.verify_result_id = new.cross_reference_verify_result_id));
        else
            v_run := new.run_id;
    end case;
    if not exists (select from cutter_governance.gate_receipt r
                   where r.opened_xid = pg_current_xact_id() and r.run_id = v_run and r.gate = any (tg_argv))
    then
        raise exception '% on %: none of % of its run was opened in this transaction', tg_op, tg_table_name,
            array_to_string(tg_argv, ', ') using errcode = 'CU007';
    end if;
    return null;
end
$$;
