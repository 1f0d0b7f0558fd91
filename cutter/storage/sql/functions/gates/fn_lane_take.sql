-- Returns whether this transaction now holds a lane for a run, until it ends; true for a gate without a lane. A
-- writer of leg A does not wait for its lane. An enactment is short enough to wait for, up to the session's lock
-- timeout.
create or replace function cutter_governance.fn_lane_take(p_lane text, p_run_id text) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_has_lane boolean := false;
begin
    if p_lane is null then
        return true;
    end if;
    -- `fn_lanes` reads from this name which run holds the lane
    perform set_config('application_name', left(p_run_id, 63), true);
    if p_lane = 'write' then
        perform from cutter_governance.lane where name = 'write' for update skip locked;
        return found;
    end if;
    -- only a lock of the transaction itself names its process: one that was waited for is let go and taken again
    for v_try in 1 .. 20 loop
        perform from cutter_governance.lane where name = p_lane for update skip locked;
        v_has_lane := found;
        exit when v_has_lane;
        begin
            perform from cutter_governance.lane where name = p_lane for update;
            raise exception 'the lane is free';
        exception
            when lock_not_available then
                exit;
            when raise_exception then
                null;
        end;
    end loop;
    return v_has_lane;
end
$$;
