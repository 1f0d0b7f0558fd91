-- Puts a message in line for a channel, if it will be sent: not without a card, and no answer before its question.
create or replace function cutter_governance.fn_notification_enter(p_id bigint, p_channel text, p_card text) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    told cutter_governance.notification;
    asked cutter_governance.notification_delivery;
    v_late boolean := p_card is null;
begin
    select * into told from cutter_governance.notification where id = p_id;
    if told.phase = 'answered' then
        select d.* into asked from cutter_governance.notification_delivery d
        join cutter_governance.notification q on q.id = d.notification_id and q.phase = 'asked'
        where q.subject = told.subject and d.channel = p_channel for update of d;
        -- a question that is still in doubt may have arrived: its answer waits
        v_late := asked.outcome is distinct from 'delivered' and (asked.done_at is not null or asked.in_doubt is not true);
        update cutter_governance.notification_delivery
        set done_at = clock_timestamp(), outcome = 'overtaken', last_error = 'answered_before'
        where id = asked.id and v_late and done_at is null;
    end if;
    insert into cutter_governance.notification_delivery (notification_id, channel, card, done_at, outcome)
    values (p_id, p_channel, p_card, case when v_late then clock_timestamp() end, case when v_late then 'overtaken' end)
    on conflict (notification_id, channel) do nothing;
    return found and not v_late;
end
$$;
