-- Puts a document about a stopped run into the outbox.
create or replace function cutter_governance.fn_stop_route_record(p_run_id text, p_kb_id text, p_body text) returns void
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
    insert into cutter_governance.outbox (run_id, kind, subject, kb_id, body)
    values (p_run_id, 'stop_route', 'SG_failure_escalation', p_kb_id, p_body) on conflict (kb_id) do nothing
$$;
