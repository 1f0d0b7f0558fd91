-- Enters an enacted law into the index of the search at the COMMIT of its enactment.
create or replace function cutter_governance.fn_search_of_enactment() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform cutter_governance.fn_search_enter(new.change_set_id);
    return null;
end
$$;
