-- Records that a channel has put in line everything that was there at a moment.
create or replace function cutter_governance.fn_notification_caught_up(p_channel text, p_until timestamptz) returns void
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
    update cutter_governance.notification_channel set caught_up_at = greatest(caught_up_at, least(p_until, served_at))
    where name = p_channel
$$;
