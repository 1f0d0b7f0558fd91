-- Returns whether a run waits for what an accepted statement decides.
create or replace function cutter_governance.fn_run_waits_for(
    p_run cutter_governance.run, p_gate text, p_statement jsonb) returns boolean
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select coalesce(case p_statement ->> 'decision'
        when 'revoke' then true
        when 'void' then true
        when 'resume' then p_run.state = p_statement ->> 'stopped_state' and p_run.state not like 'stopped\_drift\_%'
        when 'acknowledge_drift' then p_run.state like 'stopped\_drift\_%'
        when 'include_failed' then p_run.state like 'failed\_%'
        else p_run.state not like 'stopped\_%' and exists (
            select from cutter_governance.approval_request q
            where q.run_id = p_run.run_id and q.gate = p_gate and q.status = 'requested' and q.request_sha256 is not null
                and q.tuple ->> 'writer_digest' = p_statement ->> 'writer_digest'
                and (p_statement ->> 'binding' = 'tuple' or q.challenge = p_statement ->> 'challenge')) end, false)
$$;
