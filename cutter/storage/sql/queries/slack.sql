-- name: slack_to_ask
-- Returns the open requests that no Slack message asks about yet.
select q.request_id::text as subject, q.gate as place, r.run_id, r.document_id, r.docprefix, r.tenant, r.mode,
    q.expires_at, o.body as document, clock_timestamp() as now
from cutter_governance.approval_request q
join cutter_governance.run r on r.run_id = q.run_id
join cutter_governance.outbox o on o.kb_id = q.kb_id
where q.status = 'requested' and r.mode = 'live' and r.ended_at is null and q.expires_at > clock_timestamp()
    and r.state = case q.gate when 'SG_cut_authz' then 'awaiting_cut_authorization' else 'awaiting_lifecycle_authorization' end
    and not exists (select from cutter_governance.slack_outbox s where s.subject = q.request_id::text)
order by q.requested_at
limit %(most)s

-- name: slack_stops_to_ask
-- Returns the stops by the policy that no Slack message asks about yet.
select p.stop ->> 'stop' as subject, p.stop ->> 'gate' as place, r.run_id, r.document_id, r.docprefix, r.tenant, r.mode,
    r.state, r.last_error ->> 'reason' as reason, p.stop ->> 'tier' as tier, (p.stop -> 'needed')::integer as needed,
    (p.stop -> 'unsigned')::boolean as unsigned,
    (cutter_governance.fn_run_pins(r.run_id) -> 'candidate_count')::integer as units
from cutter_governance.run r
cross join lateral (select cutter_governance.fn_policy_stop(r.run_id) as stop) as p
where r.state like 'stopped\_policy\_%%' and r.ended_at is null and r.docprefix is not null and p.stop is not null
    and not exists (select from cutter_governance.slack_outbox s where s.subject = p.stop ->> 'stop')
order by r.state_at
limit %(most)s

-- name: slack_to_answer
-- Returns the Slack messages whose request or stop has ended, with its outcome and people.
select s.subject, s.run_id, s.place, s.channel, s.body, over.outcome, coalesce(over.people, '{}') as people
from cutter_governance.slack_outbox s
cross join lateral (
    select case when q.status = 'requested' then 'canceled' else q.status end as outcome, coalesce(
        (select array_agg(n.approver order by n.slot) from cutter_governance.approval_consumption n
         where q.status = 'approved' and n.run_id = q.run_id and n.gate = q.gate),
        (select array_agg(n.approver) from cutter_governance.order_consumption n
         where q.status = 'rejected' and n.run_id = q.run_id and n.decision = 'reject')) as people
    from cutter_governance.approval_request q
    join cutter_governance.run r on r.run_id = q.run_id
    where q.request_id::text = s.subject and (q.status <> 'requested' or r.ended_at is not null)
    union all
    select case when bool_or(d.decision = 'reject') then 'rejected' when count(*) > 0 then 'approved' else 'canceled' end,
        array_agg(d.approver order by d.at) filter (where d.approver is not null)
    from (
        select u.decision, u.approver, u.recorded_at as at from cutter_governance.unsigned_decision u
        where u.stop = s.subject
        union all
        select 'approve', o.approver, o.consumed_at from cutter_governance.order_consumption o
        where o.run_id = s.run_id and o.decision = 'resume' and o.consumed_at >= s.created_at) as d
    where s.subject like 'stop:%%'
    having s.subject like 'stop:%%'
        and cutter_governance.fn_policy_stop(s.run_id) ->> 'stop' is distinct from s.subject) as over
where s.kind = 'asked'
    and not exists (select from cutter_governance.slack_outbox a where a.subject = s.subject and a.kind = 'answered')
order by s.id
limit %(most)s

-- name: slack_waiting
-- Returns the Slack messages that are still to be posted.
select run_id, subject, kind, attempts, last_error from cutter_governance.slack_outbox
where done_at is null order by id

-- name: slack_card
-- Returns the subject of a posted Slack message, with its run.
select s.subject, s.place, r.run_id, r.document_id, r.starter, r.state, r.first_execution_id
from cutter_governance.slack_outbox s
join cutter_governance.run r on r.run_id = s.run_id
where s.kind = 'asked' and s.subject = %(subject)s and s.channel = %(channel)s and s.message_ts = %(message_ts)s
