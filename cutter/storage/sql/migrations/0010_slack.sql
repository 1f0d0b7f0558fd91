-- What Slack is told (seed 003 §7): a card for what waits for people, posted once, and changed once when it is decided.

-- One row is one message or one change of it, with the very text that is sent. `subject` is what waits: a request, or the
-- stop of a run by the policy. `in_doubt`: it may stand in the channel, and nobody recorded it.
create table cutter_governance.slack_outbox (
    id bigint generated always as identity primary key,
    run_id text not null references cutter_governance.run,
    subject text not null check (subject ~ '^[A-Za-z0-9:.-]{1,120}$'),
    kind text not null check (kind in ('asked', 'answered')),
    place text not null,
    channel text not null,
    body text not null check (length(body) <= 65536),
    created_at timestamptz not null default clock_timestamp(),
    attempts integer not null default 0,
    next_eligible_at timestamptz not null default clock_timestamp(),
    in_doubt boolean not null default false,
    last_error text,
    message_ts text,
    done_at timestamptz,
    unique (subject, kind)
);
create index slack_outbox_waiting on cutter_governance.slack_outbox (next_eligible_at) where done_at is null;

-- Puts a text in line; false when it stands there already. What is answered before anybody was asked is never posted, nor
-- the answer to what was given up.
create function cutter_governance.fn_slack_enter(
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

-- Takes the next message that is due, for so many seconds; null without any. `in_doubt` is what it was before: it then has
-- to be looked for in the channel. An answer waits for its question.
create function cutter_governance.fn_slack_take(p_lease_seconds integer) returns jsonb
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

-- It stands in the channel: its receipt. A second word about the same message changes nothing.
create function cutter_governance.fn_slack_done(p_id bigint, p_message_ts text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    entry cutter_governance.slack_outbox;
begin
    update cutter_governance.slack_outbox
    set done_at = clock_timestamp(), message_ts = left(p_message_ts, 40), in_doubt = false, last_error = null
    where id = p_id and done_at is null returning * into entry;
    if found then
        perform cutter_governance.fn_action_note(entry.run_id, entry.place, 'notification', 'post',
            'slack/' || entry.channel || '/' || entry.subject || '/' || entry.kind,
            cutter_governance.fn_digest(entry.body), jsonb_build_object('kind', entry.kind, 'attempts', entry.attempts),
            jsonb_build_object('message_ts', entry.message_ts), false, 'a later message says more');
    end if;
end
$$;

-- It was not posted, or nobody knows (`p_in_doubt`): tried again after so many seconds, and without them never; nor is
-- then the answer that waits for it.
create function cutter_governance.fn_slack_failed(p_id bigint, p_error text, p_in_doubt boolean, p_retry_seconds integer)
returns void
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
    update cutter_governance.slack_outbox
    set last_error = left(p_error, 100), in_doubt = p_in_doubt,
        next_eligible_at = clock_timestamp() + make_interval(secs => coalesce(p_retry_seconds, 0)),
        done_at = case when p_retry_seconds is null then clock_timestamp() end
    where id = p_id and done_at is null;
    update cutter_governance.slack_outbox a set done_at = clock_timestamp(), last_error = 'never_asked'
    from cutter_governance.slack_outbox q
    where q.id = p_id and q.kind = 'asked' and q.done_at is not null and q.message_ts is null
        and a.subject = q.subject and a.kind = 'answered' and a.done_at is null;
$$;
