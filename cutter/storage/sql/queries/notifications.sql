-- name: notification_requests_to_ask
-- Returns the open requests that a channel has not asked about yet. As in the other queries, `offset 0` makes PostgreSQL
-- look each delivery up by its index, so that it never scans all deliveries.
select f.*, n.id, n.subject, q.gate as place, r.docprefix, r.tenant, r.mode, q.expires_at,
    o.body as document, clock_timestamp() as now
from cutter_governance.approval_request q
join cutter_governance.notification n on n.subject = q.request_id::text
join cutter_governance.run r on r.run_id = q.run_id
join cutter_governance.outbox o on o.kb_id = q.kb_id
cross join lateral cutter_governance.fn_step_facts(r.run_id) f
where n.kind = any(%(kinds)s) and n.kind = 'approval' and n.phase = 'asked'
    and n.created_at > statement_timestamp() - make_interval(days => %(days)s)
    and q.status = 'requested' and r.mode = 'live' and r.ended_at is null and q.expires_at > statement_timestamp()
    and r.state = case q.gate when 'SG_cut_authz' then 'awaiting_cut_authorization' else 'awaiting_lifecycle_authorization' end
    and not exists (select from cutter_governance.notification_delivery d
                    where d.notification_id = n.id and d.channel = %(channel)s offset 0)
order by n.id
limit %(most)s

-- name: notification_stops_to_ask
-- Returns the stops by the policy that a channel has not asked about yet.
select f.*, n.id, n.subject, n.place, r.docprefix, r.tenant, r.mode,
    r.last_error ->> 'reason' as reason, p.stop ->> 'tier' as tier, (p.stop -> 'needed')::integer as needed,
    (p.stop -> 'unsigned')::boolean as unsigned,
    (cutter_governance.fn_run_pins(r.run_id) -> 'candidate_count')::integer as units
from cutter_governance.run r
join cutter_governance.notification n on n.run_id = r.run_id
cross join lateral (select cutter_governance.fn_policy_stop(r.run_id) as stop) as p
cross join lateral cutter_governance.fn_step_facts(r.run_id) f
where r.ended_at is null and r.state like 'stopped\_policy\_%%'
    and n.kind = any(%(kinds)s) and n.kind = 'policy_stop' and n.phase = 'asked'
    and n.created_at > statement_timestamp() - make_interval(days => %(days)s)
    and p.stop ->> 'stop' = n.subject
    and not exists (select from cutter_governance.notification_delivery d
                    where d.notification_id = n.id and d.channel = %(channel)s offset 0)
order by n.id
limit %(most)s

-- name: notification_questions_overtaken
-- Returns the questions that were answered before a channel could ask them.
select n.id
from cutter_governance.notification a
join cutter_governance.notification n on n.subject = a.subject and n.phase = 'asked'
where a.phase = 'answered' and a.created_at > %(since)s::timestamptz and n.kind = any(%(kinds)s)
    and n.created_at > statement_timestamp() - make_interval(days => %(days)s)
    and not exists (select from cutter_governance.notification_delivery d
                    where d.notification_id = n.id and d.channel = %(channel)s offset 0)
order by n.id
limit %(most)s

-- name: notification_answers
-- Returns the answers that a channel has not told yet, each with its question's card, its outcome and its people.
select n.id, d.card, over.outcome, coalesce(over.people, '{}') as people
from cutter_governance.notification n
join cutter_governance.notification question on question.subject = n.subject and question.phase = 'asked'
join cutter_governance.notification_delivery d on d.notification_id = question.id and d.channel = %(channel)s
cross join lateral (
    select case when q.status = 'requested' then 'canceled' else q.status end as outcome, coalesce(
        (select array_agg(c.approver order by c.slot) from cutter_governance.approval_consumption c
         where q.status = 'approved' and c.run_id = q.run_id and c.gate = q.gate),
        (select array_agg(c.approver) from cutter_governance.order_consumption c
         where q.status = 'rejected' and c.run_id = q.run_id and c.decision = 'reject')) as people
    from cutter_governance.approval_request q
    where q.request_id = case when n.kind = 'approval' then n.subject::uuid end
    union all
    select case when bool_or(s.decision = 'reject') then 'rejected' when count(*) > 0 then 'approved' else 'canceled' end,
        array_agg(s.approver order by s.at) filter (where s.approver is not null)
    from (
        select u.decision, u.approver, u.recorded_at as at from cutter_governance.unsigned_decision u
        where u.stop = n.subject
        union all
        select 'approve', o.approver, o.consumed_at from cutter_governance.order_consumption o
        where o.run_id = n.run_id and o.decision = 'resume' and o.consumed_at >= question.created_at) as s
    where n.kind = 'policy_stop'
    having n.kind = 'policy_stop') as over
where n.phase = 'answered' and n.created_at > %(since)s::timestamptz
    and not exists (select from cutter_governance.notification_delivery a
                    where a.notification_id = n.id and a.channel = %(channel)s offset 0)
order by n.id
limit %(most)s

