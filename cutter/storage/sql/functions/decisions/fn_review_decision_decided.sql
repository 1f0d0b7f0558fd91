-- Returns the decision with the verdict that its request and the consumed statements give it; a cut decision has the
-- request of the cut. A request that ends with its run, without a signed void, leaves its decision expired.
create or replace function cutter_governance.fn_review_decision_decided(p_decision cutter_governance.review_decision)
returns cutter_governance.review_decision
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    -- in FROM, because `(f()).*` calls the function once for each column
    select decided.* from jsonb_populate_record(p_decision, coalesce((
        select jsonb_build_object(
            'verdict', case when q.status = 'canceled' and count(s.sha256) = 0 then 'EXPIRED' else case q.status
                when 'approved' then 'PASS' when 'rejected' then 'REJECT' when 'canceled' then 'VOID'
                when 'expired' then 'EXPIRED' else 'PENDING' end end,
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
        group by q.request_id, q.status, q.n order by q.n desc limit 1), '{}')) as decided
$$;
