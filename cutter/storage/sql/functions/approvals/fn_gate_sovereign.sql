-- Returns the sovereign gate whose approval covers a gate: its own, else the last one before it, else the first one.
create or replace function cutter_governance.fn_gate_sovereign(p_gate text) returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select s.sovereign from cutter_governance.gate_catalogue g, cutter_governance.gate_catalogue s
    where g.gate = p_gate and s.sovereign is not null
    order by s.ordinal > g.ordinal, abs(s.ordinal - g.ordinal) limit 1
$$;
