-- Puts a message in line and returns true; false if it is already there or will not be posted. An answer that
-- precedes its question is never posted, nor is the answer to a question that was given up.
create or replace function cutter_governance.fn_slack_enter(
    p_run_id text, p_subject text, p_kind text, p_place text, p_channel text, p_body text) returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    asked cutter_governance.slack_outbox;
    v_late boolean := false;
begin
    if p_kind = 'answered' then
        select * into asked from cutter_governance.slack_outbox where subject = p_subject and kind = 'asked' for update;
        v_late := asked.message_ts is null and (not asked.in_doubt or asked.done_at is not null);
        update cutter_governance.slack_outbox set done_at = clock_timestamp(), last_error = 'answered_before'
        where id = asked.id and v_late and done_at is null;
    end if;
    insert into cutter_governance.slack_outbox (run_id, subject, kind, place, channel, body, done_at, last_error)
    values (p_run_id, p_subject, p_kind, p_place, p_channel, p_body,
        case when v_late then clock_timestamp() end, case when v_late then 'answered_before' end)
    on conflict (subject, kind) do nothing;
    return found and not v_late;
end
$$;
