-- Returns everything on record about a run, from one snapshot (seed 003 §8), without a body, title, address or profile
-- text. Once the closeout is open, it is what existed when that gate opened, up to the audit head that it sealed.
create or replace function cutter_governance.fn_run_evidence(p_run_id text) returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
begin
    return (
        with cut as (
            select g.run_id is not null as closing, g.attempt, g.sealed_at is not null as closed,
                coalesce(g.opened_at, 'infinity') as at,
                coalesce((select e.seq from cutter_governance.audit_event e
                          where e.chain = r.run_id and e.hash = g.result -> 'pins' ->> 'audit_head'), 9223372036854775807) as seq,
                g.result
            from cutter_governance.run r
            left join cutter_governance.gate_receipt g on g.run_id = r.run_id and g.gate = 'IG_closeout'
            where r.run_id = p_run_id)
        select jsonb_build_object(
            'as_of', case when cut.closing then cutter_governance.fn_utc(cut.at) end,
            'closed', case when cut.closed then cut.result -> 'pins' end,
            'history', cut.result -> 'history',
            'run', to_jsonb(r) || case when cut.closing
                then jsonb_build_object('state', 'lifecycle_enacted', 'state_at', null, 'ended_at', null, 'outcome', null)
                else '{}' end,
            'source', (
                select to_jsonb(v) - 'profile_body'
                    || jsonb_build_object('provenance', v.provenance - 'title', 'document', to_jsonb(d) - 'display_vi' - 'display_en')
                from public.source_version v join public.source_document d on d.source_document_ref = v.source_document_ref
                where v.id = r.source_version_id),
            'receipts', (
                select coalesce(jsonb_agg(jsonb_build_object('gate', g.gate, 'opened_at', g.opened_at, 'sealed_at', g.sealed_at,
                    'prev_hash', g.prev_hash, 'receipt_hash', g.receipt_hash, 'sealed_body', g.sealed_body) order by k.ordinal), '[]')
                from cutter_governance.gate_receipt g join cutter_governance.gate_catalogue k on k.gate = g.gate
                where g.run_id = p_run_id and g.sealed_at is not null and g.gate <> 'IG_closeout'),
            'attempts', (
                select coalesce(jsonb_agg(to_jsonb(a) order by a.started_at, a.gate, a.n), '[]')
                from cutter_governance.gate_attempt a
                where a.run_id = p_run_id and a.started_at <= cut.at
                    and not (cut.closing and a.gate = 'IG_closeout' and a.n = cut.attempt)))
            || cutter_governance.fn_evidence_approvals(p_run_id, cut.at)
            || cutter_governance.fn_evidence_effects(p_run_id, cut.at, cut.seq)
        from cut cross join cutter_governance.run r
        where r.run_id = p_run_id);
end
$$;
