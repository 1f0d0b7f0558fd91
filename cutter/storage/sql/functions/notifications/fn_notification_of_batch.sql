-- Writes that a batch was halted or has ended.
create or replace function cutter_governance.fn_notification_of_batch() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_at timestamptz := case
        when old.ended_at is null and new.ended_at is not null then new.ended_at
        when new.halted is not null and new.halted is distinct from old.halted then new.halted_at end;
begin
    if v_at is not null then
        insert into cutter_governance.notification (kind, phase, subject, batch_id, place)
        values ('batch', 'told', 'batch:' || new.batch_id || ':' || (extract(epoch from v_at) * 1000000)::bigint,
            new.batch_id, case when new.ended_at is not null then new.state else 'halted_' || new.halted end)
        on conflict (subject, phase) do nothing;
    end if;
    return null;
end
$$;
