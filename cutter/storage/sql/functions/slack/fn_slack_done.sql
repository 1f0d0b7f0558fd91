-- Records that a message is in the channel, with its receipt; a second report about the same message changes nothing.
create or replace function cutter_governance.fn_slack_done(p_id bigint, p_message_ts text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    entry cutter_governance.slack_outbox;
begin
    update cutter_governance.slack_outbox
    set done_at = clock_timestamp(), message_ts = left(p_message_ts, 40), in_doubt = false, last_error = null
    where id = p_id and done_at is null returning * into entry;
    if found then
        perform cutter_governance.fn_action_note(entry.run_id, entry.place, 'notification', 'post',
            'slack/' || entry.channel || '/' || entry.subject || '/' || entry.kind,
            cutter_governance.fn_digest(entry.body), jsonb_build_object('kind', entry.kind, 'attempts', entry.attempts),
            jsonb_build_object('message_ts', entry.message_ts), false, 'a later message says more');
    end if;
end
$$;
