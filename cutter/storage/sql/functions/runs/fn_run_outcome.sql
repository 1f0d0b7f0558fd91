-- Ends a run that writes nothing: a rehearsal keeps its state, a run of an enacted version becomes `skipped`.
create or replace function cutter_governance.fn_run_outcome(p_run_id text, p_outcome text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run cutter_governance.run;
begin
    select * into v_run from cutter_governance.run where run_id = p_run_id for update;
    if v_run.ended_at is not null or p_outcome not in ('rehearsed', 'skipped') or (v_run.mode <> 'dryrun'
        and (p_outcome = 'rehearsed' or exists (
            select from cutter_governance.gate_receipt where run_id = p_run_id and gate = 'IG_cut_leg_a_execute')))
    then
        return;
    end if;
    update cutter_governance.run set outcome = p_outcome, ended_at = clock_timestamp() where run_id = p_run_id;
    perform cutter_governance.fn_audit(p_run_id, 'ended', jsonb_build_object('outcome', p_outcome, 'state', v_run.state));
    if p_outcome = 'skipped' then
        perform cutter_governance.fn_run_move(p_run_id, 'skipped', 'already_enacted');
    else
        perform cutter_governance.fn_audit_anchor(p_run_id, 'run_ended');
    end if;
end
$$;
