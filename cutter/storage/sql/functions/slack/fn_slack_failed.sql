-- Records that a message was not posted, or that nobody knows (`p_in_doubt`). It is tried again after the given
-- number of seconds, and never without one; the answer that waits for it is then dropped too.
create or replace function cutter_governance.fn_slack_failed(p_id bigint, p_error text, p_in_doubt boolean, p_retry_seconds integer)
returns void
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
    update cutter_governance.slack_outbox
    set last_error = left(p_error, 100), in_doubt = p_in_doubt,
        next_eligible_at = clock_timestamp() + make_interval(secs => coalesce(p_retry_seconds, 0)),
        done_at = case when p_retry_seconds is null then clock_timestamp() end
    where id = p_id and done_at is null;
    update cutter_governance.slack_outbox a set done_at = clock_timestamp(), last_error = 'never_asked'
    from cutter_governance.slack_outbox q
    where q.id = p_id and q.kind = 'asked' and q.done_at is not null and q.message_ts is null
        and a.subject = q.subject and a.kind = 'answered' and a.done_at is null;
$$;
