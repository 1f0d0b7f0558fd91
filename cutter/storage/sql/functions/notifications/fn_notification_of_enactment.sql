-- Writes that a law was enacted, changed or repealed.
create or replace function cutter_governance.fn_notification_of_enactment() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    insert into cutter_governance.notification (kind, phase, subject, run_id, place)
    values ('enacted', 'told', 'enactment:' || new.run_id, new.run_id, new.operation_kind)
    on conflict (subject, phase) do nothing;
    return null;
end
$$;
