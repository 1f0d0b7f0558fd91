-- Takes a channel's next due message for some seconds, or null. If it was in doubt, a try of it may have arrived.
create or replace function cutter_governance.fn_notification_take(p_channel text, p_lease_seconds integer) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    entry cutter_governance.notification_delivery;
    told cutter_governance.notification;
begin
    select d.* into entry from cutter_governance.notification_delivery d
    join cutter_governance.notification n on n.id = d.notification_id
    where d.channel = p_channel and d.done_at is null and d.next_eligible_at <= clock_timestamp()
        and (n.phase <> 'answered' or cutter_governance.fn_notification_question(n.subject, d.channel) is not null)
    order by d.id limit 1 for update of d skip locked;
    if not found then
        return null;
    end if;
    update cutter_governance.notification_delivery
    set attempts = attempts + 1, in_doubt = true,
        next_eligible_at = clock_timestamp() + make_interval(secs => least(greatest(p_lease_seconds, 1), 600))
    where id = entry.id;
    select * into told from cutter_governance.notification where id = entry.notification_id;
    return jsonb_build_object('id', entry.id, 'kind', told.kind, 'phase', told.phase, 'subject', told.subject,
        'place', told.place, 'run_id', told.run_id, 'batch_id', told.batch_id, 'card', entry.card,
        'attempts', entry.attempts, 'in_doubt', entry.in_doubt,
        'question', cutter_governance.fn_notification_question(told.subject, p_channel),
        'created', extract(epoch from entry.created_at)::bigint, 'now', clock_timestamp(),
        'about', coalesce(
            (select jsonb_build_object('document_id', r.document_id, 'tenant', r.tenant, 'mode', r.mode)
             from cutter_governance.run r where r.run_id = told.run_id),
            (select jsonb_build_object('document_id', null, 'tenant', null, 'mode', b.mode)
             from cutter_governance.batch b where b.batch_id = told.batch_id)));
end
$$;
