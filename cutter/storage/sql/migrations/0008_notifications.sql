-- Notifications: what people must hear of, and its delivery by each channel. This replaces the outbox of Slack alone.

drop function if exists cutter_governance.fn_slack_enter(text, text, text, text, text, text);
drop function if exists cutter_governance.fn_slack_take(integer);
drop function if exists cutter_governance.fn_slack_done(bigint, text);
drop function if exists cutter_governance.fn_slack_failed(bigint, text, boolean, integer);
drop table cutter_governance.slack_outbox;

-- One row is one thing that people must hear of. Triggers write it in the transaction that makes it true. A question
-- (`asked`) has an answer later, under the same subject: a request's id, or the stop of a run by the policy. Something
-- that is only `told` has a subject of its own.
create table cutter_governance.notification (
    id bigint generated always as identity primary key,
    kind text not null check (kind in ('approval', 'policy_stop', 'stop', 'failure', 'finished', 'batch')),
    phase text not null check (phase in ('asked', 'answered', 'told')),
    subject text not null,
    run_id text references cutter_governance.run,
    batch_id text references cutter_governance.batch,
    -- a question's gate, or the state that is told
    place text not null,
    created_at timestamptz not null default clock_timestamp(),
    constraint notification_once unique (subject, phase),
    constraint notification_of_run_or_batch check (num_nonnulls(run_id, batch_id) = 1)
);
create index notification_created on cutter_governance.notification (created_at);
create index notification_asked_of_run on cutter_governance.notification (run_id) where phase = 'asked';

-- A channel that a pass has served: when first, and when last.
create table cutter_governance.notification_channel (
    name text primary key constraint notification_channel_name check (name ~ '^[a-z][a-z0-9_]{0,30}$'),
    since timestamptz not null default clock_timestamp(),
    served_at timestamptz not null default clock_timestamp()
);

-- One message by one channel, with the exact card that every try sends. `in_doubt`: a try may have arrived, and nobody
-- recorded it. `reference` is the channel's own name of the message.
create table cutter_governance.notification_delivery (
    id bigint generated always as identity primary key,
    notification_id bigint not null references cutter_governance.notification,
    channel text not null references cutter_governance.notification_channel,
    card text constraint notification_card_size check (length(card) <= 65536),
    created_at timestamptz not null default clock_timestamp(),
    attempts integer not null default 0,
    next_eligible_at timestamptz not null default clock_timestamp(),
    in_doubt boolean not null default false,
    last_error text,
    reference text,
    done_at timestamptz,
    outcome text check (outcome in ('delivered', 'overtaken', 'given_up')),
    constraint notification_once_a_channel unique (notification_id, channel),
    constraint notification_done_with_outcome check ((done_at is null) = (outcome is null)),
    constraint notification_open_has_card check (card is not null or outcome = 'overtaken')
);
create index notification_due on cutter_governance.notification_delivery (channel, next_eligible_at)
    where done_at is null;
create index notification_given_up on cutter_governance.notification_delivery (done_at) where outcome = 'given_up';

-- Requests that wait while the database is migrated are asked about too.
insert into cutter_governance.notification (kind, phase, subject, run_id, place)
select 'approval', 'asked', q.request_id::text, q.run_id, q.gate
from cutter_governance.approval_request q
join cutter_governance.run r on r.run_id = q.run_id
where q.status = 'requested' and r.mode = 'live' and r.ended_at is null;
