-- A review decision says what the sovereign decided, and nothing before that (seed 000 §3 SG_2).

-- PENDING: a request is open. PASS, REJECT, VOID: the sovereign decided. EXPIRED: the request ended and nobody decided.
alter table cutter_governance.review_decision
    alter column verdict set default 'PENDING',
    add column decided_by text[] not null default '{}',
    add column decided_at timestamptz,
    add column approval_sha256 text[] not null default '{}';

-- The decision with its verdict as the request and the consumed statements give it. A cut decision is recorded by leg B,
-- after leg A has consumed the approvals of the cut; a lifecycle decision has its own request.
create function cutter_governance.fn_review_decision_decided(p_decision cutter_governance.review_decision)
returns cutter_governance.review_decision
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select (jsonb_populate_record(p_decision, coalesce((
        select jsonb_build_object(
            'verdict', case q.status when 'approved' then 'PASS' when 'rejected' then 'REJECT' when 'canceled' then 'VOID'
                when 'expired' then 'EXPIRED' else 'PENDING' end,
            'decided_by', coalesce(jsonb_agg(s.approver order by s.sha256) filter (where s.sha256 is not null), '[]'),
            'approval_sha256', coalesce(jsonb_agg(s.sha256 order by s.sha256) filter (where s.sha256 is not null), '[]'),
            'decided_at', max(s.at))
        from cutter_governance.approval_request q
        left join lateral (
            select c.approver, c.approval_sha256 as sha256, c.consumed_at as at
            from cutter_governance.approval_consumption c where q.status = 'approved' and c.request_id = q.request_id
            union all
            select o.approver, o.statement_sha256, o.consumed_at from cutter_governance.order_consumption o
            where o.run_id = q.run_id and o.decision = case q.status when 'rejected' then 'reject' when 'canceled' then 'void' end
        ) as s on true
        where q.run_id = p_decision.run_id and case p_decision.type
            when 'cut' then q.gate = 'SG_cut_authz' and q.status = 'approved'
            else q.review_decision_id = p_decision.review_decision_id end
        group by q.request_id, q.status, q.n order by q.n desc limit 1), '{}'))).*
$$;

-- Rows of before say PASS from the moment of their request.
drop trigger trg_review_decision_append_only on cutter_governance.review_decision;
update cutter_governance.review_decision d
set (verdict, decided_by, decided_at, approval_sha256) = (
    select o.verdict, o.decided_by, o.decided_at, o.approval_sha256
    from cutter_governance.fn_review_decision_decided(d) as o)
where exists (select from cutter_governance.approval_request q where q.run_id = d.run_id and case d.type
    when 'cut' then q.gate = 'SG_cut_authz' and q.status = 'approved'
    else q.review_decision_id = d.review_decision_id end);

alter table cutter_governance.review_decision
    add constraint review_decision_verdict check (verdict in ('PENDING', 'PASS', 'REJECT', 'VOID', 'EXPIRED')),
    add constraint review_decision_is_signed check (
        (verdict in ('PASS', 'REJECT', 'VOID')) = (decided_at is not null)
        and (decided_at is not null) = (cardinality(decided_by) > 0)
        and cardinality(decided_by) = cardinality(approval_sha256));

-- Nobody chooses a verdict: a new lifecycle decision is pending, and a cut decision has that of the approved request.
create function cutter_governance.fn_review_decision_begins() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    new.verdict := 'PENDING';
    new.decided_by := '{}';
    new.decided_at := null;
    new.approval_sha256 := '{}';
    return case new.type when 'cut' then cutter_governance.fn_review_decision_decided(new) else new end;
end
$$;
create trigger trg_review_decision_begins before insert on cutter_governance.review_decision
    for each row execute function cutter_governance.fn_review_decision_begins();

-- The one change of a row: from PENDING to what was decided, which is read from the request and never from the statement.
create function cutter_governance.fn_review_decision_once() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    decided cutter_governance.review_decision;
    v_outcome constant text[] := array['verdict', 'decided_by', 'decided_at', 'approval_sha256'];
begin
    if tg_op = 'UPDATE' then
        decided := cutter_governance.fn_review_decision_decided(old);
        if old.verdict = 'PENDING' and decided.verdict <> 'PENDING'
            and to_jsonb(new) - v_outcome = to_jsonb(old) - v_outcome
        then
            return decided;
        end if;
    end if;
    raise exception 'review_decision is append-only but for its one decision: % refused', tg_op using errcode = 'CU005';
end
$$;
create trigger trg_review_decision_once before update or delete on cutter_governance.review_decision
    for each row execute function cutter_governance.fn_review_decision_once();
alter table cutter_governance.review_decision enable always trigger trg_review_decision_once;

-- What a survey says of the review decisions of a run.
create function cutter_governance.fn_review_decision_pin(p_run_id text) returns jsonb
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select jsonb_build_object('count', count(*), 'fingerprint', cutter_governance.fn_digest(
        coalesce(string_agg(to_jsonb(d)::text, E'\n' order by d.review_decision_id), '')))
    from cutter_governance.review_decision d where d.run_id = p_run_id
$$;

-- A request that ends decides its review decision in the same transaction. The pins that the next survey is compared with
-- follow that one change; when another change came before it, they stay, and the survey finds drift.
create function cutter_governance.fn_request_decides() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_expected jsonb := cutter_governance.fn_expected_pins(new.run_id);
    v_as_pinned boolean := cutter_governance.fn_review_decision_pin(new.run_id) @> (v_expected -> 'review_decision');
begin
    update cutter_governance.review_decision set verdict = verdict
    where review_decision_id = new.review_decision_id and verdict = 'PENDING';
    if v_as_pinned then
        update cutter_governance.approval_request
        set pin_seq = nextval('cutter_governance.pin_seq'), after_pins = v_expected || jsonb_build_object(
            'review_decision', cutter_governance.fn_review_decision_pin(new.run_id))
        where request_id = new.request_id;
    end if;
    return null;
end
$$;
create trigger trg_approval_request_decides after update of status on cutter_governance.approval_request
    for each row when (old.status = 'requested' and new.status <> 'requested' and new.review_decision_id is not null)
    execute function cutter_governance.fn_request_decides();

-- A run that people ended says so in its last error: who, why, and by which statement (seed 000 §3 SG_3, §5).
create function cutter_governance.fn_run_ended_by_people() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_decision text := case when new.state = 'failed_rejected' then 'reject' else 'void' end;
begin
    select jsonb_build_object('gate', v.gate, 'outcome', new.state, 'reason', left(coalesce(v.statement ->> 'reason',
            'rejected by ' || o.approver), 500), 'report', null, 'at', cutter_governance.fn_utc(o.consumed_at), 'decision', o.decision,
            'approver', o.approver, 'fingerprint', o.fingerprint, 'kb_id', v.kb_id, 'approval_sha256', o.statement_sha256,
            'before', old.last_error)
    into new.last_error
    from cutter_governance.order_consumption o
    join cutter_governance.approval_verdict v on v.run_id = o.run_id and v.accepted
        and v.approval_sha256 = o.statement_sha256
    where o.run_id = new.run_id and o.decision = v_decision
    order by o.consumed_at desc, v.id limit 1;
    if not found then
        new.last_error := old.last_error;
    end if;
    return new;
end
$$;
create trigger trg_run_ended_by_people before update of state on cutter_governance.run
    for each row when (old.state is distinct from new.state
        and (new.state = 'failed_rejected' or (new.state like 'voided\_%' and new.state <> 'voided_cancelled')))
    execute function cutter_governance.fn_run_ended_by_people();
