-- Appends one event to the end of an audit chain. Lock order: a run's chain, then the global one.
create or replace function cutter_governance.fn_audit_append(p_chain text, p_run_id text, p_kind text, p_event jsonb) returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    head cutter_governance.audit_head;
    v_at timestamptz := clock_timestamp();
    v_body text;
    v_hash text;
begin
    insert into cutter_governance.audit_head (chain, seq, hash)
    values (p_chain, 0, cutter_governance.fn_digest(p_chain)) on conflict do nothing;
    select * into head from cutter_governance.audit_head where chain = p_chain for update;
    v_body := (p_event || jsonb_build_object('run_id', p_run_id, 'kind', p_kind, 'seq', head.seq + 1,
        'at', cutter_governance.fn_utc(v_at)))::text;
    v_hash := cutter_governance.fn_digest(head.hash || v_body);
    insert into cutter_governance.audit_event (chain, seq, run_id, kind, body, prev_hash, hash, at)
    values (p_chain, head.seq + 1, p_run_id, p_kind, v_body, head.hash, v_hash, v_at);
    update cutter_governance.audit_head set seq = head.seq + 1, hash = v_hash where chain = p_chain;
    return v_hash;
end
$$;
