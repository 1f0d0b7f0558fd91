-- Takes the next due message for the given number of seconds; null if there is none. `in_doubt` is its value from
-- before this call: such a message must first be looked for in the channel. An answer waits for its question.
create or replace function cutter_governance.fn_slack_take(p_lease_seconds integer) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    entry cutter_governance.slack_outbox;
    v_asked text;
begin
    select o.* into entry from cutter_governance.slack_outbox o
    where o.done_at is null and o.next_eligible_at <= clock_timestamp() and (o.kind = 'asked' or exists (
        select from cutter_governance.slack_outbox a
        where a.subject = o.subject and a.kind = 'asked' and a.message_ts is not null))
    order by o.id limit 1 for update skip locked;
    if not found then
        return null;
    end if;
    update cutter_governance.slack_outbox
    set attempts = attempts + 1, in_doubt = in_doubt or kind = 'asked',
        next_eligible_at = clock_timestamp() + make_interval(secs => least(greatest(p_lease_seconds, 1), 600))
    where id = entry.id;
    select message_ts into v_asked from cutter_governance.slack_outbox
    where subject = entry.subject and kind = 'asked';
    return jsonb_build_object('id', entry.id, 'run_id', entry.run_id, 'subject', entry.subject, 'kind', entry.kind,
        'place', entry.place, 'channel', entry.channel, 'body', entry.body, 'attempts', entry.attempts,
        'in_doubt', entry.in_doubt, 'message_ts', v_asked,
        'created', extract(epoch from entry.created_at)::bigint, 'now', clock_timestamp(),
        'run', (select jsonb_build_object('document_id', r.document_id, 'tenant', r.tenant, 'mode', r.mode)
                from cutter_governance.run r where r.run_id = entry.run_id));
end
$$;
