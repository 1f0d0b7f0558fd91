-- Records that a channel has taken a message, with its receipt; a second report about the same message changes nothing.
create or replace function cutter_governance.fn_notification_done(p_id bigint, p_reference text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    entry cutter_governance.notification_delivery;
    told cutter_governance.notification;
begin
    update cutter_governance.notification_delivery
    set done_at = clock_timestamp(), outcome = 'delivered', reference = left(p_reference, 200), in_doubt = false,
        last_error = null
    where id = p_id and done_at is null returning * into entry;
    if found then
        select * into told from cutter_governance.notification where id = entry.notification_id;
        perform cutter_governance.fn_action_note(told.run_id, case when told.phase <> 'told' then told.place end,
            'notification', 'post', entry.channel || '/' || told.subject || '/' || told.phase,
            cutter_governance.fn_digest(entry.card), jsonb_build_object('kind', told.kind, 'attempts', entry.attempts),
            jsonb_build_object('reference', entry.reference), false, 'a later message says more');
    end if;
end
$$;
