-- Returns the present drift of a run that stopped for drift. It may have grown since the stop, or be undone.
create or replace function cutter_governance.fn_drift_look(p_run_id text) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run cutter_governance.run;
    v_survey jsonb;
begin
    select * into v_run from cutter_governance.run where run_id = p_run_id for update;
    if v_run.ended_at is not null or v_run.state is null or v_run.state not like 'stopped\_drift\_%' then
        return null;
    end if;
    v_survey := cutter_governance.fn_survey(p_run_id, coalesce(v_run.docprefix, ''));
    if cutter_governance.fn_digest(v_survey::text) is distinct from v_run.last_error -> 'report' ->> 'fingerprint' then
        perform cutter_governance.fn_drift_note(p_run_id, v_survey);
    end if;
    return (select last_error -> 'report' from cutter_governance.run where run_id = p_run_id);
end
$$;
