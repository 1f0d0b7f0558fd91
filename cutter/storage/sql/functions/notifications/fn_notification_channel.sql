-- Records that a pass serves a channel now. A channel hears of what happens after its first pass.
create or replace function cutter_governance.fn_notification_channel(p_channel text) returns void
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
    insert into cutter_governance.notification_channel (name) values (p_channel)
    on conflict (name) do update set served_at = clock_timestamp();
$$;
