-- Ends the sessions that exceed the limits of their role, and returns how many; sql/sessions.sql has the limits. A
-- database that the superuser has not prepared has no such limits.
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
