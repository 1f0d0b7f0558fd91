-- Returns whether only a signed document leads out of a state. The stop latch asks for one too, in any state.
create or replace function cutter_governance.fn_stop_is_signed(p_state text) returns boolean
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
return p_state like 'stopped\_%' and p_state not like 'stopped\_unavailable\_%'
    and p_state not like 'stopped\_soft\_cap\_%'
    and p_state not in ('stopped_expired', 'stopped_signal_flood', 'stopped_terminated');
