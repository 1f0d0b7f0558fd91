-- Ends the sessions that exceed the limits in sql/sessions.sql, if there are any, and returns how many.
create or replace function cutter_governance.fn_sessions_end_overdue() returns integer
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    ended integer := 0;
begin
    if to_regprocedure('cutter_guard.fn_end_overdue()') is not null then
        execute 'select cutter_guard.fn_end_overdue()' into ended;
    end if;
    return ended;
end
$$;
