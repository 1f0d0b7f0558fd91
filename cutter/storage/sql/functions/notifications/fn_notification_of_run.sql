-- Writes what people must hear of a run's new state, if no batch tells it, and which questions are over.
create or replace function cutter_governance.fn_notification_of_run() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_stop jsonb := case when new.state like 'stopped\_policy\_%' and new.docprefix is not null then
        cutter_governance.fn_policy_stop(new.run_id) end;
    v_moved boolean := new.state is distinct from old.state;
    v_told text := case
        when v_moved and v_stop is null and new.state like 'stopped\_%' then 'stop'
        when v_moved and new.state like 'failed\_%' and new.batch_id is null then 'failure'
        when old.ended_at is null and new.ended_at is not null and new.batch_id is null
            and new.state not like 'failed\_%' and new.state not like 'voided\_%' then 'finished' end;
begin
    if v_moved and v_stop is not null then
        insert into cutter_governance.notification (kind, phase, subject, run_id, place)
        values ('policy_stop', 'asked', v_stop ->> 'stop', new.run_id, v_stop ->> 'gate')
        on conflict (subject, phase) do nothing;
    elsif v_told is not null then
        insert into cutter_governance.notification (kind, phase, subject, run_id, place)
        values (v_told, 'told', 'run:' || new.run_id || ':' || (extract(epoch from new.state_at) * 1000000)::bigint,
            new.run_id, coalesce(new.outcome, new.state))
        on conflict (subject, phase) do nothing;
    end if;
    insert into cutter_governance.notification (kind, phase, subject, run_id, place)
    select n.kind, 'answered', n.subject, n.run_id, n.place
    from cutter_governance.notification n
    where n.run_id = new.run_id and n.phase = 'asked' and (new.ended_at is not null
        or (n.kind = 'policy_stop' and n.subject is distinct from v_stop ->> 'stop'))
    on conflict (subject, phase) do nothing;
    return null;
end
$$;
