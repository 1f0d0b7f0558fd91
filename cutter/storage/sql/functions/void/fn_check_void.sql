-- Refuses, at COMMIT, a void that was opened and not closed.
create or replace function cutter_governance.fn_check_void() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if (select closed_at from cutter_governance.void_record where run_id = new.run_id) is null then
        raise exception 'void of %: not closed', new.run_id using errcode = 'CU009';
    end if;
    return null;
end
$$;
