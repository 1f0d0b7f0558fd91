-- Refuses, at the end of a statement, its rows unless one of the named gates of their run is open and unsealed. A check
-- of each row of a law would cost more than the row.
create or replace function cutter_governance.fn_check_run_of_rows() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_runs text[];
begin
    if tg_table_name = 'manifest_unit_block' then
        -- Not a join: the planner cannot know that all rows have one envelope, and would read all envelopes for many rows.
        select array_agg(distinct coalesce((
            select e.run_id from cutter_governance.manifest_envelope e where e.envelope_id = i.envelope_id), ''))
        into v_runs from (select distinct envelope_id from inserted) as i;
    else
        select array_agg(distinct run_id) into v_runs from inserted;
    end if;
    if exists (
        select from unnest(v_runs) as written (run_id)
        where not exists (
            select from cutter_governance.gate_receipt r
            where r.opened_xid = pg_current_xact_id() and r.sealed_at is null and r.prev_hash <> ''
                and r.run_id = written.run_id and r.gate = any (tg_argv)))
    then
        raise exception '% on %: none of % of its run is open in this transaction', tg_op, tg_table_name,
            array_to_string(tg_argv, ', ') using errcode = 'CU007';
    end if;
    return null;
end
$$;