-- name: notification_runs_to_tell
-- Returns what a channel has not told yet about runs that stopped, failed or finished.
select n.id, n.kind, n.subject, n.place, r.run_id, r.document_id, r.mode, r.tenant
from cutter_governance.notification n
join cutter_governance.notification_channel c on c.name = %(channel)s
join cutter_governance.run r on r.run_id = n.run_id
where n.kind = any(%(kinds)s) and n.kind <> 'enacted' and n.phase = 'told'
    and n.created_at > %(since)s::timestamptz and n.created_at > c.since
    and not exists (select from cutter_governance.notification_delivery d
                    where d.notification_id = n.id and d.channel = %(channel)s offset 0)
order by n.id
limit %(most)s

-- name: notification_enactments_to_tell
-- Returns the enactments that a channel has not told yet since it was first served, with their dates and digests.
select n.id, n.subject, r.mode, v.document, v.version, v.operation, v.run_id, v.change_set::text as change_set,
    v.enacted_at, v.effective_from, v.units, v.source_sha256, v.region_sha256, v.writer_digest, v.base_version,
    v.base_receipt_hash
from cutter_governance.notification n
join cutter_governance.notification_channel c on c.name = %(channel)s
join cutter_governance.run r on r.run_id = n.run_id
cross join lateral (
    select * from api.law_version a where a.document = r.document_id and a.run_id = r.run_id offset 0) as v
where n.kind = any(%(kinds)s) and n.kind = 'enacted' and n.phase = 'told'
    and n.created_at > %(since)s::timestamptz and n.created_at > c.since
    and not exists (select from cutter_governance.notification_delivery d
                    where d.notification_id = n.id and d.channel = %(channel)s offset 0)
order by n.id
limit %(most)s

-- name: notification_batches_to_tell
-- Returns what a channel has not told yet about batches that halted or ended, with the counts of their documents.
select n.id, n.subject, n.place, b.batch_id, b.mode, counts.*
from cutter_governance.notification n
join cutter_governance.notification_channel c on c.name = %(channel)s
join cutter_governance.batch b on b.batch_id = n.batch_id
cross join lateral (
    select (select count(*) from cutter_governance.batch_item i where i.batch_id = b.batch_id) as documents,
        count(*) filter (where r.state = 'closeout_reported') as enacted,
        count(*) filter (where r.state like 'failed\_%%') as failed,
        count(*) filter (where r.state like 'stopped\_%%' and r.ended_at is null) as stopped,
        count(*) filter (where r.state like 'voided\_%%') as voided
    from (select distinct on (a.document_id) a.state, a.ended_at from cutter_governance.run a
          where a.batch_id = b.batch_id order by a.document_id, a.created_at desc) as r) as counts
where n.kind = any(%(kinds)s) and n.phase = 'told'
    and n.created_at > %(since)s::timestamptz and n.created_at > c.since
    and not exists (select from cutter_governance.notification_delivery d
                    where d.notification_id = n.id and d.channel = %(channel)s offset 0)
order by n.id
limit %(most)s

-- name: notification_undelivered
-- Returns the messages that no channel has taken yet or that were given up within the last days; null for any channel.
select d.channel, n.kind, n.phase, coalesce(n.run_id, n.batch_id) as of, d.attempts, d.last_error, d.outcome,
    d.created_at, case when d.done_at is null then d.next_eligible_at end as next_eligible_at
from (
    select * from cutter_governance.notification_delivery where done_at is null
    union all
    select * from cutter_governance.notification_delivery
    where outcome = 'given_up' and done_at > statement_timestamp() - make_interval(days => %(days)s)) as d
join cutter_governance.notification n on n.id = d.notification_id
where d.channel = coalesce(%(channel)s, d.channel)
order by d.id
limit %(most)s

-- name: notification_health
-- Returns each channel with its waiting messages, those that were given up lately, and seconds since its last pass.
select c.name, count(d.id) filter (where d.done_at is null) as waiting,
    extract(epoch from clock_timestamp() - min(d.created_at) filter (where d.done_at is null))::bigint as waiting_seconds,
    count(d.id) filter (where d.outcome = 'given_up') as given_up,
    extract(epoch from clock_timestamp() - c.served_at)::bigint as served_seconds_ago
from cutter_governance.notification_channel c
left join (
    select id, channel, created_at, done_at, outcome from cutter_governance.notification_delivery where done_at is null
    union all
    select id, channel, created_at, done_at, outcome from cutter_governance.notification_delivery
    where outcome = 'given_up' and done_at > statement_timestamp() - make_interval(days => %(days)s)
) as d on d.channel = c.name
group by c.name, c.served_at
order by c.name

-- name: notification_card
-- Returns the subject of a delivered question by the channel's own name of the message, with its run.
select f.*, n.subject, n.place, r.starter, r.first_execution_id
from cutter_governance.notification_delivery d
join cutter_governance.notification n on n.id = d.notification_id and n.phase = 'asked'
join cutter_governance.run r on r.run_id = n.run_id
cross join lateral cutter_governance.fn_step_facts(r.run_id) f
where d.channel = %(channel)s and n.subject = %(subject)s and d.reference = %(reference)s and d.outcome = 'delivered'
