-- Enters every enactment that the index of the search lacks, for `cutter migrate`, and returns how many it entered.
create or replace function cutter_governance.fn_search_fill() returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_change_set uuid;
    v_entered integer := 0;
begin
    for v_change_set in
        select e.change_set_id from public.enactment e
        where exists (
            select from cutter_governance.cut_change_set_affected_row a
            where a.change_set_id = e.change_set_id and a.unit_version_id is not null
                and not exists (select from public.unit_search s where s.version_id = a.unit_version_id))
    loop
        perform cutter_governance.fn_search_enter(v_change_set);
        v_entered := v_entered + 1;
    end loop;
    return v_entered;
end
$$;
