-- Writes that a request of a live run waits for people, and later that it has ended.
create or replace function cutter_governance.fn_notification_of_request() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if tg_op = 'INSERT' then
        insert into cutter_governance.notification (kind, phase, subject, run_id, place)
        select 'approval', 'asked', new.request_id::text, new.run_id, new.gate
        from cutter_governance.run r where r.run_id = new.run_id and r.mode = 'live'
        on conflict (subject, phase) do nothing;
    else
        insert into cutter_governance.notification (kind, phase, subject, run_id, place)
        select n.kind, 'answered', n.subject, n.run_id, n.place
        from cutter_governance.notification n where n.subject = new.request_id::text and n.phase = 'asked'
        on conflict (subject, phase) do nothing;
    end if;
    return null;
end
$$;
