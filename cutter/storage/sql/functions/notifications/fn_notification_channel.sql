-- Records that a pass serves a channel now, and returns the moments between which the pass looks. It begins an hour
-- before the last complete one, because a transaction that was open then may have written since.
create or replace function cutter_governance.fn_notification_channel(p_channel text, p_kinds text[], p_days integer)
returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    served cutter_governance.notification_channel;
begin
    insert into cutter_governance.notification_channel as c (name, kinds) values (p_channel, p_kinds)
    on conflict (name) do update set served_at = clock_timestamp(), kinds = p_kinds,
        caught_up_at = case when c.kinds = p_kinds then c.caught_up_at end
    returning * into served;
    return jsonb_build_object('until', served.served_at, 'since', greatest(
        served.served_at - make_interval(days => p_days), served.caught_up_at - interval '1 hour'));
end
$$;
