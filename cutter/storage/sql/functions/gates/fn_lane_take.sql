-- Returns whether this transaction now holds a lane for a run, until it ends; true for a gate without a lane. A
-- writer of leg A waits a second for its lane, and only if it finds a seat. Other gates need the worker's slots, and a
-- new attempt costs more than this second. An enactment is short enough to wait for, up to the session's lock timeout.
create or replace function cutter_governance.fn_lane_take(p_lane text, p_run_id text) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_seats constant integer := 4;
    v_until timestamptz := clock_timestamp() + interval '1 second';
    v_has_lane boolean := false;
begin
    if p_lane is null then
        return true;
    end if;
    -- `fn_lanes` reads from this name which run holds the lane
    perform set_config('application_name', left(p_run_id, 63), true);
    if p_lane = 'write' then
        perform from cutter_governance.lane where name = 'write' for update skip locked;
        if found then
            return true;
        end if;
        -- a seat is given back at the end of the transaction
        perform from generate_series(1, v_seats) as seat
        where pg_try_advisory_xact_lock(hashtext('cutter.lane.write'), seat) limit 1;
        if not found then
            return false;
        end if;
    end if;
    -- only a lock of the transaction itself names its process: one that was waited for is let go and taken again
    for v_try in 1 .. 20 loop
        perform from cutter_governance.lane where name = p_lane for update skip locked;
        v_has_lane := found;
        exit when v_has_lane or (p_lane = 'write' and clock_timestamp() > v_until);
        begin
            if p_lane = 'write' then
                -- taken back at the end of this block
                perform set_config('lock_timeout', '1s', true);
            end if;
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
