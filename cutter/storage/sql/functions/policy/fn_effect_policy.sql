-- Returns the text of the effect policy in force, or null before the first one is installed.
create or replace function cutter_governance.fn_effect_policy() returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select p.body
    from cutter_governance.effect_policy e
    join cutter_governance.governing_policy p on p.sha256 = e.sha256
    order by e.number desc limit 1
$$;
