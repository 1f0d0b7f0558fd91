-- Returns the run that stands for each document, the newest first, at most so many. Older runs cost nothing. Few rows
-- are promised to the planner: it then looks up each run's receipts instead of reading all.
create or replace function cutter_governance.fn_newest_runs(p_limit integer) returns setof cutter_governance.run
language plpgsql stable security definer rows 20
set search_path = pg_catalog, pg_temp
as $$
declare
    v_run cutter_governance.run;
    v_left integer := p_limit;
begin
    select * into v_run from cutter_governance.run order by created_at desc, run_id desc limit 1;
    while v_run.run_id is not null and v_left > 0
    loop
        if v_run.run_id = cutter_governance.fn_run_of_document(v_run.document_id) then
            v_left := v_left - 1;
            return next v_run;
        end if;
        select * into v_run from cutter_governance.run
        where (created_at, run_id) < (v_run.created_at, v_run.run_id) order by created_at desc, run_id desc limit 1;
    end loop;
end
$$;
