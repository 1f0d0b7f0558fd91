-- Records that a message did not arrive (or may have: `p_in_doubt`), and when to try again; null gives it up.
create or replace function cutter_governance.fn_notification_failed(
    p_id bigint, p_error text, p_in_doubt boolean, p_retry_seconds integer) returns void
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
    update cutter_governance.notification_delivery
    set last_error = left(p_error, 100), in_doubt = p_in_doubt,
        next_eligible_at = clock_timestamp() + make_interval(secs => coalesce(p_retry_seconds, 0)),
        done_at = case when p_retry_seconds is null then clock_timestamp() end,
        outcome = case when p_retry_seconds is null then 'given_up' end
    where id = p_id and done_at is null;
    update cutter_governance.notification_delivery a
    set done_at = clock_timestamp(), outcome = 'overtaken', last_error = 'never_asked'
    from cutter_governance.notification_delivery d, cutter_governance.notification q, cutter_governance.notification n
    where d.id = p_id and d.outcome = 'given_up' and q.id = d.notification_id and q.phase = 'asked'
        and n.subject = q.subject and n.phase = 'answered' and a.notification_id = n.id and a.channel = d.channel
        and a.done_at is null;
$$;
