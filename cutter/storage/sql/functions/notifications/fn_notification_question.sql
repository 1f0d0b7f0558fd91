-- Returns a channel's own name of the question about a subject that it delivered; null if it delivered none.
create or replace function cutter_governance.fn_notification_question(p_subject text, p_channel text) returns text
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select coalesce(d.reference, '') from cutter_governance.notification_delivery d
    join cutter_governance.notification n on n.id = d.notification_id
    where n.subject = p_subject and n.phase = 'asked' and d.channel = p_channel and d.outcome = 'delivered'
$$;
