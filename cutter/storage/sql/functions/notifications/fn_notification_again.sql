-- Puts a channel's messages that were given up in line again, as if nobody had tried them, and returns how many.
create or replace function cutter_governance.fn_notification_again(p_channel text) returns integer
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
    with again as (
        update cutter_governance.notification_delivery
        set done_at = null, outcome = null, attempts = 0, next_eligible_at = clock_timestamp()
        where channel = p_channel and outcome = 'given_up' and card is not null returning id)
    select count(*)::integer from again
$$;
